"""Empty and fully masked prefixes: where a producer is at a point that the algebra excludes.

A *point* is a value of a producer at which everything it has absorbed is known: an extremum at
its unit has seen only units; a maximum of ``abs(v)``, or a sum of ``v * v``, at zero has seen
only zeros. If everything that the repaired carry has absorbed there is neutral, the carry is at
its own unit, and a factor may be replaced by the identity. Where that is not so, nothing is
guarded: an accumulator that does not depend on the producer must survive an empty prefix.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from fractions import Fraction

from superopt.errors import NoRepair
from superopt.repair.record import Guard
from superopt.repair.record import words
from superopt.repair.span import Span
from superopt.repair.span import at
from superopt.repair.span import folded
from superopt.repair.span import join
from superopt.repair.span import span
from superopt.repair.span import without
from superopt.ugraph.carry import Carry
from superopt.ugraph.node import ONE
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import transform

EXTREMA = (Fn.MAX, Fn.MIN)


@dataclass(frozen=True)
class Point:
    """``producer`` at ``value``; then the node ``seen`` was ``value`` at all absorbed positions.

    ``empty``: ``seen`` never has that value (as far as inputs are finite), so that nothing was
    absorbed at all.
    """

    producer: Carry
    value: Number
    seen: Node
    empty: bool = False

    def condition(self, like: Iterable[Node], old: bool) -> Node:
        """``state == value``, spelled as the user's own guard in ``like`` is (to be one node)."""
        state = self.producer.old if old else self.producer.state
        const = Const(self.value)
        flipped = Map(Fn.EQ, (const, self.producer.state))
        same = any(n is flipped for n in topo(like))
        return Map(Fn.EQ, (const, state) if same else (state, const))


def points(producers: Sequence[Carry]) -> list[Point]:
    """Every point of the producers, units first."""
    found = [Point(p, p.fold.unit, p.term) for p in producers if p.fold in EXTREMA]
    for p in producers:
        match p.term:
            case Map(fn=Fn.ABS, args=(v,)) if p.fold in (Fn.MAX, Fn.ADD):
                found.append(Point(p, Fraction(0), v))
            case Map(fn=Fn.MUL, args=(v, w)) if v is w and p.fold in (Fn.MAX, Fn.ADD):
                found.append(Point(p, Fraction(0), v))
            case _ if p.fold is Fn.ADD and span(p.term, {}).positive:  # a count
                found.append(Point(p, Fraction(0), p.term, empty=True))
    return found


class Regions:
    """Spans of the producers' states: anywhere, off all points, and at one point.

    ``producers``: every carry of the walk so far, with the terms that say what they mean;
    ``final``: the same of earlier walks. ``empty``: an axis that may have no position where
    factors are used (a split one; the other walks do not run then).
    """

    def __init__(
        self, producers: Sequence[Carry], final: Sequence[Carry] = (), empty: str | None = None
    ) -> None:
        self.producers = producers
        self.empty = empty
        self.points = points(producers)
        self.anywhere: dict[Node, Span] = {}
        for p in final:
            self.anywhere[p.state] = _state(p, self.anywhere)
        self.regular: dict[Node, Span] = dict(self.anywhere)
        for p in producers:
            both = _state(p, self.anywhere)
            self.anywhere |= {p.state: both, p.old: both}
        self.points = [replace(p, empty=p.empty or self._empty(p)) for p in self.points]
        for p in producers:
            terms = folded(p.fold, span(p.term, self.regular))
            values = terms if p.fold in EXTREMA else join(at(p.fold.unit), terms)
            for point in self.points:
                values = without(values, point.value) if point.producer is p else values
            if self._witnessed(p):
                values = without(values, Fraction(0))
            self.regular |= {p.state: values, p.old: values}

    def _empty(self, point: Point) -> bool:
        if point.producer.fold not in EXTREMA or point.value != point.producer.fold.unit:
            return False
        values = span(point.seen, self.anywhere)
        return not (values.nan or values.inf or values.ninf)

    def _witnessed(self, carry: Carry) -> bool:
        """Whether a sum of nonnegative terms has a positive one, where an extremum is attained."""
        if carry.fold is not Fn.ADD or not span(carry.term, self.regular).nonnegative:
            return False
        prefixes = topo(n for n in topo([carry.term]) if isinstance(n, Scan))
        return any(
            span(substitute(carry.term, {p.term: p.state}), self.regular).positive
            for p in self.producers
            if p.fold in EXTREMA and p.state in self.regular and p.term not in prefixes
        )

    def at_point(self, point: Point, old: bool, new: bool) -> dict[Node, Span]:
        """Spans where the old, the new or both states of a point's producer have its value.

        The others are off their own points (each point has its own guard), unless this point
        says more about them.
        """
        seen = {point.seen: at(point.value)}
        here: dict[Node, Span] = {}
        for p in self.producers:
            if p is point.producer:
                here[p.state] = at(point.value)
            else:
                value = _state(p, {**self.anywhere, **here, **seen})
                same = value == self.anywhere[p.state]  # then its own points are independent
                here[p.state] = self.regular[p.state] if same else value
        known = dict(self.regular)
        for p in self.producers:
            known |= {p.state: here[p.state]} if new else {}
            known |= {p.old: here[p.state]} if old else {}
        return {**known, **seen} if new else known


