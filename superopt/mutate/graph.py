"""Mutants of a kernel graph: one node, carry, move or limit changed."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any
from typing import TypeVar

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import ONE
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
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
T = TypeVar("T")
ANY = Named(Constant.PI)  # fields draw it
NAN = Map(Fn.SUB, (Const(INF), Const(INF)))


@dataclass(frozen=True, eq=False)
class GraphMutant:
    """One change. ``what``: where and how; ``graph``: the graph with it; ``unknown``: the graph
    with what nothing is known of at the node that changes: NaN, and instead of a number any one."""

    kind: str
    what: str
    graph: KernelGraph
    unknown: tuple[KernelGraph, ...] = ()


Remake = Callable[[T], KernelGraph]  # the graph with another part in the place of one


def graph_mutants(graph: KernelGraph) -> Iterator[GraphMutant]:
    """Every single change of a graph, but for folds of one term only, which are all the same."""
    single = {axis for axis, size in graph.fixed if size == 1}
    for where, root, remake in _roots(graph):
        for node in topo([root]):
            if isinstance(node, Reduce) and node.axis in single:
                continue
            for what, other in others(node):
                changed = substitute(root, {node: other})
                if changed.axes != root.axes:
                    continue
                fresh: list[Node] = []
                if node.kind is Kind.REAL:
                    fresh = [Map(Fn.ADD, (node, NAN))]
                if isinstance(node, Const):
                    fresh.append(ANY)
                unknown = tuple(remake(substitute(root, {node: by})) for by in fresh)
                yield GraphMutant(type(node).__name__, f"{where}: {what}", remake(changed), unknown)
    for where, walk, again in _walks(graph):
        for what, other_walk in _walk(walk):
            yield GraphMutant("Walk", f"{where}: {what}", again(other_walk))


def _walks(graph: KernelGraph) -> Iterator[tuple[str, Walk, Remake[Walk]]]:
    """Every walk, inner ones too, and the graph with another one in its place."""
    for number, (block, again) in enumerate(_kernels(graph)):
        yield from _nest(block.walks, f"kernel {number}", _field(block, "walks", again))


def _nest(
    walks: tuple[Walk, ...], where: str, again: Remake[tuple[Walk, ...]]
) -> Iterator[tuple[str, Walk, Remake[Walk]]]:
    for walk, remake in _each(walks, again):
        said = f"{where}, walk of {walk.axis}"
        yield said, walk, remake
        yield from _nest(walk.inner, said, _field(walk, "inner", remake))


def _roots(graph: KernelGraph) -> Iterator[tuple[str, Node, Remake[Node]]]:
    """Every expression, and the graph with another one in its place."""
    for where, walk, again in _walks(graph):
        for carry, remake in _each(walk.carries, _field(walk, "carries", again)):
            yield f"{where}, term of {carry.name}", carry.term, _field(carry, "term", remake)
            for move, moved in _each(carry.moves, _field(carry, "moves", remake)):
                yield f"{where}, move of {carry.name}", move.factor, _field(move, "factor", moved)
        for store, kept in _each(walk.stores, _field(walk, "stores", again)):
            yield f"{where}, store of {store.name}", store.value, _field(store, "value", kept)
    for number, (block, last) in enumerate(_kernels(graph)):
        for store, kept in _each(block.stores, _field(block, "stores", last)):
            said = f"kernel {number}, store of {store.name}"
            yield said, store.value, _field(store, "value", kept)


def _kernels(graph: KernelGraph) -> Iterator[tuple[BlockGraph, Remake[BlockGraph]]]:
    return _each(graph.kernels, lambda kernels: replace(graph, kernels=kernels))


def _each(items: tuple[T, ...], again: Remake[tuple[T, ...]]) -> Iterator[tuple[T, Remake[T]]]:
    """Every item, and the graph with another one in its place. ``again``: with other items."""
    for place, item in enumerate(items):
        yield item, partial(_put, items, place, again)


def _put(items: tuple[T, ...], place: int, again: Remake[tuple[T, ...]], by: T) -> KernelGraph:
    return again(_swapped(items, place, by))


def _field(
    whole: Any, name: str, again: Callable[[Any], KernelGraph]
) -> Callable[[Any], KernelGraph]:
    """The graph with another field ``name`` of ``whole``. ``again``: with another ``whole``."""
    return lambda part: again(replace(whole, **{name: part}))


def _walk(walk: Walk) -> Iterator[tuple[str, Walk]]:
    for i, carry in enumerate(walk.carries):
        for fold in OTHER.get(carry.fold, ()):
            if fold.is_fold and carry.listed is None:  # another list is no graph (``check.py``)
                changed = replace(carry, fold=fold)
                carries = _swapped(walk.carries, i, changed)
                yield f"fold {fold.symbol} of {carry.name}", replace(walk, carries=carries)
        if carry.moves:
            carries = _swapped(walk.carries, i, replace(carry, moves=()))
            yield f"no moves of {carry.name}", replace(walk, carries=carries)
    for i, bound in enumerate(walk.stop):
        for step in (-1, 1):
            moved = Bound(bound.terms, Map(Fn.ADD, (bound.offset, Const(Fraction(step)))))
            yield f"stop {step:+d}", replace(walk, stop=_swapped(walk.stop, i, moved))
    if walk.stop:
        yield "no stop", replace(walk, stop=())
    for i, bound in enumerate(walk.start):
        for step in (-1, 1):
            moved = Bound(bound.terms, Map(Fn.ADD, (bound.offset, Const(Fraction(step)))))
            yield f"start {step:+d}", replace(walk, start=_swapped(walk.start, i, moved))


def _swapped(items: tuple[T, ...], place: int, by: T) -> tuple[T, ...]:
    return (*items[:place], by, *items[place + 1 :])


def changed_nodes(root: Node) -> Iterator[tuple[str, Node]]:
    """An expression with one node changed, of the same axes, and how."""
    for node in topo([root]):
        for what, other in others(node):
            changed = substitute(root, {node: other})
            if changed.axes == root.axes:
                yield what, changed


def others(node: Node) -> Iterator[tuple[str, Node]]:
    """What may stand in the place of a node by mistake."""
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
            yield f"{type(node).__name__} {axis} + 1", Map(Fn.ADD, (node, ONE))
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
