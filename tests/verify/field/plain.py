"""Kernel graphs that compute an expression in the plainest way, for tests of verification."""

from __future__ import annotations

from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo


def program(*values: Node, name: str = "p") -> Program:
    """A program of some values; parameters are the tensors below them, by name."""
    params = {n.name: n for n in topo(values) if isinstance(n, Input | Scalar)}
    stores = tuple(Store(f"out{i}", v.axes, None, v) for i, v in enumerate(values))
    return Program(name, tuple(params[n] for n in sorted(params)), stores)


def plain(meaning: Program) -> KernelGraph:
    """One kernel that holds every axis whole."""
    axes: dict[str, None] = {}
    for store in meaning.outputs:
        for node in topo([store.value]):
            axes.update(dict.fromkeys(node.axes))
    places: tuple[tuple[str, Place], ...] = tuple((a, Whole()) for a in axes)
    block = BlockGraph(places, (), meaning.outputs)
    names = tuple(s.name for s in meaning.outputs)
    return KernelGraph(meaning.name, meaning.params, names, (block,))


def walked_sum(meaning: Program, axis: str, terms: dict[str, Node], value: Node) -> KernelGraph:
    """One walk of ``axis`` with a plain sum for every term; ``value`` reads their states."""
    (store,) = meaning.outputs
    carries = tuple(
        Carry(name, tuple(a for a in term.axes if a != axis), Fn.ADD, term)
        for name, term in terms.items()
    )
    inner = {a for t in terms.values() for n in topo([t]) for a in n.axes}
    rest = sorted((inner | set(value.axes)) - {axis} - set(store.order))
    places: tuple[tuple[str, Place], ...] = (
        *((a, Grid()) for a in store.order),
        *((a, Whole()) for a in rest),
        (axis, Loop()),
    )
    block = BlockGraph(
        places,
        (Walk(axis, carries),),
        (Store(store.name, store.order, store.dtype, value),),
        tuple(Turn(a) for a in store.order),
    )
    return KernelGraph(meaning.name, meaning.params, (store.name,), (block,))
