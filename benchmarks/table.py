"""Many kernels against their peers in one go: the first table of a GPU.

    python benchmarks/table.py JOBS.json --out DIR [--only NAME ...] [--minutes 9] [--rounds 12]

JOBS.json is a list of workloads (paths from the root of the repository):

    {"name": "softmax 8192", "kernel": "runs/softmax/softmax.py",
     "spec": "specs/softmax.py:softmax", "case": "square", "mode": "graph",
     "peers": "benchmarks/peers/rows.py", "against": ["compile", "copy", "liger?"],
     "required": {"compile": 1.0, "copy": 0.9}}

``required``: the time of a peer over ours must be at least this. A peer that ends with ``?`` is
left out where it is not installed. Each workload is a ``superopt bench`` with a limit of its own;
where no time is left, the others are named without figures. After each one everything so far is
written to ``DIR/table.json``; a small table is printed last. Exit code 1 unless all pass.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
import time
from contextlib import redirect_stderr
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

OURS = "superopt"
LEAST_SECONDS = 15.0  # below this no workload is started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", type=Path)
    parser.add_argument("--out", type=Path, default=None, help="default: $OUT, else results")
    parser.add_argument("--only", nargs="*", default=None, help="names of workloads")
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one workload")
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    jobs = json.loads(options.jobs.read_text())
    if options.only is not None:
        if unknown := set(options.only) - {j["name"] for j in jobs}:
            parser.error(f"no workload is called {sorted(unknown)[0]!r}")
        jobs = [j for j in jobs if j["name"] in options.only]
    folder = options.out or Path(os.environ.get("OUT", ROOT / "benchmarks" / "results"))
    folder.mkdir(parents=True, exist_ok=True)
    from superopt.tune.bench_apart import Processes

    with Processes(ahead=True) as processes:
        entries = all_of(jobs, options, folder, processes)
    print()
    print("\n".join(table(entries)))
    print(f"\ndetails in {folder / 'table.json'}")
    return 0 if all(verdict(e) in ("pass", "") for e in entries) else 1


def all_of(
    jobs: list[dict[str, Any]], options: argparse.Namespace, folder: Path, processes: Any
) -> list[dict[str, Any]]:
    """Every workload, as far as the minutes reach."""
    end = time.monotonic() + 60 * options.minutes
    entries: list[dict[str, Any]] = []
    for job in jobs:
        left = end - time.monotonic()
        if left < LEAST_SECONDS:
            entries.append({**job, "problem": "no time left", "bench": None})
        else:
            limit = min(options.limit, left)
            entries.append(bench(job, limit, options.rounds, processes))
        # Written after every workload, so that an interruption loses nothing that was finished.
        record = {"tool": "superopt table", "workloads": entries}
        (folder / "table.json").write_text(json.dumps(record, indent=1) + "\n")
        print(line(entries[-1]), flush=True)
    return entries


def bench(job: dict[str, Any], seconds: float, rounds: int, processes: Any) -> dict[str, Any]:
    """One workload by ``superopt bench``; what is timed runs in a process of its own."""
    from superopt.commands.bench import run_bench
    from superopt.errors import UserError

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "bench.json"
        said = io.StringIO()
        try:
            with redirect_stdout(said), redirect_stderr(said):
                run_bench(
                    kernel=ROOT / job["kernel"],
                    against=",".join(available(job)),
                    peers=ROOT / job["peers"] if job.get("peers") else None,
                    spec=str(ROOT / job["spec"]),
                    cases=(job["case"],),
                    mode=job.get("mode", "graph"),
                    rounds=rounds,
                    seconds=seconds,
                    out=out,
                    processes=processes,
                )
        except UserError as error:
            return {**job, "problem": str(error), "bench": None}
        if not out.exists():
            return {**job, "problem": said.getvalue().strip(), "bench": None}
        found = json.loads(out.read_text())
    return {**job, "problem": problem(found), "bench": found}


def available(job: dict[str, Any]) -> list[str]:
    """The peers of a workload without those that are optional and not there."""
    from superopt.tune.peers import GENERIC
    from superopt.tune.peers import load_peers

    names = job.get("against", [])
    if not any(n.endswith("?") for n in names):
        return names
    function = job["spec"].rpartition(":")[2]
    declared = load_peers(ROOT / job["peers"], function) if job.get("peers") else {}
    known = [*GENERIC, *declared]
    return [n.removesuffix("?") for n in names if not n.endswith("?") or n[:-1] in known]


def problem(found: dict[str, Any]) -> str:
    """Why there is no time of the kernel, or nothing."""
    if not found["cases"]:
        return "no case was timed"
    (case,) = found["cases"]
    return case["problem"] or case["check"]["problem"]


def rows_of(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The timed rows of a workload, in its first mode."""
    if not entry["bench"] or not entry["bench"]["cases"]:
        return []
    rows = entry["bench"]["cases"][0]["rows"]
    return [r for r in rows if r["mode"] == rows[0]["mode"] and "us" in r]


