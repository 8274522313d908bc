"""Obligation 5 of a repair, domain: every value that a prefix can have is one that moves and terms
are defined at, and a guard stands only where there is nothing to lose.

A guard takes a factor, or what a tile adds, out of the walk. That is right at a *point* of a
producer (``repair/guard.py``), where all that was absorbed is known, if what it adds to the
component at any later value of the producer is neutral: then the component is, and stays, what
the guard says. No equation sees a guard at another value, which random points never hit.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from fractions import Fraction

from superopt.repair.guard import EXTREMA
from superopt.repair.guard import Point
from superopt.repair.guard import Regions
from superopt.repair.record import Repair
from superopt.repair.record import words
from superopt.repair.span import Span
from superopt.repair.span import at
from superopt.repair.span import span
from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

FACTS = ("inputs are finite",)


def judge_domain(
    repair: Repair, walk: Walk, regions: Regions, regular: Mapping[Node, Span]
) -> Verdict:
    """Whether moves, terms and the value at the end are defined at every prefix, and each guard
    is at a point where it hides nothing. ``regular``: spans off the points that are guarded."""
    for why in (*_undefined(repair, walk, regions, regular), *_misplaced(repair, regions)):
        return Unknown(why)
    return Proved("spans of values", FACTS)


def _undefined(
    repair: Repair, walk: Walk, regions: Regions, regular: Mapping[Node, Span]
) -> Iterator[str]:
    unit = repair.fold.unit
    places = [("", regular, regular)]
    for point in regions.points:
        where = f" while {point.producer.name} is {point.value}"
        moved, stayed = (regions.at_point(point, True, new) for new in (False, True))
        places.append((where, moved, moved))
        counted = point.empty and point.producer.fold not in EXTREMA
        places.append((where, stayed, regular if counted else stayed))
    for where, old, new in places:
        for carry in repair.components:
            for move in carry.moves:
                if span(move.factor, old).nan:
                    yield f"the factor {words(move.factor)} is undefined{where}"
            if span(carry.term, new).nan:
                yield f"the term {words(carry.term)} is undefined{where}"
    if not repair.deferred:
        return
    if span(repair.finalise, Regions(walk.carries).regular).nan:
        yield f"the value {words(repair.finalise)} may be undefined"
    empty: dict[Node, Span] = {c.state: at(c.fold.unit) for c in walk.carries}
    if span(repair.finalise, {**empty, Size(repair.axis): at(Fraction(0))}).point != unit:
        yield f"the value {words(repair.finalise)} is not {unit} where nothing is walked"


def _misplaced(repair: Repair, regions: Regions) -> Iterator[str]:
    """Guards that are at no point, or that hide something there."""
    by = {c.name: c for c in repair.components}
    for component in repair.components:
        mine = {g.condition: g.absorb for g in repair.guards if g.component == component.name}
        for move in component.moves:
            for condition, _, _ in _selects(move.factor):
                if mine.get(condition) is False and move.source in by:
                    yield from _hidden(repair, regions, condition, by[move.source])
        for condition, value, body in _selects(component.term):
            if mine.get(condition):
                yield from _added(repair, regions, component, condition, value, body)


def _hidden(repair: Repair, regions: Regions, condition: Node, source: Carry) -> Iterator[str]:
    """What a guarded move of ``source`` takes away."""
    if condition is Map(Fn.EQ, (Size(repair.axis), ZERO)):
        return
    point = _point(repair, regions, condition, old=True)
    if point is None:
        yield f"the guard {words(condition)} is at no point of a producer"
    elif not point.empty:
        fixed = (source.fold.unit, Fraction(0)) if repair.action is Fn.MUL else (source.fold.unit,)
        if _absorbed(source.term, point, regions) not in fixed:
            yield f"{source.name} may have absorbed something while {words(condition)}"


def _added(
    repair: Repair, regions: Regions, component: Carry, condition: Node, value: Number, body: Node
) -> Iterator[str]:
    """Where a guarded term is not the ``value`` that stands for it."""
    point = _point(repair, regions, condition, old=False)
    if point is None:
        yield f"the guard {words(condition)} is at no point of a producer"
    elif not point.empty and _absorbed(body, point, regions) != value:
        yield f"a tile may add something else than {value} to {component.name} while " + words(
            condition
        )


def _absorbed(term: Node, point: Point, regions: Regions) -> Number | None:
    """What a position that was absorbed up to ``point`` adds at later states, if that is one."""
    return span(term, {**regions.regular, point.seen: at(point.value)}).point


def _point(repair: Repair, regions: Regions, condition: Node, old: bool) -> Point | None:
    found = (p for p in regions.points if p.condition([repair.term], old) is condition)
    return next(found, None)


def _selects(node: Node) -> Iterator[tuple[Node, Number, Node]]:
    """The guards around a move or a term: each condition, its value, and what it stands before."""
    match node:
        case Map(fn=Fn.WHERE, args=(condition, Const(value=value), body)):
            for asked in _asked(condition):
                yield asked, value, body
            yield from _selects(body)


def _asked(condition: Node) -> Iterator[Node]:
    yield condition
    match condition:
        case Map(fn=Fn.OR, args=args):
            for arg in args:
                yield from _asked(arg)
