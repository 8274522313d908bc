"""Lists of the best, ranked by what a strictly increasing function is applied to.

The weights of a softmax are in the order of its scores, so the best of them are found among the
scores, before any maximum or sum is known and without a tie that rounding makes::

    best(f(x)) = f(best(x)),  places of best(f(x)) = places of best(x)

if ``f`` is strictly increasing on each row: made of exponentials and bounded curves, of sums with
finite values and of products with positive ones that are the same along the row. ``f`` keeps
-inf apart from what is finite, so rows with masked positions are ranked alike; that a list has no
candidate left is said again behind ``f``. (``tests/ugraph/test_order.py`` proves each step.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace

from superopt.ugraph.infinities import Infinities
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import transform

INCREASING = (Fn.EXP, Fn.EXP2, Fn.SIGMOID, Fn.TANH, Fn.ERF)


@dataclass(frozen=True)
class _Layers:
    """``f(x)`` taken apart: ``again`` applies f to another value in the place of ``x``."""

    x: Node
    again: Callable[[Node], Node]


def by_order(program: Program) -> Program:
    """``program`` with every list ranked by what its candidates are increasing functions of."""
    new = transform([s.value for s in program.outputs], ranked)
    return replace(program, outputs=tuple(replace(s, value=new[s.value]) for s in program.outputs))


def ranked(node: Node) -> Node:
    """``node``, ranked by what its candidates are increasing functions of, if it is a list."""
    if not isinstance(node, Best) or node.args[1:] != (Index(node.axis),):
        return node
    found = _layers(node.args[0], node.axis, Infinities(BlockGraph((), (), ())))
    if found.x is node.args[0]:
        return node
    pair = (found.x, Index(node.axis))
    places = Best(node.axis, node.into, node.of, pair, at=True)
    if node.at:
        return places
    values = Best(node.axis, node.into, node.of, pair)
    lost = Map(Fn.EQ, (values, Const(-INF)))
    missing = Map(Fn.AND, (Map(Fn.EQ, (places, Size(node.of))), lost))
    return Map(Fn.WHERE, (missing, Const(-INF), found.again(values)))


def _layers(node: Node, axis: str, known: Infinities) -> _Layers:
    """All layers of ``node`` that are strictly increasing along ``axis``, outermost last."""
    rest, rebuilt = _outer(node, axis, known)
    if rest is None:
        return _Layers(node, lambda value: value)
    inner = _layers(rest, axis, known)
    return _Layers(inner.x, lambda value: rebuilt(inner.again(value)))


def _outer(node: Node, axis: str, known: Infinities) -> tuple[Node | None, Callable[[Node], Node]]:
    """The argument of the outermost layer (None: there is none), and how the layer is applied."""
    match node:
        case Map(fn=fn, args=(x,)) if fn in INCREASING and x.kind is Kind.REAL:
            return x, lambda value: Map(fn, (value,))
        case Map(fn=Fn.ADD | Fn.MUL as fn, args=(left, right)):
            for x, other, first in ((left, right, True), (right, left, False)):
                if _allows(fn, x, other, axis, known):
                    return x, _joined(fn, other, first)
        case Map(fn=Fn.SUB | Fn.DIV as fn, args=(x, other)) if _allows(fn, x, other, axis, known):
            return x, _joined(fn, other, True)
        case _:
            pass
    return None, lambda value: value


def _joined(fn: Fn, other: Node, first: bool) -> Callable[[Node], Node]:
    return lambda value: Map(fn, (value, other) if first else (other, value))


def _allows(fn: Fn, x: Node, other: Node, axis: str, known: Infinities) -> bool:
    """Whether ``fn`` of ``x`` and ``other`` is strictly increasing in ``x`` along ``axis``."""
    if axis in other.axes or axis not in x.axes or x.kind is not Kind.REAL or known.of(other):
        return False
    return fn in (Fn.ADD, Fn.SUB) or known.positive(other)
