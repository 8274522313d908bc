"""Maxima and minima of what is monotone: extrema are kept, and what moves acts once, at the end.

``max_j g(x, u_j)`` with ``g`` rising in ``u`` is ``g(x, max_j u_j)``, and with ``g`` falling it is
``g(x, min_j u_j)``. A maximum of several is the maximum of their maxima, so an absolute value,
which is the larger of a value and its negative, takes two extrema: ``max_j |u_j - x|`` is
``max(max_j u_j - x, x - min_j u_j)``. This is finite rank over the algebra of the fold. An
extremum is one of the values, so that nothing is lost by acting late.
"""

from __future__ import annotations

from fractions import Fraction

from superopt.errors import NoRepair
from superopt.repair.guard import Regions
from superopt.repair.guard import unless_empty
from superopt.repair.record import Repair
from superopt.repair.span import Span
from superopt.repair.span import at
from superopt.repair.span import span
from superopt.ugraph.carry import Carry
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo

MINUS = Const(Fraction(-1))
RISING = (Fn.EXP, Fn.EXP2, Fn.LOG, Fn.LOG2, Fn.SQRT, Fn.TANH, Fn.SIGMOID, Fn.ERF)


def late(carry: Carry, axis: str, producers: tuple[Carry, ...], regions: Regions) -> Repair | None:
    """The repair of an extremum that keeps extrema of functions of ``u``, or None.

    ``producers``: the carries that the term reads; ``regions``: what their states can be.
    """
    work = _Late(carry, axis, regions)
    try:
        value = work.of(carry.term, carry.fold is Fn.MAX)
    except _Mixed:
        return None
    components = tuple(work.components.values())
    if not components:
        return None
    rank = range(len(components))
    factors = tuple(tuple(ZERO if i == j else None for j in rank) for i in rank)
    finalise = _or_unit(value, carry, components, axis, regions)
    return Repair(axis, carry, producers, components, factors, (), finalise)


class _Mixed(NoRepair):
    """``x`` and ``u`` do not come apart in a way that keeps the order."""


class _Late:
    """Extrema of subterms, in terms of the extrema of the ``u`` in them."""

    def __init__(self, carry: Carry, axis: str, regions: Regions) -> None:
        self.carry = carry
        self.axis = axis
        self.known = regions.regular
        self.components: dict[Node, Carry] = {}

    def of(self, node: Node, most: bool) -> Node:  # noqa: C901  one row a function
        """The largest (``most``), else the smallest value of ``node`` along the axis.

        Raises:
            _Mixed: it is not made of extrema of ``u``.
        """
        if self.axis not in node.axes:
            return node
        if not any(isinstance(n, State) for n in topo([node])):
            return self._kept(node, most)
        match node:
            case Map(fn=Fn.ADD, args=(a, b)) if self._apart(a, b):
                return Map(Fn.ADD, (self.of(a, most), self.of(b, most)))
            case Map(fn=Fn.SUB, args=(a, b)) if self._apart(a, b):
                return _difference(self.of(a, most), self.of(b, not most))
            case Map(fn=Fn.MUL, args=(a, b)) if self._apart(a, b):
                still, other = (a, b) if self.axis in b.axes else (b, a)
                return Map(Fn.MUL, (self.of(other, self._turned(still, most)), still))
            case Map(fn=Fn.DIV, args=(a, b)) if self.axis not in b.axes:
                if not span(b, self.known).nonzero:
                    raise _Mixed
                return Map(Fn.DIV, (self.of(a, self._turned(b, most)), b))
            case Map(fn=Fn.MAX | Fn.MIN as fn, args=(a, b)):
                if not self._apart(a, b) and most is not (fn is Fn.MAX):
                    raise _Mixed
                return Map(fn, (self.of(a, most), self.of(b, most)))
            case Map(fn=Fn.ABS, args=(a,)) if most:
                return Map(Fn.MAX, (self.of(a, True), self.of(self._negative(a), True)))
            case Map(fn=fn, args=(a,)) if fn in RISING:
                return Map(fn, (self.of(a, most),))
            case Map(fn=Fn.RSQRT, args=(a,)):
                return Map(Fn.RSQRT, (self.of(a, not most),))
            case _:
                raise _Mixed

    def _negative(self, node: Node) -> Node:
        match node:
            case Map(fn=Fn.SUB, args=(a, b)):
                return Map(Fn.SUB, (b, a))
            case Map(fn=Fn.MUL | Fn.DIV as fn, args=(a, b)) if self.axis not in b.axes:
                return Map(fn, (self._negative(a), b))
            case Map(fn=Fn.MUL, args=(a, b)) if self.axis not in a.axes:
                return Map(Fn.MUL, (a, self._negative(b)))
            case _:
                return Map(Fn.MUL, (MINUS, node))

    def _apart(self, a: Node, b: Node) -> bool:
        """Whether one of both stands still along the axis."""
        return (self.axis in a.axes) is not (self.axis in b.axes)

    def _turned(self, factor: Node, most: bool) -> bool:
        """Which extremum it takes of what is multiplied by ``factor``."""
        values = span(factor, self.known)
        if values.nan or not (values.lo >= 0 or values.hi <= 0):
            raise _Mixed
        return most if values.lo >= 0 else not most

    def _kept(self, u: Node, most: bool) -> Node:
        """The state of a component; a minimum beside maxima is that of the negative values."""
        straight = most is (self.carry.fold is Fn.MAX)
        term = u if straight else Map(Fn.MUL, (MINUS, u))
        if term not in self.components:
            over = tuple(a for a in self.carry.over if a in u.axes)
            name = f"{self.carry.name}_{len(self.components)}"
            self.components[term] = Carry(name, over, self.carry.fold, term, (), Fn.ADD)
        state = self.components[term].state
        return state if straight else Map(Fn.MUL, (MINUS, state))


def _difference(a: Node, b: Node) -> Node:
    match b:
        case Map(fn=Fn.MUL, args=(first, other)) if first is MINUS:
            return Map(Fn.ADD, (a, other))
        case _:
            return Map(Fn.SUB, (a, b))


def _or_unit(
    value: Node, carry: Carry, components: tuple[Carry, ...], axis: str, regions: Regions
) -> Node:
    """``value``, or the fold's unit if nothing was folded and ``value`` is another then."""
    empty: dict[Node, Span] = {c.state: at(c.fold.unit) for c in components}
    units: dict[Node, Span] = {p.state: at(p.fold.unit) for p in regions.producers}
    size: dict[Node, Span] = {Size(axis): at(Fraction(0))}
    known = {**regions.anywhere, **units, **empty, **size}
    unit = carry.fold.unit
    return value if span(value, known).point == unit else unless_empty(value, unit, axis)