def ratios(entry: dict[str, Any]) -> dict[str, float]:
    """The time of each peer over ours."""
    return {r["name"]: r["ratio"] for r in rows_of(entry) if r["name"] != OURS and "ratio" in r}


def required_of(entry: dict[str, Any]) -> dict[str, float]:
    """The least ratios, without those to optional peers that are not there."""
    found = ratios(entry)
    optional = {n[:-1] for n in entry.get("against", []) if n.endswith("?")}
    wanted = entry.get("required", {})
    return {n: least for n, least in wanted.items() if n in found or n not in optional}


def verdict(entry: dict[str, Any]) -> str:
    """``pass``, ``MISS`` (or nothing where nothing is required). A peer that has no time does not
    excuse us: then it is ``no peer``, and neither."""
    required = required_of(entry)
    if not required:
        return ""
    if not any(r["name"] == OURS for r in rows_of(entry)):
        return "MISS"
    found = ratios(entry)
    if any(found[n] < least for n, least in required.items() if n in found):
        return "MISS"
    return "pass" if all(n in found for n in required) else "no peer"


def table(entries: list[dict[str, Any]]) -> list[str]:
    """One line for each workload: our time, the best peer, required ratios."""
    head = f"{'workload':<30}{'us':>9} {'of roof':>7}  {'best peer':<18}{'ratio':>6}"
    lines = [f"{head}  required (found)"]
    for entry in entries:
        lines.append(line(entry))
    return lines


def line(entry: dict[str, Any]) -> str:
    """One workload."""
    ours = next((r for r in rows_of(entry) if r["name"] == OURS), None)
    if ours is None:
        return f"{entry['name']:<30}{verdict(entry)}: {entry['problem']}".rstrip()
    found = ratios(entry)
    checked = {r["name"] for r in rows_of(entry) if r["checked"]}
    marks = {r["name"]: ", WRONG" if r["wrong"] else "" for r in rows_of(entry)}
    peers = {n: r for n, r in found.items() if n in checked and not marks[n]}
    best = min(peers, key=lambda n: peers[n], default="")
    wanted = [
        f"{n} {least:g} ({found[n]:.3f}{marks[n]})" if n in found else f"{n} {least:g} (none)"
        for n, least in required_of(entry).items()
    ]
    rest = {n: r for n, r in found.items() if n not in required_of(entry)}
    others = [f"{n} ({r:.3f}{marks[n]})" for n, r in rest.items()]
    cells = f"{ours['us']:>9.1f} {ours['share']:>7.0%}  {best:<18}"
    cells += f"{peers[best]:>6.3f}" if best else f"{'':>6}"
    text = f"{entry['name']:<30}{cells}  {verdict(entry):<7} {', '.join(wanted)}"
    seconds = entry["bench"]["cases"][0].get("seconds", 0.0)
    return f"{text}  [{', '.join(others)}] {seconds:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
