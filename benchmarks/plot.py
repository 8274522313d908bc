"""The speedups in a results file of ``superopt bench`` or ``table.py`` as one figure.

    python benchmarks/plot.py benchmarks/results/table_2026-11-29.json --out speedups.svg

Every contender of every case that was compared is one line; ``--mode`` narrows. The suffix of
``--out`` says the format (.svg, .png, .pdf).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from superopt.report.figure import save
from superopt.report.plots import Speedup
from superopt.report.plots import speedups

OURS = "superopt"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mode", choices=("graph", "eager"))
    given = parser.parse_args(arguments)
    try:
        results = json.loads(given.results.read_text())
        found, missing = rows(results, given.mode), without(results)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(
            f"{given.results}: no results to plot: {type(error).__name__}: {error}",
            file=sys.stderr,
        )
        return 2
    if not found:
        print(f"{given.results}: no contender has a ratio to ours", file=sys.stderr)
        return 1
    save(speedups(found), given.out)
    print(f"{given.out}: {len(found)} lines")
    for name in missing:
        print(f"not in it, for it has no ratio: {name}")
    return 0


def rows(results: Any, mode: str | None = None) -> list[Speedup]:
    """Every comparison of ``results``; of one mode, if it is given."""
    return [
        Speedup(
            workload,
            row["name"] + (" WRONG OUTPUT" if row.get("wrong") else ""),
            row["ratio"],
            row["ratio_low"],
            row["ratio_high"],
            row["mode"],
            aims.get(row["name"]),
            yardstick=not row.get("checked", True),
        )
        for workload, aims, contenders in workloads(results)
        for row in contenders
        if row["name"] != OURS and "ratio" in row and mode in (None, row["mode"])
    ]


def without(results: Any) -> list[str]:
    """The contenders that have no ratio, and the workloads that have none at all."""
    return [
        name
        for workload, _, contenders in workloads(results)
        for name in (
            [f"{workload}: {r['name']} ({r['mode']})" for r in contenders if "ratio" not in r]
            if contenders
            else [workload]
        )
    ]


def workloads(results: Any) -> Iterator[tuple[str, dict[str, float], list[dict[str, Any]]]]:
    """Of every workload its name, the ratios that were asked for, and all contenders.

    Raises:
        ValueError: the results are of another tool.
    """
    match results:
        case {"tool": "superopt bench", "function": str(function), "cases": list(cases)}:
            for case in cases:
                yield f"{function} {case['case']}", {}, case.get("rows") or []
        case {"tool": "superopt table", "workloads": list(entries)}:
            for entry in entries:
                cases = entry["bench"]["cases"] if entry["bench"] else []
                contenders = [row for case in cases for row in case.get("rows") or []]
                yield entry["name"], entry.get("required", {}), contenders
        case _:
            raise ValueError("neither of superopt bench nor of table.py")


if __name__ == "__main__":
    sys.exit(main())
