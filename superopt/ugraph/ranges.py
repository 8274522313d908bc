"""Limits of walks from affine masks: a causal or windowed walk visits only tiles that matter.

A position at which every carry's term is its fold's unit changes nothing: it can be skipped
(the producers stay where they are, so the moves are identities). Where terms can differ from
the unit is found by abstract evaluation as a *condition* on positions; a limit is an affine
inequality that the condition implies. The implication is exported as a ``BoundClaim``, so
that it can be proved by other means.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace
from typing import Literal

from superopt.ugraph.affine import Affine
from superopt.ugraph.affine import affine
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.live import Condition
from superopt.ugraph.live import Live
from superopt.ugraph.live import either
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn

Side = Literal["start", "stop"]


@dataclass(frozen=True)
class BoundClaim:
    """Wherever ``condition`` holds, the position on ``axis`` is within ``bound``.

    ``condition`` is true wherever some term of the walk may differ from its unit; True means
    "perhaps everywhere". ``side`` says which limit ``bound`` is: ``start`` is inclusive,
    ``stop`` exclusive.
    """

    axis: str
    side: Side
    bound: Bound
    condition: Condition


def narrow(block: BlockGraph) -> BlockGraph:
    """``block`` with the limits that its masks imply; a walk that stores keeps its range."""
    live = Live(block)
    return replace(block, walks=tuple(_narrowed(block, walk, live) for walk in block.walks))


def claims(block: BlockGraph) -> tuple[BoundClaim, ...]:
    """What must hold for the limits in ``block`` to be right, whoever has put them there."""
    live = Live(block)
    found: list[BoundClaim] = []
    for walk in block.walks:
        condition = True if walk.stores else _condition(walk, live)
        found += [BoundClaim(walk.axis, "start", b, condition) for b in walk.start]
        found += [BoundClaim(walk.axis, "stop", b, condition) for b in walk.stop]
    return tuple(found)


def _condition(walk: Walk, live: Live) -> Condition:
    """Where some carry of ``walk`` may take in something else than its unit."""
    found: Condition = False
    for carry in walk.carries:
        found = either(found, live.differs(carry.term, carry.fold.unit))
    return found


def _narrowed(block: BlockGraph, walk: Walk, live: Live) -> Walk:
    if walk.stores or not walk.carries:
        return walk
    limits = _Limits(block, walk.axis).implied(_condition(walk, live))
    if limits is None:  # nothing is ever taken in: no limit says so better than the whole range
        return walk
    bounds: dict[Side, list[Bound]] = {"start": [], "stop": []}
    for (side, axes, symbols), constant in limits.items():
        limit = Affine(axes, symbols, constant)
        if not _empty(side, limit, walk.axis):
            bounds[side].append(Bound(axes, limit.offset()))
    return replace(walk, start=tuple(bounds["start"]), stop=tuple(bounds["stop"]))


def _empty(side: Side, limit: Affine, axis: str) -> bool:
    """Whether a limit says no more than the range of positions does."""
    if side == "start":
        return not limit.axes and not limit.symbols and limit.constant <= 0
    return not limit.axes and limit.symbols == ((Size(axis), 1),) and limit.constant >= 0


# A limit without its constant; of limits that differ in it only, one is the tighter.
_Key = tuple[Side, tuple[tuple[str, int], ...], tuple[tuple[Node, int], ...]]
_Implied = dict[_Key, int] | None  # None: the condition is never true


@dataclass(frozen=True)
class _Limits:
    """Which limits of the walk over ``axis`` a condition implies."""

    block: BlockGraph
    axis: str

    def implied(self, condition: Condition) -> _Implied:
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

    def _denied(self, condition: Node) -> _Implied:
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

    def _ordered(self, left: Node, right: Node, strict: bool) -> _Implied:
        """The limit in ``left <= right`` (``strict``: ``left < right``)."""
        if isinstance(left, Map) and left.fn is Fn.ABS:
            inside, turned = left.args[0], affine(left.args[0])
            high, top = self._ordered(inside, right, strict), affine(right)
            if turned is None or top is None:
                return {}
            return _both([high, self._limit(top + turned, strict)])
        low, top = affine(left), affine(right)
        return {} if low is None or top is None else self._limit(top - low, strict)

    def _limit(self, slack: Affine, strict: bool) -> _Implied:
        """The limit in ``slack >= 0`` (``strict``: ``slack >= 1``)."""
        slack = self._widened(slack.plus(-1 if strict else 0))
        coefficient = slack.coefficient(self.axis)
        places = self.block.place
        others = [(a, c) for a, c in slack.axes if a != self.axis]
        if abs(coefficient) != 1 or any(not isinstance(places.get(a), Grid) for a, _ in others):
            return {}
        ranked = sorted(others, key=lambda term: list(places).index(term[0]))
        rest = Affine(tuple(ranked), slack.symbols, slack.constant)
        side: Side = "stop" if coefficient < 0 else "start"
        rest = rest.plus(1) if coefficient < 0 else rest.scaled(-1)
        return {(side, rest.axes, rest.symbols): rest.constant}

    def _widened(self, slack: Affine) -> Affine:
        """``slack`` at its largest over all positions of the axes that are whole in the tile."""
        for axis, coefficient in slack.axes:
            if axis != self.axis and isinstance(self.block.place.get(axis), Whole):
                position = Affine(((axis, 1),), (), 0)
                last = Affine((), ((Size(axis), 1),), -1)
                slack = slack - position.scaled(coefficient)
                slack = slack + last.scaled(max(coefficient, 0))
        return slack


def _both(parts: Iterable[_Implied]) -> _Implied:
    """Limits where all parts hold: each one, the tighter of two."""
    total: dict[_Key, int] = {}
    for part in parts:
        if part is None:
            return None
        for key, constant in part.items():
            tighter = max if key[0] == "start" else min
            total[key] = tighter(constant, total.get(key, constant))
    return total


def _either(parts: Iterable[_Implied]) -> _Implied:
    """Limits where some part holds: those of every part, the weaker of two."""
    possible = [p for p in parts if p is not None]
    if not possible:
        return None
    first, *others = possible
    total: dict[_Key, int] = {}
    for key, constant in first.items():
        if all(key in other for other in others):
            weaker = min if key[0] == "start" else max
            total[key] = weaker([constant, *(other[key] for other in others)])
    return total
