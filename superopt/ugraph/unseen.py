"""Elements of tensors that masks by data hide from every row: padding that is marked as such.

What every row masks contributes nothing, whatever memory holds there (``lanes.py``). Where
positions alone say what that is, walks and lanes end before it. Where data say it, as a truth
value for each key, or a length for each of the rows in a tile, the lanes exist: an element that
only has a weight of 0 must not be loaded, or a NaN in it would reach the fold.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from functools import reduce

from superopt.ugraph.lanes import over_whole
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Walk
from superopt.ugraph.limits import Limits
from superopt.ugraph.live import Condition
from superopt.ugraph.live import Live
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.ranges import taken_in
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

Unseen = dict[Input, tuple[Node, ...]]
"""By tensor, conditions on its own axes (and on those of which a program has one position): where
one is false nothing reads the element but a product with 0."""


def unseen(block: BlockGraph, walk: Walk | None = None) -> Unseen:
    """What masks by data hide in ``walk`` of ``block``, by default over axes that are whole."""
    terms = block.roots() if walk is None else [c.term for c in walk.carries]
    if not any(_asks_data(n) for n in topo(terms)):
        return {}
    live = Live(block)
    if walk is None:
        return _hidden(block, over_whole(block, live), terms)
    if walk.stores or walk.inner:
        return {}
    return _hidden(block, {walk.axis: taken_in(walk, live)}, terms)


def everywhere(block: BlockGraph) -> Unseen:
    """The same of all walks, and over whole axes."""
    return reduce(joint, (unseen(block, walk) for walk in block.nest), unseen(block))


def joint(a: Unseen, b: Unseen) -> Unseen:
    """What either hides."""
    every = dict.fromkeys([*a, *b])
    return {t: tuple(dict.fromkeys([*a.get(t, ()), *b.get(t, ())])) for t in every}


def _asks_data(node: Node) -> bool:
    """Whether ``node`` is a choice by data."""
    chosen = node.args[:1] if isinstance(node, Map) and node.fn is Fn.WHERE else ()
    return any(isinstance(n, Input) for n in topo(chosen))


def _hidden(block: BlockGraph, folded: dict[str, Condition], roots: Iterable[Node]) -> Unseen:
    """``folded``: by axis, where some fold over it may take in something else than its unit."""
    roots = list(roots)
    found: dict[Input, dict[Node, None]] = {}
    for axis, condition in folded.items():
        for mask in _conjuncts(condition):
            if not _by_data(block, mask, axis):
                continue
            alone = {a for a, p in block.places if p == Grid(tiled=False)}
            for tensor in _needed(roots, mask):
                if axis in tensor.order and {*mask.axes} <= {*tensor.order} | alone:
                    found.setdefault(tensor, {})[mask] = None
    return {tensor: tuple(masks) for tensor, masks in found.items()}


def _conjuncts(condition: Condition) -> list[Node]:
    """What must hold for ``condition`` to hold."""
    match condition:
        case bool():
            return []
        case Map(fn=Fn.AND, args=(a, b)):
            return list(dict.fromkeys([*_conjuncts(a), *_conjuncts(b)]))
        case Map(fn=Fn.OR, args=(a, b)):
            other = _conjuncts(b)
            return [one for one in _conjuncts(a) if one in other]
        case _:
            return [condition]


def _by_data(block: BlockGraph, mask: Node, axis: str) -> bool:
    """Whether ``mask`` hides positions of ``axis`` that no limit leaves out for all lanes."""
    if axis not in mask.axes or not any(isinstance(n, Input) for n in topo([mask])):
        return False
    alone = all(a == axis or block.place.get(a) == Grid(tiled=False) for a in mask.axes)
    return not (alone and Limits(block, axis).assured(mask))


def _needed(roots: Iterable[Node], mask: Node) -> Iterator[Input]:
    """The tensors that are read where ``mask`` is false, though nothing is taken in there."""
    seen: set[Node] = set(topo([mask]))
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, Input):
            yield node
        match node:
            case Map(fn=Fn.WHERE, args=(condition, then, otherwise)):
                truth = _without(condition, mask)
                stack += [condition] if truth is None else []
                stack += [then] if truth is not False else []
                stack += [otherwise] if truth is not True else []
            case _:
                stack += children(node)


def _without(condition: Node, mask: Node) -> bool | None:
    """What ``condition`` is where ``mask`` is false, if that says so."""
    if condition is mask:
        return False
    match condition:
        case Map(fn=Fn.NOT, args=(inner,)):
            truth = _without(inner, mask)
            return None if truth is None else not truth
        case Map(fn=Fn.AND | Fn.OR as fn, args=args):
            truths = [_without(a, mask) for a in args]
            decides = fn is Fn.OR
            if decides in truths:
                return decides
            return None if None in truths else not decides
        case _:
            return None
