"""Which of two forms is better, before anything is known of kernels.

``passes``: a lower bound on how often an axis must be walked, which is the depth of dependent
folds over one axis (storing a value that varies over the axis and depends on a fold over it
is one more). ``work``: scalar operations, a matrix product's at the rate of matrix units.
``read``: elements of inputs, counted once a pass in which they are needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from superopt.ugraph.levels import Program
from superopt.ugraph.node import Best
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.recurrence import operations
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import users

DEFAULT_SIZE = 1024
SPECIAL = 8.0  # ordinary operations in the time of one of the special function unit
MATRIX = 1 / 32  # the same for one multiply-add of a matrix unit
BEST = 8.0  # the same for a candidate of a list of the best
SCAN = 12.0  # the same for the steps of a scan, which doubles its reach with each of them


@dataclass(frozen=True, order=True)
class Rank:
    """Smaller is better, in this order."""

    passes: int
    work: float
    read: float


@dataclass(frozen=True)
class Sizes:
    """Representative sizes of axes; unknown ones have the default."""

    known: Mapping[str, int]

    def __call__(self, axes: Sequence[str]) -> float:
        """The number of positions on ``axes`` together."""
        return float(prod(self.known.get(a, DEFAULT_SIZE) for a in axes))


def rank(program: Program, elements: Sizes) -> Rank:
    """The exact rank of a program as it is shared (a directed acyclic graph, not a tree)."""
    roots = [s.value for s in program.outputs]
    order = topo(roots)
    depth = depths(order)
    return Rank(_passes(roots, depth), _work(roots, order, elements), _read(roots, order, elements))


def depths(order: Sequence[Node]) -> dict[Node, dict[str, int]]:
    """For every node: axis -> the longest chain of dependent folds over it."""
    found: dict[Node, dict[str, int]] = {}
    for node in order:
        here: dict[str, int] = {}
        for child in children(node):
            for axis, count in found[child].items():
                here[axis] = max(here.get(axis, 0), count)
        match node:
            case Reduce(axis=axis) | Best(axis=axis) | Recur(axis=axis, last=True):
                here[axis] = here.get(axis, 0) + 1
        found[node] = here
    return found


def _passes(roots: Sequence[Node], depth: Mapping[Node, Mapping[str, int]]) -> int:
    """The largest number of walks over one axis."""
    found = 1
    for root in roots:
        for axis, count in depth[root].items():
            found = max(found, count + (axis in root.axes))
    return found


def contraction(node: Node) -> tuple[Node, Node] | None:
    """The operands if the node is a fold of a product that a matrix unit can compute."""
    match node:
        case Reduce(fn=Fn.ADD, axis=axis, arg=Map(fn=Fn.MUL, args=(a, b))):
            both = axis in a.axes and axis in b.axes
            left = set(a.axes) - set(b.axes)
            right = set(b.axes) - set(a.axes)
            return (a, b) if both and left and right else None
        case _:
            return None


def _work(roots: Sequence[Node], order: Sequence[Node], elements: Sizes) -> float:
    readers = users(roots)
    found = 0.0
    inside = {
        n.arg
        for n in order
        if isinstance(n, Reduce) and contraction(n) is not None and len(readers[n.arg]) == 1
    }
    for node in order:
        if node in inside:
            continue
        match node:
            case Reduce(arg=arg) if arg in inside:
                found += MATRIX * elements(arg.axes)
            case Reduce(arg=arg):
                found += elements(arg.axes)
            case Best(args=args):
                found += BEST * elements(_axes(args))
            case Scan(arg=arg):
                found += SCAN * elements(arg.axes)
            case Recur(axis=axis):
                found += operations(order, node) * elements((axis, *node.state))
            case Map(fn=fn, args=args):
                cost = fn.value.plain + SPECIAL * fn.value.special
                if _fused(node, readers):
                    cost = 0.0
                elif fn is Fn.DIV and len(args[1].axes) < len(node.axes):
                    # One reciprocal for each denominator, then a product.
                    found += SPECIAL * elements(args[1].axes)
                    cost = 1.0
                found += cost * elements(node.axes)
            case _:
                pass
    return found


def _axes(nodes: Sequence[Node]) -> list[str]:
    return list(dict.fromkeys(a for n in nodes for a in n.axes))


def _fused(node: Map, readers: Mapping[Node, list[Node]]) -> bool:
    """A product whose only readers are sums of its shape: one multiply-add."""
    if node.fn is not Fn.MUL or not readers[node]:
        return False
    return all(
        (isinstance(r, Map) and r.fn in (Fn.ADD, Fn.SUB) and r.axes == node.axes)
        or (isinstance(r, Reduce) and r.fn is Fn.ADD)
        for r in readers[node]
    )


def _read(roots: Sequence[Node], order: Sequence[Node], elements: Sizes) -> float:
    """Elements of inputs, each counted once for every level of folds that reads it."""
    level: dict[Node, int] = {}
    needed: dict[Node, dict[Node, None]] = {}  # the inputs that are read outside of folds
    seen: dict[tuple[Node, int], None] = {}
    for node in order:
        parts = children(node)
        level[node] = max((level[c] for c in parts), default=0)
        needed[node] = {i: None for c in parts for i in needed[c]}
        if isinstance(node, Input | Index):
            needed[node] = {node: None}
        if isinstance(node, Reduce | Best) or (isinstance(node, Recur) and node.last):
            level[node] += 1
            seen |= {(i, level[node]): None for i in needed[node]}
            needed[node] = {}
    last = max((level[r] for r in roots), default=0) + 1
    for root in roots:
        seen |= {(i, last): None for i in needed[root]}
    return sum(elements(i.axes) for i, _ in seen if isinstance(i, Input))
