"""What a search leaves behind: candidates with their evidence, cases, the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from superopt.case import Case
from superopt.repair.record import Repair
from superopt.source import Facts
from superopt.tune.record import Figures
from superopt.tune.space import Point
from superopt.tune.timing import NOT_TIMED
from superopt.tune.timing import Timing
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.verify.run.checks import Figure
from superopt.verify.verdict import Verdict

CANDIDATES = "candidates"  # in the directory of a run: the printed files, one a candidate


class Stage(Enum):
    """How far a built candidate came."""

    RANKED = "ranked"  # built and ranked by the model; nothing proved, because better ones were
    REFUSED = "refused"  # a check said no; ``why`` says which
    PROVED = "proved"  # the graph equals the spec; its text was not printed
    VERIFIED = "verified"  # printed, executed and compiled as well
    TIMED = "timed"  # verified, and checked and timed on the device


@dataclass(frozen=True)
class Candidate:
    """One built kernel graph, in the user's names.

    ``configs``: one per launch. ``model_us``: microseconds by the model. ``share``: of the
    roofline, by the model. ``derivation``: laws applied, in order. ``repairs``: one readable
    line a repair; ``records``: the repairs themselves, in canonical names. ``evidence``: (claim,
    verdict). ``figures``: float errors. ``skipped``: what was not executed, and why. ``space``:
    what it may be launched with, best by the model first (of verified ones). ``timed``: the
    measured time of ``configs``; ``device_error``: (relative error, limit) of its check on the
    device, ``device``: that check in words; ``won``: it is the fastest one of its case.
    ``text``: digest of the printed text that was read, which is the one that is timed.
    """

    digest: str
    graph: KernelGraph
    configs: tuple[Config, ...]
    model_us: float
    share: float
    stage: Stage
    why: str = ""
    derivation: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    evidence: tuple[tuple[str, Verdict], ...] = ()
    facts: tuple[Facts, ...] = ()
    figures: tuple[Figure, ...] = ()
    skipped: tuple[str, ...] = ()
    records: tuple[Repair, ...] = ()
    space: tuple[Point, ...] = ()
    timed: Figures | None = None
    device_error: tuple[float, float] | None = None
    device: str = ""
    won: bool = False
    text: str = ""

    @property
    def holds(self) -> bool:
        """Whether it passed every check."""
        return self.stage in (Stage.VERIFIED, Stage.TIMED)


def best(candidates: Sequence[Candidate]) -> Candidate | None:
    """The winner of ``candidates``, which are in the order of the model: what tuning chose, else
    the fastest timed one, else the first verified one; but one whose registers spill only wins
    where all do. None if there is none."""
    timed = [c for c in candidates if c.stage is Stage.TIMED]
    if timed:
        return min(timed, key=lambda c: (not c.won, c.timed.us if c.timed else float("inf")))
    verified = [c for c in candidates if c.stage is Stage.VERIFIED]
    return min(verified, key=lambda c: any(f.spills for f in c.facts), default=None)


@dataclass(frozen=True)
class Counts:
    """What became of every candidate that was seen.

    ``seen == built + duplicates + sum of rejected + sum of pruned``. ``rejected`` and
    ``pruned`` are sorted (key, number) pairs: "stage: reason" and the bound's name.
    """

    seen: int = 0
    built: int = 0
    duplicates: int = 0
    rejected: tuple[tuple[str, int], ...] = ()
    pruned: tuple[tuple[str, int], ...] = ()
    complete: bool = True

    @property
    def adds_up(self) -> bool:
        """Whether every candidate is accounted for."""
        gone = sum(n for _, n in (*self.rejected, *self.pruned))
        return self.seen == self.built + self.duplicates + gone


@dataclass(frozen=True)
class CaseRun:
    """The search of one case. ``winner`` is among ``candidates``, or None. ``untimed``: why it
    has no time although timing was tried."""

    case: Case
    counts: Counts
    candidates: tuple[Candidate, ...]
    winner: Candidate | None
    seconds: tuple[tuple[str, float], ...] = ()
    untimed: str = ""


@dataclass(frozen=True)
class Run:
    """The search of one spec function. ``timing``: all that was measured on a GPU.
    ``substitutes``: other operators that do nearly the same, offered and not searched."""

    name: str
    target: str
    seed: int
    budget: str
    cases: tuple[CaseRun, ...]
    directory: Path
    kernel: Path | None = None
    interrupted: bool = False
    seconds: tuple[tuple[str, float], ...] = ()
    timing: Timing = NOT_TIMED
    substitutes: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:
        """Every case has a verified winner, and the file with all of them passed its checks."""
        return self.kernel is not None and all(c.winner is not None for c in self.cases)
