"""Values at the places of a list of the best: what goes with the list, its *payloads*.

A place stands in a list once at most, and ``size(n)`` is no position, so the sum has one term::

    sum_n where(n = place_t, v_n, 0) = the payload v of the best of rank t

where ``place_t`` are the places of a list along ``n``. Payloads are kept beside the pairs while
``n`` is walked, so they may not read what the same walk still folds: ``exp(x_n - max x)`` at a
place is ``exp(p - max x)``, of the payload ``p`` of ``x_n``, where there is a position at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from superopt.ugraph.levels import Program
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Best
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import transform


def with_payloads(program: Program) -> Program:
    """``program`` with payloads for what is read at the places of its lists."""
    fixed = dict(program.fixed)
    new = transform([s.value for s in program.outputs], lambda node: read_at(node, fixed))
    return replace(program, outputs=tuple(replace(s, value=new[s.value]) for s in program.outputs))


def read_at(node: Node, fixed: Mapping[str, int]) -> Node:
    """``node`` by payloads, if it is a value at the places of a list. ``fixed``: known sizes."""
    match node:
        case Reduce(
            fn=Fn.ADD,
            axis=axis,
            arg=Map(fn=Fn.WHERE, args=(Map(fn=Fn.EQ, args=(a, b)), value, other)),
        ) if other is ZERO and Index(axis) in (a, b):
            place = b if a is Index(axis) else a
        case _:
            return node
    match place:
        case Best() as places:
            pass
        case Reduce(axis=into, arg=Best(into=ranks) as places) if into == ranks:
            if fixed.get(into) != 1:  # of one rank, every fold is what stands there
                return node
        case _:
            return node
    if not places.at or places.pairs[1:] != (Index(axis),):
        return node
    if axis not in value.axes or places.into in value.axes:
        return node
    found = _behind(value, places)
    if found is None:
        return node
    if not isinstance(found, Best) or not found.taken:
        there = Map(Fn.LT, (places, Size(places.of)))
        found = Map(Fn.WHERE, (there, found, ZERO))
    return found if place is places else Reduce(Fn.ADD, places.into, found)


def _behind(value: Node, places: Best) -> Node | None:
    """``value`` at ``places``, made of payloads; None if a truth value would have to be one."""
    axis = places.axis
    if axis not in value.axes:
        return value
    if value is Index(axis):
        return places
    if value.kind is not Kind.BOOL and not _premature(value, axis):
        return replace(places, args=(*places.pairs, value), at=False, taken=True)
    if not isinstance(value, Map):
        return None
    args = [_behind(a, places) for a in value.args]
    return None if None in args else Map(value.fn, tuple(a for a in args if a is not None))


def _premature(value: Node, axis: str) -> bool:
    """Whether ``value`` is a function of a fold over ``axis``."""
    outside = topo(
        [value], below=lambda n: children(n) if isinstance(n, Map) and axis in n.axes else ()
    )
    still = [n for n in outside if axis not in n.axes]
    return any(isinstance(n, Reduce | Scan | Best) and n.axis == axis for n in topo(still))