def _state(carry: Carry, known: Mapping[Node, Span]) -> Span:
    """What a fold of any number of terms, none included, can be."""
    return join(at(carry.fold.unit), folded(carry.fold, span(carry.term, known)))


def neutral(b: Node, point: Point, fold: Fn, action: Fn) -> Number | None:
    """What ``b(u)`` is at every position absorbed up to ``point``, if that is a fixed point.

    Fixed: the fold's unit, and under multiplication zero, which every factor keeps.
    """
    value = span(b, {point.seen: at(point.value)}).point
    fixed = (fold.unit, Fraction(0)) if action is Fn.MUL else (fold.unit,)
    if value in fixed:
        return value
    return fold.unit if point.empty else None


def regular_form(term: Node, axis: str, candidates: Sequence[Point]) -> tuple[Node, list[Point]]:
    """``term`` off the points: choices ``where(x == value, .., ..)`` that mix ``x`` and ``u``.

    The points whose choices were resolved must be checked to be neutral.
    """
    conditions = {
        Map(Fn.EQ, pair): p
        for p in candidates
        for pair in (
            (p.producer.state, Const(p.value)),
            (Const(p.value), p.producer.state),
        )
    }
    resolved: dict[Point, None] = {}

    def change(node: Node) -> Node:
        match node:
            case Map(fn=Fn.WHERE, args=(c, _, otherwise)) if c in conditions and axis in node.axes:
                resolved[conditions[c]] = None
                return otherwise
            case _:
                return node

    return transform([term], change)[term], list(resolved)


@dataclass(frozen=True)
class Guarded:
    """A node with its guards."""

    node: Node
    guards: tuple[Guard, ...]


