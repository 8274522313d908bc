"""Kernel graphs with one thing changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from superopt.mutate.graph import OTHER
from superopt.mutate.graph import changed_nodes
from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn

Mutant = tuple[str, KernelGraph]


def mutants(graph: KernelGraph) -> Iterator[Mutant]:
    """Every single change, with a description."""
    for number, block in enumerate(graph.kernels):
        for what, changed in _blocks(block):
            kernels = (*graph.kernels[:number], changed, *graph.kernels[number + 1 :])
            yield what, replace(graph, kernels=kernels)


def _blocks(block: BlockGraph) -> Iterator[tuple[str, BlockGraph]]:
    for i, walk in enumerate(block.walks):
        for what, changed in _walks(walk):
            yield (
                f"walk {i}: {what}",
                replace(block, walks=(*block.walks[:i], changed, *block.walks[i + 1 :])),
            )
    for i, store in enumerate(block.stores):
        for what, value in changed_nodes(store.value):
            stores = (*block.stores[:i], replace(store, value=value), *block.stores[i + 1 :])
            yield f"store {store.name}: {what}", replace(block, stores=stores)


def _walks(walk: Walk) -> Iterator[tuple[str, Walk]]:
    for i, carry in enumerate(walk.carries):
        for what, changed in _carries(carry):
            carries = (*walk.carries[:i], changed, *walk.carries[i + 1 :])
            yield f"carry {carry.name}: {what}", replace(walk, carries=carries)
    for i, store in enumerate(walk.stores):
        for what, value in changed_nodes(store.value):
            stores = (*walk.stores[:i], replace(store, value=value), *walk.stores[i + 1 :])
            yield f"store {store.name}: {what}", replace(walk, stores=stores)
    for i, bound in enumerate(walk.stop):
        for step in (-1, 1):
            moved = Bound(bound.terms, Map(Fn.ADD, (bound.offset, Const(Fraction(step)))))
            yield (
                f"stop {step:+d}",
                replace(walk, stop=(*walk.stop[:i], moved, *walk.stop[i + 1 :])),
            )
    if walk.stop:
        yield "no stop", replace(walk, stop=())


def _carries(carry: Carry) -> Iterator[tuple[str, Carry]]:
    for what, term in changed_nodes(carry.term):
        yield f"term: {what}", replace(carry, term=term)
    for fold in OTHER.get(carry.fold, ()):
        if fold.is_fold:
            yield f"fold {fold.symbol}", replace(carry, fold=fold)
    if carry.moves:
        yield "no moves", replace(carry, moves=())
    for i, move in enumerate(carry.moves):
        for what, factor in changed_nodes(move.factor):
            moves = (*carry.moves[:i], replace(move, factor=factor), *carry.moves[i + 1 :])
            yield f"move: {what}", replace(carry, moves=moves)
