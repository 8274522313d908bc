"""Sums within a tile, and what is added to them once for each position: one sum of differences.

Algebra takes ``sum_c(x - m)`` apart, into ``sum_c(x)`` and ``size(c) m``: large numbers, whose
difference cancels. What is proportional to the size of an axis goes back into the sum over it.
"""

from __future__ import annotations

from functools import reduce

from superopt.ugraph.node import MINUS
from superopt.ugraph.node import ONE
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import transform


def gathered(term: Node) -> Node:
    """``term``, with every addend beside a sum that is a multiple of its axis's size inside it."""
    return transform([term], _gathered_at)[term]


def _gathered_at(node: Node) -> Node:
    if not isinstance(node, Map) or node.fn not in (Fn.ADD, Fn.SUB):
        return node
    addends = _addends(node)
    for place, addend in enumerate(addends):
        match addend:
            case Reduce(fn=Fn.ADD, axis=axis, arg=arg):
                others = [*addends[:place], *addends[place + 1 :]]
                each = [_each(o, axis) for o in others]
                inside = [e for e in each if e is not None]
                if inside:
                    found: Node = Reduce(Fn.ADD, axis, reduce(_add, inside, arg))
                    left = [o for o, e in zip(others, each, strict=True) if e is None]
                    return reduce(_add, left, found)
            case _:
                continue
    return node


def _addends(node: Node) -> list[Node]:
    match node:
        case Map(fn=Fn.ADD, args=(a, b)):
            return [*_addends(a), *_addends(b)]
        case Map(fn=Fn.SUB, args=(a, b)):
            return [*_addends(a), *(Map(Fn.MUL, (MINUS, x)) for x in _addends(b))]
        case _:
            return [node]


def _add(a: Node, b: Node) -> Node:
    return Map(Fn.ADD, (a, b))


def _each(node: Node, axis: str) -> Node | None:
    """``node`` over the size of ``axis``, if that is a factor of it and all else lacks the axis."""
    if axis in node.axes:
        return None
    match node:
        case Size(axis=a) if a == axis:
            return ONE
        case Map(fn=Fn.MUL, args=(a, b)):
            for one, other in ((a, b), (b, a)):
                if (rest := _each(one, axis)) is not None:
                    return other if rest is ONE else Map(Fn.MUL, (rest, other))
            return None
        case Map(fn=Fn.DIV, args=(a, b)):
            rest = _each(a, axis)
            return None if rest is None else Map(Fn.DIV, (rest, b))
        case _:
            return None
