"""Data that compare equal: of random points none do, so there every pair may be tied by a draw.

``a < b`` and ``a <= b`` differ where ``a == b`` alone, which random residues never meet. In a
reading of *ties* each compared pair is below, above or equal as drawn for it, one way in the spec
and in the kernel. True orders are among the draws, so what agrees for all agrees for true ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import topo
from superopt.verify.field.trials import Trial
from superopt.verify.field.trials import axes_of
from superopt.verify.field.trials import trial

FACT = "data that are compared are also read as equal"
FEW = (2, 1)  # positions of every axis: all choices have to fall right at once
ORDERS = (Fn.LT, Fn.LE, Fn.EQ)


def compares_data(program: Program) -> bool:
    """Whether the program asks for the order of two values that are no whole numbers.

    Guards do not count: what is compared with an infinity, or is asked whether it is 0.
    """
    return any(map(asks_for_order, topo([s.value for s in program.outputs])))


def asks_for_order(node: Node) -> bool:
    """Whether a node compares data, and is no guard."""
    if not isinstance(node, Map) or node.fn not in ORDERS:
        return False
    numbers = {a.value for a in node.args if isinstance(a, Const)}
    guard = not numbers.isdisjoint({INF, -INF}) or (node.fn is Fn.EQ and 0 in numbers)
    return not guard and any(a.kind is Kind.REAL for a in node.args)


def tied_trials(program: Program, graph: KernelGraph) -> Iterator[Trial]:
    """The sizes to try, largest first; none if no data are compared."""
    if compares_data(program):
        for size in FEW:
            sizes = dict.fromkeys(axes_of(program), size) | dict(program.fixed)
            yield trial("ties", graph, sizes, 2, 2)
