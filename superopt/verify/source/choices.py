"""Conditions of the launcher on numbers that stand for any: chosen from by the domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from superopt.ugraph.domain import Domain
from superopt.ugraph.scalar import Fn
from superopt.verify.source.cells import lifted


@dataclass(frozen=True, eq=False)
class Truth:
    """Whether something holds: ``approximate`` for the doubles, ``data`` in the domain.

    Statements go by the doubles; a conditional expression chooses in the domain, as ``where``
    of the spec does.
    """

    cells: Domain[Any]
    approximate: bool
    data: Any

    def __bool__(self) -> bool:
        return self.approximate


def negated(condition: Any) -> Any:
    """``not``."""
    if not isinstance(condition, Truth):
        return not condition
    cells = condition.cells
    return Truth(cells, not condition.approximate, cells.apply(Fn.NOT, (condition.data,)))


def joined(fn: Fn, *conditions: Any) -> Any:
    """``and`` and ``or`` of conditions that are all looked at."""
    result = all(conditions) if fn is Fn.AND else any(conditions)
    known = [c.cells for c in conditions if isinstance(c, Truth)]
    if not known:
        return result
    cells = known[0]
    first, *others = (
        c.data if isinstance(c, Truth) else lifted(cells, np.asarray(bool(c))) for c in conditions
    )
    for other in others:
        first = cells.apply(fn, (first, other))
    return Truth(cells, result, first)


def chosen(
    condition: Any,
    first: Callable[[], Any],
    second: Callable[[], Any],
    select: Callable[[Truth, Any, Any], Any],
) -> Any:
    """``first() if condition else second()``; ``select`` if the condition is of any numbers."""
    if isinstance(condition, Truth):
        return select(condition, first(), second())
    return first() if condition else second()
