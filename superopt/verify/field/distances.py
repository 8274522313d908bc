"""Masks by distance at small sizes: their constants made small, in both graphs alike.

A window of 512 hides nothing at the sizes at which graphs are compared, so a wrong one would
show nothing. Whole numbers that positions are compared with are therefore replaced by small
ones, in their order; numbers that differ by little (512 and the 513 of an exclusive limit)
keep their difference.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Clear
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo

NEAR = 2  # numbers that differ by no more keep their difference
COMPARISONS = (Fn.LT, Fn.LE, Fn.EQ)
LINEAR = (Fn.ADD, Fn.SUB, Fn.MAX, Fn.MIN, Fn.ABS)

Change = Callable[[Node], Node]


def shrunk(
    program: Program, graph: KernelGraph, others: Iterable[int] = ()
) -> tuple[Program, KernelGraph, dict[int, int]]:
    """Both with small distances, and which number became which (nothing: none is large).

    ``others``: numbers of elsewhere that are to be replaced consistently.
    """
    roots = [s.value for s in program.outputs]
    offsets: list[Node] = []
    for block in graph.kernels:
        roots += [s.value for s in block.all_stores]
        for walk in block.nest:
            roots += [n for c in walk.carries for n in (c.term, *(m.factor for m in c.moves))]
            offsets += [b.offset for b in walk.limits]
            roots += walk.clear.conditions if walk.clear else ()
    conditions = [n for n in topo(roots) if _by_position(n)]
    found = {abs(c) for node in (*conditions, *offsets) for c in _distances(node)}
    if all(a == b for a, b in _renamed(sorted(found)).items()):
        return program, graph, {}
    small = _renamed(sorted(found.union(others)))
    exact = {n: _changed(n, small) for n in (*conditions, *offsets)}

    def change(node: Node) -> Node:
        return substitute(node, exact)

    outputs = tuple(replace(s, value=change(s.value)) for s in program.outputs)
    kernels = tuple(_block(k, change) for k in graph.kernels)
    return replace(program, outputs=outputs), replace(graph, kernels=kernels), small


def _by_position(node: Node) -> bool:
    if not isinstance(node, Map) or node.fn not in COMPARISONS:
        return False
    whole = all(a.kind is Kind.INT for a in node.args)
    return whole and any(isinstance(n, Index) for n in topo([node]))


def _distances(node: Node) -> Iterator[int]:
    """The whole numbers that are added to positions or compared with them."""
    if isinstance(node, Const) and isinstance(node.value, Fraction):
        yield int(node.value)
    elif isinstance(node, Map) and (node.fn in LINEAR or node.fn in COMPARISONS):
        for child in children(node):
            yield from _distances(child)


def _renamed(numbers: Iterable[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    last, new = 0, 0
    for number in numbers:
        new = new + (number - last if number - last <= NEAR else NEAR)
        found[number] = new
        last = number
    return found


def _changed(node: Node, small: dict[int, int]) -> Node:
    if isinstance(node, Const) and isinstance(node.value, Fraction):
        size = small[abs(int(node.value))]
        return Const(Fraction(size if node.value >= 0 else -size))
    if isinstance(node, Map) and (node.fn in LINEAR or node.fn in COMPARISONS):
        return Map(node.fn, tuple(_changed(a, small) for a in node.args))
    return node


def _block(block: BlockGraph, change: Change) -> BlockGraph:
    walks = tuple(_walk(w, change) for w in block.walks)
    return replace(block, walks=walks, stores=_stores(block.stores, change))


def _walk(walk: Walk, change: Change) -> Walk:
    return replace(
        walk,
        carries=tuple(_carry(c, change) for c in walk.carries),
        stores=_stores(walk.stores, change),
        start=_bounds(walk.start, change),
        stop=_bounds(walk.stop, change),
        clear=walk.clear and _clear(walk.clear, change),
        inner=tuple(_walk(w, change) for w in walk.inner),
    )


def _clear(clear: Clear, change: Change) -> Clear:
    conditions = tuple(change(c) for c in clear.conditions)
    return Clear(conditions, _bounds(clear.start, change), _bounds(clear.stop, change))


def _carry(carry: Carry, change: Change) -> Carry:
    moves = tuple(Move(m.source, change(m.factor)) for m in carry.moves)
    return replace(carry, term=change(carry.term), moves=moves)


def _stores(stores: tuple[Store, ...], change: Change) -> tuple[Store, ...]:
    return tuple(replace(s, value=change(s.value)) for s in stores)


def _bounds(bounds: tuple[Bound, ...], change: Change) -> tuple[Bound, ...]:
    return tuple(replace(b, offset=change(b.offset)) for b in bounds)
