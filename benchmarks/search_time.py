"""How long a search takes until it has something to show, and how much memory it needs.

    python benchmarks/search_time.py [SPEC[:FUNCTION] CASE ...] [--repeat N] [--out DIR]

Default: the first case of attention. Every search is a fresh process with an empty compile cache,
as for someone who starts it by hand. Measured:

* ``first``: wall seconds from the start of the process to the first verified kernel;
* ``winner``: wall seconds to its end, with the ranked winner in a kernel file that was checked;
* ``memory``: the largest sum over the process and all its descendants, sampled ten times a second,
  with pages that several of them share counted once (PSS; RSS where the kernel does not tell);
* ``largest``: the most that one single process needed (``ru_maxrss``).

Prints a table and writes ``DIR/search_time_DATE.json`` (DIR: ``benchmarks/results``). Exit code 1
if a search found nothing, or if attention misses its limits (``LIMITS``). Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from datetime import UTC
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = ("specs/attention.py:attention", "prefill")
LIMITS = {"first": 10.0, "winner": 45.0, "memory": 2000.0}  # seconds, seconds, MB; on 2 cores
PACKAGES = ("superopt", "torch", "triton", "sympy", "z3-solver", "numpy")
EVERY = 0.1  # seconds between two looks at memory
MB = 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", metavar="SPEC CASE", help="pairs")
    parser.add_argument("--repeat", type=int, default=1, help="searches of each pair")
    parser.add_argument("--budget", default="400", help="as of superopt search")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    options = parser.parse_args()
    if len(options.what) % 2:
        parser.error("a spec and a case each, such as specs/softmax.py:softmax square")
    pairs = list(zip(options.what[::2], options.what[1::2], strict=True)) or [DEFAULT]
    rows = []
    for spec, case in pairs:
        for _ in range(options.repeat):
            rows.append(measured(spec, case, options.budget))
            # Written after every search, so that an interruption loses nothing that was finished.
            record = {"machine": machine(), "limits": LIMITS, "searches": rows}
            file = write(record, options.out)
    print(table(rows))
    print(f"written to {file}")
    return 0 if all(r["verified"] and not r["over"] for r in rows) else 1


def measured(spec: str, case: str, budget: str) -> dict[str, Any]:
    """One search in a process of its own."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = entry()
        command += ["search", spec, "--case", case, "--budget", budget]
        command += ["--out", str(out), "--quiet"]
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "TRITON_CACHE_DIR": str(Path(folder) / "cache")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        memory = 0.0
        while process.poll() is None:
            memory = max(memory, tree_mb(process.pid))
            time.sleep(EVERY)
        wall = time.monotonic() - start
        problem = process.stderr.read().strip() if process.stderr else ""
        timing, verified = read(out / "run.json", case)
    row = {
        "spec": spec,
        "case": case,
        "verified": verified and process.returncode == 0,
        "problem": problem,
        "first": first_verified(wall, timing, case),
        "winner": round(wall, 2),
        "memory": round(memory),
        "largest": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / MB),
        "load": round(load, 2),
        "timing": timing,
    }
    return {**row, "over": over(row)}


def entry() -> list[str]:
    """The command line, started by this interpreter."""
    return [sys.executable, "-c", "from superopt.cli import main; main()"]


def read(file: Path, case: str) -> tuple[dict[str, Any], bool]:
    """What run.json says under ``timing``, and whether ``case`` has a verified winner."""
    if not file.is_file():
        return {}, False
    run = json.loads(file.read_text())
    (found,) = (c for c in run["cases"] if c["name"] == case)
    return run["timing"], bool(run["verified"] and found["winner"])


def first_verified(wall: float, timing: dict[str, Any], case: str) -> float | None:
    """Seconds from the start of the process to the first verified kernel, or None.

    run.json counts from the start of the case, and no stage runs between the end of the (only)
    case and the end of the process but the assembly of the file; both are counted back from the
    end. The end of the process itself is so counted as if it came before.
    """
    of_case = timing.get("cases", {}).get(case, {})
    if "first verified" not in of_case:
        return None
    before = wall - of_case["total"] - timing["seconds"].get("assemble", 0.0)
    return round(before + of_case["first verified"], 2)


def over(row: dict[str, Any]) -> list[str]:
    """The limits that a search misses; they are meant for attention."""
    if row["spec"].split(":")[0] != DEFAULT[0].split(":")[0]:
        return []
    return [k for k, most in LIMITS.items() if row[k] is None or row[k] > most]


def tree_mb(root: int) -> float:
    """Memory of a process and its descendants in MB, shared pages counted once."""
    return sum(process_mb(pid) for pid in tree(root, parents()))


def parents() -> dict[int, int]:
    """The parent of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (text := text_of(entry / "stat")):
            # The name of the program stands in parentheses and may hold anything.
            found[int(entry.name)] = int(text.rpartition(")")[2].split()[1])
    return found


def tree(root: int, parent: dict[int, int]) -> Iterable[int]:
    """``root`` and its descendants."""
    yield root
    for pid in [p for p, up in parent.items() if up == root]:
        yield from tree(pid, parent)


def process_mb(pid: int) -> float:
    """The share of one process, in MB; 0 if it is gone."""
    for name, key in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        for line in text_of(Path("/proc", str(pid), name)).splitlines():
            if line.startswith(key):
                return int(line.split()[1]) * 1024 / MB
    return 0.0


def text_of(file: Path) -> str:
    """The contents of a file of /proc; nothing if its process ended, or is another user's."""
    try:
        return file.read_text()
    except OSError:
        return ""


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def table(rows: list[dict[str, Any]]) -> str:
    """One line a search."""
    lines = [f"{'spec':<34}{'case':<12}{'first s':>8}{'winner s':>9}{'memory MB':>10}{'load':>6}"]
    for r in rows:
        first = "none" if r["first"] is None else f"{r['first']:.1f}"
        line = f"{r['spec']:<34}{r['case']:<12}{first:>8}{r['winner']:>9.1f}{r['memory']:>10}"
        line += f"{r['load']:>6.1f}"
        if not r["verified"]:
            line += f"  NOT VERIFIED {r['problem']}"
        elif r["over"]:
            line += f"  over the limit: {', '.join(r['over'])}"
        lines.append(line)
    return "\n".join(lines)


def write(record: dict[str, Any], folder: Path) -> Path:
    """Writes the record under today's date."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"search_time_{record['machine']['date']}.json"
    file.write_text(json.dumps(record, indent=1) + "\n")
    return file


if __name__ == "__main__":
    sys.exit(main())
