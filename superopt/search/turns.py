"""What programs read between two reads of the same bytes, in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from superopt.ugraph.counts import Cost


@dataclass(frozen=True)
class Turn:
    """A level of the numbering of programs: ``count`` positions on ``axis`` for each of which all
    ``faster`` programs run. ``read``: bytes of distinct elements that these read."""

    axis: str
    count: int
    faster: int
    read: float


def turns(cost: Cost, group: int = 1) -> tuple[Turn, ...]:
    """The levels of the numbering, fastest first. ``group``: as in ``Config``.

    In groups the slower one of two axes has two levels, within the group and between groups.
    """
    if not cost.programs:
        return ()
    slower = _levels(cost, group)
    found: list[Turn] = []
    faster, read = 1, cost.read / cost.programs
    while slower:
        axis, count = slower.pop()
        found.append(Turn(axis, count, faster, read))
        faster *= count
        distinct = sum(r.unique / prod(n for a, n in slower if a in r.axes) for r in cost.reads)
        read = min(distinct, read * count)
    return tuple(found)


def _levels(cost: Cost, group: int) -> list[tuple[str, int]]:
    """(axis, programs), slowest first."""
    if group == 1 or not cost.grouped:
        return list(cost.grid)
    row, column = cost.grouped
    rows = dict(cost.grid)[row]
    found: list[tuple[str, int]] = []
    for axis, count in cost.grid:
        found.append((axis, -(-count // group) if axis == row else count))
        if axis == column:
            found.append((row, min(group, rows)))
    return found
