"""What the store knows of a case, and what is added to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from collections.abc import Iterable
from dataclasses import dataclass

from superopt.tune.printed import Printed
from superopt.tune.record import Key
from superopt.tune.record import Machine
from superopt.tune.record import Outcome
from superopt.tune.record import Record
from superopt.tune.record import now
from superopt.tune.request import Launches
from superopt.tune.space import Job
from superopt.tune.store import Store
from superopt.ugraph.text import digest

STARTS = 3  # Configs of other sizes that a study begins with
MODE = "graph"


@dataclass(frozen=True)
class Past:
    """The records of ``store`` on ``machine``."""

    store: Store
    machine: Machine

    def of(
        self, job: Job, one: Printed, file: Callable[[Launches], Printed | None] | None = None
    ) -> tuple[dict[Launches, Outcome], list[Launches]]:
        """The latest outcome of each Config that was tried in this very case, and the fastest
        Configs of the same graph at other sizes, the nearest sizes first.

        ``file``: what a Config is launched from, where not all are launched from ``one``.
        """
        graph, dtype = one.structure.digest, job.case.storage
        known: dict[Launches, Outcome] = {}
        others: list[Record] = []
        for record in self.store.near(graph=graph, dtype=dtype, machine=self.machine):
            launches = record.key.configs
            printed = one if file is None else file(launches)
            if printed is not None and record.key == self.key(job, printed, launches):
                known[launches] = record.outcome
            elif dict(record.key.sizes) != dict(job.case.sizes):
                others.append(record)
        return known, _starts(others, dict(job.case.sizes))

    def keep(self, job: Job, one: Printed, launches: Launches, outcome: Outcome) -> None:
        """Adds what came of a Config; it is safe on disk when this returns."""
        self.store.add(Record(self.key(job, one, launches), outcome, now()))

    def key(self, job: Job, one: Printed, launches: Launches) -> Key:
        """All that the time of a Config depends on."""
        case = job.case
        return Key(
            program=digest(job.program),
            graph=one.structure.digest,
            text=one.text,
            configs=launches,
            dialect="triton",
            sizes=tuple(case.sizes.items()),
            strides="contiguous",
            dtype=case.storage,
            tf32=case.tf32,
            scalars=tuple((n, float(v)) for n, v in case.scalars.items()),
            tolerance="contract",
            mode=MODE,
            machine=self.machine,
            integers=tuple((n, str(rule)) for n, rule in case.integers.items()),
        )


def _starts(records: Iterable[Record], sizes: dict[str, int]) -> list[Launches]:
    """The fastest Config of each of the nearest sizes."""
    best: dict[tuple[tuple[str, int], ...], Record] = {}
    for record in records:
        figures = record.outcome.figures
        if figures is None:
            continue
        before = best.get(record.key.sizes)
        known = before.outcome.figures if before else None
        if known is None or figures.us < known.us:
            best[record.key.sizes] = record
    order = sorted(best, key=lambda there: (_far(dict(there), sizes), there))
    return list(dict.fromkeys(best[there].key.configs for there in order[:STARTS]))


def _far(there: dict[str, int], here: dict[str, int]) -> float:
    """How many doublings lie between two choices of sizes."""
    return sum(abs(math.log2(max(n, 1) / max(there.get(a, 1), 1))) for a, n in here.items())
