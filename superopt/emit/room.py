"""Which whole numbers need 64 bits: positions and sizes fit into 32, what is computed may not.

A sum with a number from memory can be anything, and so can a product of sizes and run-time
numbers, and a sum with two run-time numbers. Positions, sizes, and sums of them with one run-time
number (which the launcher keeps small) stay in 32 bits, where comparing them costs one register a
lane.
"""

from __future__ import annotations

from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import topo

LINEAR = (Fn.ADD, Fn.SUB, Fn.MUL)


def wide(node: Node) -> bool:
    """Whether the integer ``node`` is printed with 64 bits."""
    match node:
        case Input(dtype=dtype):
            return dtype == "int64"
        case Reduce() | State():
            return True
        case Map(args=args):
            return _outgrows(node) or any(wide(a) for a in args if a.kind is Kind.INT)
        case _:
            return False


def widened(node: Map) -> int | None:
    """Which argument of ``node`` has to be widened, so that it is computed in 64 bits; None if
    none has to be."""
    if not _outgrows(node) or any(wide(a) for a in node.args):
        return None
    for kinds in (_unbounded(node.fn), (Scalar,)):
        for place, arg in enumerate(node.args):
            if _reads(arg, kinds):
                return place
    return None


def _outgrows(node: Map) -> bool:
    if node.kind is not Kind.INT or node.fn not in LINEAR:
        return False
    return _reads(node, _unbounded(node.fn)) or _run_time(node) > 1


def _run_time(node: Node) -> int:
    """How many run-time numbers may have been added up, each as often as it is read."""
    match node:
        case Scalar():
            return 1
        case Map(args=args):
            return sum(_run_time(a) for a in args)
        case _:
            return 0


def _unbounded(fn: Fn) -> tuple[type[Node], ...]:
    """What may make the result of ``fn`` too large for 32 bits."""
    return (Input, Scalar, Size) if fn is Fn.MUL else (Input,)


def _reads(node: Node, kinds: tuple[type[Node], ...]) -> bool:
    return any(isinstance(n, kinds) for n in topo([node]))
