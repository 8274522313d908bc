"""Joining two parts that stand in tensors of their own, instead of parts along an axis."""

from __future__ import annotations

from fractions import Fraction

from superopt.merge.tidy import tidy
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.names import free_name
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import rebuild
from superopt.ugraph.walk import topo

ENDS = ("a", "b")


def paired(program: Program, axis: str) -> Program:
    """``program`` with two parts along ``axis``, each of its tensors as one parameter a part.

    The parameters of the first part come first.
    """
    at: list[dict[Node, Node]] = [{}, {}]
    taken = frozenset(n.name for n in (*program.params, *program.outputs))
    for node in topo(s.value for s in program.outputs):
        for end in range(2):
            at[end][node] = _at(node, axis, at, end, taken)
    outputs = tuple(Store(s.name, s.order, s.dtype, tidy(at[0][s.value])) for s in program.outputs)
    parts = [p for p in program.params if isinstance(p, Input) and axis in p.order]
    rest = [p for p in program.params if p not in parts]
    params = (*(_end(p, axis, end, taken) for end in range(2) for p in parts), *rest)
    return Program(f"{program.name}_pair", params, outputs, program.fixed)


def _at(node: Node, axis: str, at: list[dict[Node, Node]], end: int, taken: frozenset[str]) -> Node:
    """``node`` in part ``end``; its arguments are known in both."""
    match node:
        case Input(order=order) if axis in order:
            return _end(node, axis, end, taken)
        case Index(axis=over) if over == axis:
            return Const(Fraction(end))
        case Size(axis=over) if over == axis:
            return Const(Fraction(2))
        case Reduce(fn=fn, axis=over, arg=arg) if over == axis:
            return Map(fn, (at[0][arg], at[1][arg]))
        case Scan(fn=fn, axis=over, arg=arg) if over == axis:
            return Map(fn, (at[0][arg], at[1][arg])) if end else at[0][arg]
        case _:
            return rebuild(node, tuple(at[end][c] for c in children(node)))


def _end(tensor: Input, axis: str, end: int, taken: frozenset[str]) -> Input | Scalar:
    """Of one part; a number of positions is then a number. Its name is none of ``taken``."""
    order = tuple(a for a in tensor.order if a != axis)
    name = free_name(f"{tensor.name}_{ENDS[end]}", taken)
    if not order and tensor.kind is Kind.INT:
        return Scalar(name, "int32")
    return Input(name, order, tensor.dtype)
