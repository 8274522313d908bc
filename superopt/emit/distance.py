"""Distances between positions as floats, without a conversion of every element.

A conversion of an integer is as slow as an exponential. In a walk, ``n - m`` is a number for each
row, ``n_first - m``, plus the lane: both are converted where there are few of them, and added.
Below 2**24 this is exact; beyond, it is off by no more than the conversion itself would be.
"""

from __future__ import annotations

from superopt.emit.scopes import Scopes
from superopt.emit.value import Value
from superopt.ugraph.affine import affine
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import transform


def converted(values: Scopes, node: Node) -> Value:
    """An integer as fp32."""
    walked = values.frame.walked
    found = affine(node) if walked is not None and values.varies(node) else None
    sign = found.coefficient(walked) if found is not None and walked is not None else 0
    if walked is None or abs(sign) != 1:
        return _plain(values.value(node))
    rows = transform([substitute(node, {Index(walked): ZERO})], _without_zero).popitem()[1]
    if values.varies(rows) or not values.frame.dims(rows.axes):
        return _plain(values.value(node))
    row, lane = _row(values, node, rows, walked, sign), values.frame.real_lane(walked)
    dims = values.frame.dims(node.axes)
    text = f"{row.along(dims)} {'+' if sign > 0 else '-'} {lane.along(dims)}"
    return Value(text, dims, Kind.REAL, closed=False, weight=1)


def _without_zero(node: Node) -> Node:
    match node:
        case Map(fn=Fn.ADD | Fn.SUB, args=(a, b)) if b is ZERO:
            return a
        case Map(fn=Fn.ADD, args=(a, b)) if a is ZERO:
            return b
        case _:
            return node


def _plain(value: Value) -> Value:
    return Value(f"{value.operand}.to(tl.float32)", value.dims, Kind.REAL, weight=value.weight)


def _row(values: Scopes, node: Node, rows: Node, walked: str, sign: int) -> Value:
    """The value at the first position of the tile in hand, for each row."""
    first = values.frame.first(walked)
    match rows:
        case Map(fn=Fn.SUB, args=(Const(value=0), part)) if sign > 0:
            part_ = values.value(part)
            text = f"{first} - {part_.operand}"
        case _:
            part_ = values.value(rows)
            text = f"{part_.operand} {'+' if sign > 0 else '-'} {first}"
    made = Value(f"({text}).to(tl.float32)", part_.dims, Kind.REAL)
    return values.assign(node, made, f"{values.frame.stem(walked)}_ahead")
