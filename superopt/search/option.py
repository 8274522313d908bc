"""One way to launch a kernel, with what the model says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from superopt.search.footprint import Footprint
from superopt.ugraph.counts import Cost
from superopt.ugraph.levels import Config

LEAN = 64  # registers below which nothing spills
SMALLER = 0.8  # registers of a rung, at most, for each of the rung before


@dataclass(frozen=True)
class Option:
    """A way to launch one kernel: Configs of its launches, ``us`` in all, and per launch the
    model's times (``Launch.times``), the counts and what one program occupies."""

    us: float
    configs: tuple[Config, ...]
    times: tuple[dict[str, float], ...]
    costs: tuple[Cost, ...]
    uses: tuple[Footprint, ...]

    def below(self, other: Option) -> bool:
        """Whether every launch occupies clearly less than (or a minimum in) ``other``."""
        return all(
            a.registers <= max(SMALLER * b.registers, LEAN) and a.shared <= b.shared
            for a, b in zip(self.uses, other.uses, strict=True)
        )


def together(launched: Sequence[Option]) -> Option:
    """The launches of one kernel together."""
    return Option(
        sum(o.us for o in launched),
        tuple(c for o in launched for c in o.configs),
        tuple(t for o in launched for t in o.times),
        tuple(c for o in launched for c in o.costs),
        tuple(u for o in launched for u in o.uses),
    )


def by_time(option: Option) -> float:
    """What options are sorted by: rounded, so that equal ones stay in the order found."""
    return round(option.us, 6)
