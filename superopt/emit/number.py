"""Nodes without axes as Python text in double precision: what the launcher computes."""

from __future__ import annotations

from collections.abc import Mapping

from superopt.emit.scalar import PYTHON
from superopt.emit.scalar import numeral
from superopt.errors import NotEmittable
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.walk import topo


def python_number(node: Node, sizes: Mapping[str, str], scalars: Mapping[str, str]) -> str:
    """``node`` as an expression; ``sizes`` and ``scalars`` are the variables of axes and scalars.

    Operands are in parentheses unless they are names, numerals or calls.
    """
    match node:
        case Const(value=value):
            return numeral(value, real=node.kind.value == "real")
        case Named(name=name):
            return f"{name.value}.value"
        case Size(axis=axis):
            return sizes[axis]
        case Scalar(name=name):
            return scalars[name]
        case Map(fn=fn, args=args):
            return PYTHON[fn].format(*(_operand(python_number(a, sizes, scalars)) for a in args))
        case _:
            raise NotEmittable(f"{type(node).__name__} is no number that a launcher can compute")


def _operand(text: str) -> str:
    return text if all(c.isalnum() or c in "_." for c in text) else f"({text})"


def is_pure(node: Node) -> bool:
    """Whether ``node`` follows from sizes, constants and the caller's scalars alone."""
    return all(isinstance(n, Const | Named | Size | Scalar | Map) for n in topo([node]))
