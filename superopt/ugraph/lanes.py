"""Which lanes of an axis that is whole in the tile matter, by the limits that its masks imply.

A lane at which every fold takes in its unit contributes nothing. If that is so for every row of a
program (padding, a length), what memory holds there must not matter either, but a weight of 0
would not hide a NaN: such lanes are treated as if they were no positions. For the same reason a
walk leaves them out (``ranges.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Whole
from superopt.ugraph.limits import Limits
from superopt.ugraph.limits import bounds
from superopt.ugraph.live import Condition
from superopt.ugraph.live import Live
from superopt.ugraph.live import either
from superopt.ugraph.node import Best
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.walk import topo


@dataclass(frozen=True)
class Lanes:
    """Of the whole axis only positions within all of ``start`` and ``stop`` matter.

    No limit depends on other positions. ``condition`` is true wherever some fold over the axis
    may take in something else than its unit.
    """

    axis: str
    start: tuple[Bound, ...]
    stop: tuple[Bound, ...]
    condition: Condition


def lanes(block: BlockGraph) -> tuple[Lanes, ...]:
    """The whole axes of ``block`` that have limits, in the order of places."""
    axes = _free(block)
    found: list[Lanes] = []
    for axis, condition in over_whole(block, Live(block)).items():
        # Of a mask that depends on the row, only what is common to all rows could be left out.
        limits = Limits(block, axis).implied(condition) or {}
        ends = bounds({key: at for key, at in limits.items() if not key[1]}, axis)
        # A limit that varies over lanes is taken over those that exist, so these must be known.
        kept = {s: tuple(b for b in e if not {*b.axes} & {*axes}) for s, e in ends.items()}
        if kept["start"] or kept["stop"]:
            found.append(Lanes(axis, kept["start"], kept["stop"], condition))
    return tuple(found)


def over_whole(block: BlockGraph, live: Live) -> dict[str, Condition]:
    """By whole axis, where some fold over it may take in something else than its unit."""
    axes = _free(block)
    found: dict[str, Condition] = {}
    for fold in (n for n in topo(block.roots()) if isinstance(n, Reduce) and n.axis in axes):
        differs = live.differs(fold.arg, fold.fn.unit)
        found[fold.axis] = either(found.get(fold.axis, False), differs)
    return {a: found[a] for a in axes if a in found}


def _free(block: BlockGraph) -> list[str]:
    """The whole axes that may lose lanes.

    An axis of something that is stored keeps all lanes, and so does one without folds, one of
    which the best are listed (the lowest positions, where all are masked), and one of the state of
    a recurrence, whose steps take in more than terms.
    """
    stored = {axis for store in block.all_stores for axis in store.order}
    stored |= {n.axis for n in topo(block.roots()) if isinstance(n, Best)}
    stored |= {a for n in topo(block.roots()) if isinstance(n, Recur) for a in n.state}
    return [a for a, p in block.places if isinstance(p, Whole) and a not in stored]
