"""Which limits of a walk a condition on positions implies, and within which it holds.

Both read comparisons that are affine in positions; symbols may be sizes, run-time integers and
integers from memory that do not vary over the axis walked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from superopt.ugraph.affine import Affine
from superopt.ugraph.affine import affine
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Whole
from superopt.ugraph.live import Condition
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn

Side = Literal["start", "stop"]
# A limit without its constant; of limits that differ in it only, one is the tighter.
Key = tuple[Side, tuple[tuple[str, int], ...], tuple[tuple[Node, int], ...]]
Implied = dict[Key, int] | None  # None: the condition is never true
Assured = dict[Key, int] | None  # None: no limits assure the condition


def bounds(limits: dict[Key, int], axis: str) -> dict[Side, tuple[Bound, ...]]:
    """``limits`` of a walk over ``axis`` as bounds, without those that the range says anyway."""
    found: dict[Side, list[Bound]] = {"start": [], "stop": []}
    for (side, axes, symbols), constant in limits.items():
        limit = Affine(axes, symbols, constant)
        if not _empty(side, limit, axis):
            found[side].append(Bound(axes, limit.offset()))
    return {side: tuple(of_side) for side, of_side in found.items()}


def _empty(side: Side, limit: Affine, axis: str) -> bool:
    """Whether a limit says no more than the range of positions does."""
    if side == "start":
        return not limit.axes and not limit.symbols and limit.constant <= 0
    return not limit.axes and limit.symbols == ((Size(axis), 1),) and limit.constant >= 0


@dataclass(frozen=True)
class Limits:
    """What a condition says about the positions on ``axis``, which is walked, or whole."""

    block: BlockGraph
    axis: str

    def implied(self, condition: Condition) -> Implied:
        """Limits outside of which ``condition`` is false."""
        match condition:
            case True:
                return {}
            case False:
                return None
            case Map(fn=Fn.AND, args=args):
                return _both([self.implied(a) for a in args])
            case Map(fn=Fn.OR, args=args):
                return _either([self.implied(a) for a in args])
            case Map(fn=Fn.NOT, args=(arg,)):
                return self._denied(arg)
            case Map(fn=Fn.LT | Fn.LE as fn, args=(left, right)):
                return self._ordered(left, right, strict=fn is Fn.LT)
            case Map(fn=Fn.EQ, args=(left, right)):
                sides = ((left, right), (right, left))
                return _both([self._ordered(a, b, strict=False) for a, b in sides])
            case _:
                return {}

    def _denied(self, condition: Node) -> Implied:
        match condition:
            case Map(fn=Fn.AND, args=args):
                return _either([self._denied(a) for a in args])
            case Map(fn=Fn.OR, args=args):
                return _both([self._denied(a) for a in args])
            case Map(fn=Fn.NOT, args=(arg,)):
                return self.implied(arg)
            case Map(fn=Fn.LT | Fn.LE as fn, args=(left, right)):
                return self._ordered(right, left, strict=fn is Fn.LE)
            case _:
                return {}

    def _ordered(self, left: Node, right: Node, strict: bool) -> Implied:
        """The limit that ``left <= right`` (``strict``: ``left < right``) implies."""
        match left, right:
            case Map(fn=Fn.MAX, args=args), _:
                return _both([self._ordered(a, right, strict) for a in args])
            case _, Map(fn=Fn.MIN, args=args):
                return _both([self._ordered(left, a, strict) for a in args])
        found = [self._limit(slack, widest=True) for slack in _slacks(left, right, strict)]
        return _both([{} if limit is None else limit for limit in found])

    def assured(self, condition: Node) -> Assured:
        """Limits within which ``condition`` is true, wherever the program's tile is.

        Only comparisons that vary over the axis, and conjunctions of them, have any.
        """
        match condition:
            case Map(fn=Fn.AND, args=args):
                return _all([self.assured(a) for a in args])
            case Map(fn=Fn.LT | Fn.LE as fn, args=(left, right)):
                return self._assured(left, right, strict=fn is Fn.LT)
            case Map(fn=Fn.NOT, args=(Map(fn=Fn.NOT, args=(arg,)),)):
                return self.assured(arg)
            case Map(fn=Fn.NOT, args=(Map(fn=Fn.OR, args=args),)):
                return _all([self.assured(Map(Fn.NOT, (a,))) for a in args])
            case Map(fn=Fn.NOT, args=(Map(fn=Fn.LT | Fn.LE as fn, args=(left, right)),)):
                return self._assured(right, left, strict=fn is Fn.LE)
            case _:
                return None

    def _assured(self, left: Node, right: Node, strict: bool) -> Assured:
        match left, right:
            case Map(fn=Fn.MAX, args=args), _:
                return _all([self._assured(a, right, strict) for a in args])
            case _, Map(fn=Fn.MIN, args=args):
                return _all([self._assured(left, a, strict) for a in args])
        slacks = _slacks(left, right, strict)
        return _all([self._limit(slack, widest=False) for slack in slacks]) if slacks else None

    def _limit(self, slack: Affine, widest: bool) -> dict[Key, int] | None:
        """The limit in ``slack >= 0``; None if there is none."""
        slack = self._extreme(slack, widest)
        coefficient = slack.coefficient(self.axis)
        places = self.block.place
        others = [(a, c) for a, c in slack.axes if a != self.axis]
        if abs(coefficient) != 1 or any(not isinstance(places.get(a), Grid) for a, _ in others):
            return None
        data = [a for symbol, _ in slack.symbols for a in symbol.axes]
        if any(a == self.axis or not isinstance(places.get(a), Grid | Whole) for a in data):
            return None
        ranked = sorted(others, key=lambda term: list(places).index(term[0]))
        rest = Affine(tuple(ranked), slack.symbols, slack.constant)
        side: Side = "stop" if coefficient < 0 else "start"
        rest = rest.plus(1) if coefficient < 0 else rest.scaled(-1)
        return {(side, rest.axes, rest.symbols): rest.constant}

    def _extreme(self, slack: Affine, widest: bool) -> Affine:
        """``slack`` at its largest (or smallest) over axes that are whole in the tile or packed."""
        for axis, coefficient in slack.axes:
            if axis != self.axis and isinstance(self.block.place.get(axis), Whole | Pack):
                position = Affine(((axis, 1),), (), 0)
                last = Affine((), ((Size(axis), 1),), -1)
                taken = max(coefficient, 0) if widest else min(coefficient, 0)
                slack = slack - position.scaled(coefficient) + last.scaled(taken)
        return slack


def _slacks(left: Node, right: Node, strict: bool) -> list[Affine]:
    """What must be at least 0 for ``left <= right`` (``strict``: ``left < right``), if affine."""
    if isinstance(left, Map) and left.fn is Fn.ABS:
        turned, top = affine(left.args[0]), affine(right)
        found = [] if turned is None or top is None else [top - turned, top + turned]
    else:
        low, top = affine(left), affine(right)
        found = [] if low is None or top is None else [top - low]
    return [slack.plus(-1 if strict else 0) for slack in found]


def _both(parts: Iterable[Implied]) -> Implied:
    """Limits where all parts hold: each one, the tighter of two."""
    total: dict[Key, int] = {}
    for part in parts:
        if part is None:
            return None
        for key, constant in part.items():
            tighter = max if key[0] == "start" else min
            total[key] = tighter(constant, total.get(key, constant))
    return total


def _all(parts: Iterable[Assured]) -> Assured:
    """Limits that assure all parts: None if some part has none."""
    return _both(parts)


def _either(parts: Iterable[Implied]) -> Implied:
    """Limits where some part holds: those of every part, the weaker of two."""
    possible = [p for p in parts if p is not None]
    if not possible:
        return None
    first, *others = possible
    total: dict[Key, int] = {}
    for key, constant in first.items():
        if all(key in other for other in others):
            weaker = min if key[0] == "start" else max
            total[key] = weaker([constant, *(other[key] for other in others)])
    return total
