"""What the choice of a schedule is worth, from what searches measured.

    python benchmarks/schedule_gain.py RUN [...] [--out DIR]

RUN: the directory of a search that timed launches with roles; the store (``timings.db``) beside it
says when. For each case, graph, and choice of tiles, consumers and slots that was measured with
roles: the time with everything in turn (``threads/default.in_turn``, the first legal schedule),
the best of all schedules, and the best of the case with roles. All else that a launch may vary
(turns of the consumers, parts of the walk, groups, several tiles a program) is left to either
side. Where nothing was measured in turn the row says so, and counts for nothing.

Prints a table with the geometric means, and writes ``schedule_gain_DATE.json``.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from superopt.threads.build import of_config
from superopt.threads.default import in_turn
from superopt.threads.written import written
from superopt.tune.store import Store
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.parse import parse_as
from superopt.ugraph.split import launches
from superopt.ugraph.stored import config_from

RESULTS = Path(__file__).resolve().parent / "results"
STORE = "timings.db"

Launches = tuple[Config, ...]


@dataclass(frozen=True)
class Row:
    """One choice of tiles, consumers and slots. Microseconds: in turn (None if not measured), with
    the best schedule, and the best of the case with roles. ``schedules``: how many were measured.
    """

    workload: str
    graph: str
    launch: str
    schedules: int
    in_turn: float | None
    best: float
    of_case: float

    @property
    def gain(self) -> float | None:
        """The time in turn over the best one of the same choice."""
        return self.in_turn and self.in_turn / self.best

    @property
    def gain_of_all(self) -> float | None:
        """The time in turn over the best one of the case."""
        return self.in_turn and self.in_turn / self.of_case


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", nargs="+", type=Path, help="directories of searches that timed")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    records = [json.loads((run / "run.json").read_text()) for run in options.run]
    rows = [row for record in records for row in rows_of(record)]
    print(table(rows))
    if not rows:
        return 1
    when = max(filter(None, map(measured_on, options.run)), default="")
    file = options.out / f"schedule_gain_{when or 'undated'}.json"
    options.out.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(result(records, rows, when), indent=1) + "\n")
    print(f"written to {file}")
    return 0


def rows_of(record: dict[str, Any]) -> Iterator[Row]:
    """The rows of one run.json."""
    for case in record["cases"]:
        graphs = {c["digest"]: c["graph"] for c in case["candidates"]}
        times: dict[tuple[str, Launches], float] = {}  # the last word on each
        for one in record["timing"]["measured"]:
            if one["case"] == case["name"] and one["us"] is not None:
                configs = tuple(map(config_from, one["configs"]))
                times[one["digest"], configs] = one["us"]
        times = {k: us for k, us in times.items() if any(c.consumers for c in k[1])}
        chosen: dict[tuple[str, Launches], list[Launches]] = {}
        for digest, configs in times:
            chosen.setdefault((digest, tuple(map(_choice, configs))), []).append(configs)
        for (digest, choice), group in chosen.items():
            turned = [times[digest, c] for c in group if _in_turn(graphs[digest], c, case["dtype"])]
            yield Row(
                f"{record['name']} {case['name']}",
                digest[:6],
                _said(choice),
                len({tuple(c.schedule for c in configs) for configs in group}),
                min(turned, default=None),
                min(times[digest, c] for c in group),
                min(times.values()),
            )


def _choice(config: Config) -> Config:
    """Tiles, consumers and slots; of a launch without roles, tiles."""
    slots = config.stages if config.consumers else 1
    return Config(config.tiles, config.parts, stages=slots, consumers=config.consumers)


def _in_turn(graph: str, configs: Launches, dtype: str) -> bool:
    """Whether every launch with roles has everything in turn."""
    return all(
        c.schedule == _turn(graph, number, _choice(c), dtype)
        for number, c in enumerate(configs)
        if c.consumers
    )


@cache
def _turn(graph: str, number: int, choice: Config, dtype: str) -> str:
    """The word of the schedule in turn; empty if it is the one that needs no word."""
    block = launches(parse_as(KernelGraph, graph))[number]
    found = of_config(block, choice, dtype)
    (body,) = found.bodies
    plain = in_turn(body.axis, body.instrs, found.pipes)
    word = written(replace(body, schedule=plain), found.pipes)
    return "" if word == written(body, found.pipes) else word


def _said(choice: Launches) -> str:
    return " | ".join(
        " ".join(f"{a}{n}" for a, n in c.tiles)
        + (f" consumers {c.consumers} slots {c.stages}" if c.consumers else "")
        for c in choice
    )


def measured_on(run: Path) -> str:
    """The day of the last record in the store beside a run, or nothing."""
    file = run.absolute().parent / STORE
    if not file.is_file():
        return ""
    with Store(file) as store:
        return max((record.when for record in store.all()), default="")[:10]


def mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def result(records: Sequence[dict[str, Any]], rows: Sequence[Row], when: str) -> dict[str, Any]:
    """What is written."""
    machines = [{**r["timing"]["machine"], "search": r["versions"]} for r in records]
    each = [{**asdict(r), "gain": r.gain, "gain_of_all": r.gain_of_all} for r in rows]
    return {
        "date": when,
        "machines": [m for n, m in enumerate(machines) if m not in machines[:n]],
        "runs": [r["name"] for r in records],
        "means": _means(rows),
        "rows": each,
    }


def _means(rows: Sequence[Row]) -> dict[str, float]:
    """Geometric means: over the choices that were measured in turn, and over the best in turn of
    each workload, with which a search that knew no other schedule would have ended."""
    known = [r for r in rows if r.in_turn is not None]
    first: dict[str, Row] = {}
    for row in sorted(known, key=lambda r: r.in_turn or math.inf):
        first.setdefault(row.workload, row)
    found = {"same choice": [r.gain for r in known]}
    found["best in turn of a workload"] = [r.gain_of_all for r in first.values()]
    return {name: mean([v for v in values if v]) for name, values in found.items() if values}


def table(rows: Sequence[Row]) -> str:
    """A line a row, and the means."""
    if not rows:
        return "no launch with roles was measured"
    head = f"{'workload':20}{'graph':8}{'schedules':>9}{'in turn':>10}{'best':>9}{'of case':>9}"
    lines = [f"{head}{'gain':>7}{'of all':>8}  launch"]
    for r in rows:
        turned = "not timed" if r.in_turn is None else f"{r.in_turn:.1f}"
        gains = "".join(
            f"{'' if g is None else f'{g:.3f}':>{w}}" for g, w in ((r.gain, 7), (r.gain_of_all, 8))
        )
        times = f"{turned:>10}{r.best:9.1f}{r.of_case:9.1f}"
        lines.append(f"{r.workload:20}{r.graph:8}{r.schedules:9}{times}{gains}  {r.launch}")
    known = sum(r.in_turn is not None for r in rows)
    means = ", ".join(f"{name} {value:.3f}" for name, value in _means(rows).items())
    lines.append(f"{known} of {len(rows)} choices were measured in turn; geometric means: {means}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
