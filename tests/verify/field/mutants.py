"""Kernel graphs with one thing changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Carry
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo

OTHER = {
    Fn.ADD: (Fn.SUB, Fn.MUL),
    Fn.SUB: (Fn.ADD,),
    Fn.MUL: (Fn.ADD, Fn.DIV),
    Fn.DIV: (Fn.MUL,),
    Fn.MAX: (Fn.MIN, Fn.ADD),
    Fn.MIN: (Fn.MAX,),
    Fn.EXP: (Fn.EXP2,),
    Fn.RSQRT: (Fn.SQRT,),
    Fn.LE: (Fn.LT,),
    Fn.LT: (Fn.LE,),
}

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


def changed_nodes(root: Node) -> Iterator[tuple[str, Node]]:
    for node in topo([root]):
        for what, other in others(node):
            changed = substitute(root, {node: other})
            if changed.axes == root.axes:
                yield what, changed


def others(node: Node) -> Iterator[tuple[str, Node]]:
    one = Const(Fraction(1))
    match node:
        case Map():
            yield from _functions(node)
        case Reduce(fn=fn, axis=axis, arg=arg):
            for other in OTHER.get(fn, ()):
                if other.is_fold:
                    yield f"fold {fn.symbol} -> {other.symbol}", Reduce(other, axis, arg)
        case Const(value=Fraction() as value):
            yield f"{value} -> {value + 1}", Const(value + 1)
        case Index(axis=axis) | Size(axis=axis):
            yield f"{type(node).__name__} {axis} + 1", Map(Fn.ADD, (node, one))
        case State(carry=carry, over=over, old=old):
            yield f"state {carry} {'new' if old else 'old'}", State(carry, over, not old)
        case _:
            pass


def _functions(node: Map) -> Iterator[tuple[str, Node]]:
    fn, args = node.fn, node.args
    if fn is Fn.WHERE:
        c, a, b = args
        yield "where: always then", a
        yield "where: always else", b
        yield "where: arms swapped", Map(Fn.WHERE, (c, b, a))
        return
    for other in OTHER.get(fn, ()):
        yield f"{fn.symbol} -> {other.symbol}", Map(other, args)
    if len(args) == 2 and not fn.value.commutative:
        yield f"{fn.symbol}: operands swapped", Map(fn, args[::-1])
    if len(args) == 1 and args[0].kind is not Kind.BOOL:
        yield f"{fn.symbol} dropped", args[0]
