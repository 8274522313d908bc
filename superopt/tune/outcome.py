"""What tuning found out: every Config that was tried, what came of it, and the fastest one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from superopt.tune.record import Figures
from superopt.tune.record import Outcome
from superopt.tune.space import Point

QUICK_RUNG, LONGER_RUNG, FINAL_RUNG = "quick", "longer", "final"


@dataclass(frozen=True)
class Measured:
    """One Config of one structure (``digest``) and the latest that is known of it.

    ``order``: its number among the trials of the case. ``seconds``: from the start of the case's
    tuning. ``rung``: how far it came in the halving. ``known``: it was in the store before.
    """

    digest: str
    point: Point
    outcome: Outcome
    order: int
    seconds: float
    rung: str = QUICK_RUNG
    known: bool = False


@dataclass(frozen=True)
class Won:
    """The fastest kernel of a case. ``interleaved``: it was compared with the other finalists in
    turns; else the tuning ended before."""

    digest: str
    point: Point
    figures: Figures
    error: tuple[float, float] | None
    interleaved: bool


@dataclass(frozen=True)
class Tuned:
    """The tuning of one case. ``why``: the reason why there is no winner. ``studied``: whether
    Optuna proposed Configs (else the model's order decided alone)."""

    case: str
    measured: tuple[Measured, ...] = ()
    winner: Won | None = None
    why: str = ""
    studied: bool = True

    @property
    def timed(self) -> tuple[Measured, ...]:
        """Those that have a time."""
        return tuple(m for m in self.measured if m.outcome.figures is not None)

    @property
    def failed(self) -> Counter[str]:
        """How many failed, by stage."""
        return Counter(m.outcome.stage for m in self.measured if m.outcome.figures is None)
