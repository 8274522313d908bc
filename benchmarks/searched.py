"""What ``attention.py`` and ``matmul.py`` share: search what is missing, then time all in turns.

A job is one of ``table.py``'s, with its kernel in a run's own directory. Peers run in the same
rounds as the kernel, and so does a matrix product of 8192 in each dimension (``matmul-8192``):
its rate says what the chip gives at that heat.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import table  # noqa: E402  # after the path is known

YARDSTICK = "matmul-8192"
YARDSTICK_FLOP = 2 * 8192**3


def main(description: str, jobs_file: Path, name: str, arguments: list[str] | None = None) -> int:
    """Runs the jobs of ``jobs_file`` and writes ``name.json``. Exit code 1 unless all pass."""
    options = parser(description).parse_args(arguments)
    jobs = chosen(json.loads(jobs_file.read_text()), options.only)
    folder = options.out or Path(os.environ.get("OUT", ROOT / "benchmarks" / "results"))
    folder.mkdir(parents=True, exist_ok=True)
    placed = [job | {"kernel": str(kernel_of(job, options.runs))} for job in jobs]
    for job in () if options.no_search else missing(placed):
        search(job, options)
    from superopt.tune.bench_apart import Processes

    with Processes(ahead=True) as processes:
        entries = table.all_of(placed, options, folder, processes)
    record = {
        "tool": f"superopt benchmarks/{name}.py",
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "workloads": entries,
        "summary": summary(entries),
    }
    (folder / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    print()
    print("\n".join([*table.table(entries), *record["summary"]]))
    return 0 if all(table.verdict(e) in ("pass", "") for e in entries) else 1


def parser(description: str) -> argparse.ArgumentParser:
    """The options of both programs."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--runs", type=Path, default=ROOT / "runs", help="directories of searches")
    found.add_argument("--no-search", action="store_true", help="only what was searched before")
    found.add_argument("--trials", type=int, default=150, help="Configs that a search compiles")
    found.add_argument("--only", nargs="*", default=None, help="names of workloads")
    found.add_argument("--out", type=Path, default=None, help="default: $OUT, else results")
    found.add_argument("--minutes", type=float, default=30.0, help="of timing, after searches")
    found.add_argument("--limit", type=float, default=180.0, help="seconds for one workload")
    found.add_argument("--rounds", type=int, default=24)
    return found


def chosen(jobs: list[dict[str, Any]], names: list[str] | None) -> list[dict[str, Any]]:
    """The jobs called ``names`` (None: all).

    Raises:
        SystemExit: no job has one of these names.
    """
    if names is None:
        return jobs
    if unknown := set(names) - {j["name"] for j in jobs}:
        raise SystemExit(f"no workload is called {sorted(unknown)[0]!r}")
    return [j for j in jobs if j["name"] in names]


def kernel_of(job: dict[str, Any], runs: Path) -> Path:
    """Where the search of a job puts its kernel."""
    function = job["spec"].rpartition(":")[2]
    return runs / function / f"{function}.py"


def missing(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One job for each kernel that no search has made yet."""
    found = {j["kernel"]: j for j in jobs if not Path(j["kernel"]).exists()}
    return list(found.values())


def search(job: dict[str, Any], options: argparse.Namespace) -> None:
    """Searches all cases of a job's spec; what fails shows as a missing kernel."""
    folder = Path(job["kernel"]).parent
    command = [sys.executable, "-m", "superopt", "search", str(ROOT / job["spec"])]
    command += ["--trials", str(options.trials), "--out", str(folder)]
    print(" ".join(command[2:]), flush=True)
    subprocess.run(command, cwd=ROOT, check=False)


def machine() -> dict[str, str]:
    """The GPU and the versions; where there is none, that."""
    import torch

    if not torch.cuda.is_available():
        return {"gpu": "none", "torch": torch.__version__}
    from superopt.tune.machine import here

    return asdict(here())


def summary(entries: list[dict[str, Any]]) -> list[str]:
    """The geometric mean over the best peer, and the share of the rate of ``matmul-8192``."""
    lines = []
    best = [min(r.values()) for e in entries if (r := compared(e))]
    if best:
        mean = math.exp(sum(map(math.log, best)) / len(best))
        lines.append(f"geometric mean over the best peer of {len(best)} workloads: {mean:.3f}")
    for entry in entries:
        ours = next((r for r in table.rows_of(entry) if r["name"] == table.OURS), None)
        ratio = table.ratios(entry).get(YARDSTICK)
        if ours is None or ratio is None or "flop" not in entry:
            continue
        share = entry["flop"] / YARDSTICK_FLOP * ratio
        lines.append(f"{entry['name']}: {share:.1%} of the rate of {YARDSTICK} in the same rounds")
    return lines


def compared(entry: dict[str, Any]) -> dict[str, float]:
    """The ratios to peers that compute the same, and rightly."""
    right = {r["name"] for r in table.rows_of(entry) if r["checked"] and not r["wrong"]}
    return {n: r for n, r in table.ratios(entry).items() if n in right}