def guarded_factor(
    component: str,
    factor: Node,
    diagonal: bool,
    action: Fn,
    regions: Regions,
    harmless: Mapping[Point, bool],
    term: Node,
) -> Guarded:
    """``factor`` with the identity wherever an old producer is at a point that spoils it.

    ``harmless``: at which points the moved component is known to be at its unit.

    Raises:
        NoRepair: the factor is undefined at a point where the component is not at its unit.
    """
    if span(factor, regions.regular).nan:
        raise NoRepair(f"the factor {words(factor)} may be undefined")
    guards: list[Guard] = []
    conditions: list[Node] = []
    passed: list[Point] = []
    for point in regions.points:
        if point.producer.old not in topo([factor]):
            continue
        spans = [span(factor, regions.at_point(point, True, new)) for new in (False, True)]
        if all(_bounded(s) for s in spans):
            continue
        state = f"{point.producer.name} is {_text(point.value)}"
        if not harmless[point]:
            if any(s.nan for s in spans):
                raise NoRepair(f"the factor {words(factor)} is undefined while {state}")
            continue
        condition = point.condition([term], old=True)
        conditions.append(condition)
        passed.append(point)
        guards.append(Guard(component, condition, False, f"nothing was absorbed while {state}"))
    if regions.empty is not None and _needs_positions(factor, regions):
        condition = Map(Fn.EQ, (Size(regions.empty), ZERO))
        conditions.append(condition)
        guards.append(Guard(component, condition, False, "the walked axis has no position"))
    if not conditions:
        return Guarded(factor, ())
    identity = ONE if action is Fn.MUL and diagonal else ZERO
    condition = conditions[0]
    for other in conditions[1:]:
        condition = Map(Fn.OR, (condition, other))
    node = Map(Fn.WHERE, (condition, identity, _without(factor, passed, regions)))
    return Guarded(node, tuple(guards))


def guarded_term(
    component: str, term: Node, regions: Regions, values: Mapping[Point, Number | None]
) -> Guarded:
    """``term`` with a fixed value wherever a new producer is at a point that spoils it.

    ``values``: what a tile contributes there, or None if that is not one value.
    """
    guards: list[Guard] = []
    node = term
    for point in reversed(regions.points):
        counted = point.empty and point.producer.fold not in EXTREMA
        if counted or point.producer.state not in topo([term]):
            continue  # a tile has a position, so that a count is above zero after it
        if not span(term, regions.at_point(point, True, True)).nan:
            continue
        state = f"{point.producer.name} is {_text(point.value)}"
        value = values[point]
        if value is None:
            raise NoRepair(f"the term {words(term)} is undefined while {state}")
        condition = point.condition([term], old=False)
        node = Map(Fn.WHERE, (condition, Const(value), node))
        guards.append(Guard(component, condition, True, f"a tile adds nothing while {state}"))
    return Guarded(node, tuple(guards))


def _needs_positions(node: Node, regions: Regions) -> bool:
    """Whether an empty walked axis makes ``node`` undefined where it otherwise is not."""
    assert regions.empty is not None
    size: dict[Node, Span] = {Size(regions.empty): at(Fraction(0))}
    units: dict[Node, Span] = {
        s: at(p.fold.unit) for p in regions.producers for s in (p.state, p.old)
    }
    known = {**regions.anywhere, **units}
    return Size(regions.empty) in topo([node]) and span(node, {**known, **size}).nan


def guarded_value(value: Node, unit: Number, axis: str, regions: Regions) -> Node:
    """``value``, or ``unit`` if ``axis`` has no position and ``value`` is undefined then."""
    empty = Regions(regions.producers, (), axis)
    return unless_empty(value, unit, axis) if _needs_positions(value, empty) else value


def unless_empty(value: Node, unit: Number, axis: str) -> Node:
    """``value``, or ``unit`` if ``axis`` has no position."""
    return Map(Fn.WHERE, (Map(Fn.EQ, (Size(axis), ZERO)), Const(unit), value))


def _bounded(values: Span) -> bool:
    return values.finite and values.hi != INF and values.lo != -INF


def _without(factor: Node, passed: Sequence[Point], regions: Regions) -> Node:
    """``factor`` off the guarded points, where guards of the user's may be decided."""
    known = dict(regions.anywhere)
    for p in regions.producers:
        mine = [point for point in regions.points if point.producer is p]
        if mine and all(point in passed for point in mine):
            known[p.old] = regions.regular[p.old]

    def change(node: Node) -> Node:
        match node:
            case Map(fn=Fn.WHERE, args=(condition, _, otherwise)) if (
                span(condition, known).point == 0
            ):
                return otherwise
            case _:
                return node

    return transform([factor], change)[factor]


def _text(value: Number) -> str:
    return str(value)
