"""What becomes of a candidate, and the counts of that, which add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from superopt.repair.record import Repair
from superopt.search.configs import Ladder
from superopt.search.model import Estimate
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph


@dataclass(frozen=True)
class Built:
    """A candidate that can be verified and printed.

    ``ladders``: per kernel the ways to launch it, the best by the model first. ``form``: number
    of the form it comes from; ``derivation``: the steps that led to that.
    """

    graph: KernelGraph
    ladders: tuple[Ladder, ...]
    estimate: Estimate
    repairs: tuple[Repair, ...]
    derivation: Sequence[Any]
    form: int

    @property
    def configs(self) -> tuple[Config, ...]:
        """One Config per launch, the best by the model."""
        return tuple(c for ladder in self.ladders for c in ladder[0])


@dataclass(frozen=True)
class Rejected:
    """A candidate that cannot go on: at which stage and why; ``text`` describes it."""

    stage: str
    why: str
    text: str


@dataclass(frozen=True)
class Pruned:
    """``n`` partial candidates (``stage``: ``cut`` or ``mapping``) that cannot beat the best one:
    the least of their bounds is ``bound`` microseconds."""

    stage: str
    n: int
    bound: float


Outcome = Built | Rejected | Pruned


@dataclass
class Counts:
    """How many candidates there were and what became of them.

    The unit is a leaf of the search tree: a candidate, or a partial one that was not opened.
    At any time ``seen == built + rejected + pruned + duplicates + open``. ``open``: what is
    left in the queue (not 0 when a budget ended the search). ``kernels``: mappings of single
    kernels that were taken to Configs or refused, on the way.
    """

    seen: int = 0
    built: int = 0
    rejected: Counter[tuple[str, str]] = field(default_factory=Counter)
    pruned: Counter[str] = field(default_factory=Counter)
    duplicates: int = 0
    open: int = 0
    kernels: int = 0

    @property
    def adds_up(self) -> bool:
        """Whether every candidate is accounted for."""
        done = self.built + self.rejected.total() + self.pruned.total() + self.duplicates
        return self.seen == done + self.open
