"""Whole numbers that are stored as floats: refused where a case makes them too large for that."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod

from superopt.case import Case
from superopt.errors import SpecError
from superopt.ugraph.levels import Program
from superopt.ugraph.node import FLOAT_DTYPES
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

DIGITS = {"fp16": 11, "bf16": 8, "fp32": 24}  # whole numbers up to 2 to this are held exactly


def check_whole(program: Program, case: Case, where: str | None) -> None:
    """Raises a ``SpecError`` if an output of whole numbers does not fit its float dtype.

    Judged are numbers that are made of positions and sizes; what integer tensors hold is not
    known here.
    """
    for store in program.outputs:
        dtype = store.dtype or case.storage
        if store.value.kind is not Kind.INT or dtype not in FLOAT_DTYPES:
            continue
        most = magnitude(store.value, case.sizes)
        if most is not None and most > 2 ** DIGITS[dtype]:
            raise SpecError(
                f"{store.name} holds whole numbers up to {most} in case {case.name!r}, but is "
                f"stored as {dtype}, which holds them exactly up to {2 ** DIGITS[dtype]}; "
                f'declare it, as in -> Annotated[Tensor, "{" ".join(store.order)}", "int32"]',
                case.where or where,
            )


def magnitude(node: Node, sizes: Mapping[str, int]) -> int | None:
    """The largest absolute value that whole numbers made of positions can have; None: unknown."""
    known: dict[Node, int | None] = {}
    for one in topo([node]):
        below = [known[c] for c in children(one)]
        known[one] = _one(one, below, sizes)
    return known[node]


def _one(node: Node, below: list[int | None], sizes: Mapping[str, int]) -> int | None:
    match node:
        case Const(value=Fraction() as value) if value.denominator == 1:
            return abs(int(value))
        case Size(axis=axis) | Index(axis=axis) | Best(of=axis, at=True):
            return sizes[axis]
        case Best(taken=True):
            return _largest(below[len(node.pairs) :])
        case Map(fn=Fn.WHERE):
            return _largest(below[1:])
        case Map(fn=Fn.MAX | Fn.MIN) | Reduce(fn=Fn.MAX | Fn.MIN):
            return _largest(below)
        case Map(fn=Fn.ADD | Fn.SUB):
            return None if None in below else sum(b for b in below if b is not None)
        case Map(fn=Fn.MUL):
            return None if None in below else prod(b for b in below if b is not None)
        case Map(fn=Fn.ABS):
            return below[0]
        case Reduce(fn=Fn.ADD, axis=axis):
            return None if below[0] is None else below[0] * sizes[axis]
        case _:
            return None


def _largest(values: list[int | None]) -> int | None:
    return None if None in values else max(v for v in values if v is not None)
