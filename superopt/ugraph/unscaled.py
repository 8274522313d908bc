"""Extrema of scaled values as scaled extrema: ``max(c x) = c max(x)`` for positive ``c``.

A carry that keeps the largest ``c x`` may keep the largest ``x``, if ``c`` is the same along the
walk. Then the scale is applied to one number a row rather than to every element before the
maximum is known, and a difference ``c x - c max(x)`` is one fused operation an element. It is
exact in floats, too: rounding is monotone.
"""

from __future__ import annotations

from dataclasses import replace

from superopt.ugraph.carry import Carry
from superopt.ugraph.contraction import factors
from superopt.ugraph.contraction import product_of
from superopt.ugraph.infinities import Infinities
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import substitute

EXTREMA = (Fn.MAX, Fn.MIN)


def unscaled(block: BlockGraph) -> BlockGraph:
    """``block`` with the scale of every extremum that has one behind it, where it is known to be
    positive and finite, and no walk lies inside another one."""
    if any(walk.inner for walk in block.walks):
        return block
    known = Infinities(block)
    by: dict[Node, Node] = {}
    terms: dict[Carry, Node] = {}
    for walk in block.walks:
        for carry in walk.carries:
            if (found := _scaled(carry, walk.axis, known)) is not None:
                scale, inner = found
                terms[carry] = inner
                by |= {n: _times(n, scale) for n in (carry.state, carry.old)}
                by[carry.term] = _times(inner, scale)
    if not terms:
        return block

    def changed(node: Node) -> Node:
        return substitute(node, by)

    def carry_of(one: Carry) -> Carry:
        moves = tuple(replace(m, factor=changed(m.factor)) for m in one.moves)
        return replace(one, term=terms.get(one) or changed(one.term), moves=moves)

    def walk_of(one: Walk) -> Walk:
        carries, stores = tuple(map(carry_of, one.carries)), tuple(map(store_of, one.stores))
        return replace(one, carries=carries, stores=stores)

    def store_of(one: Store) -> Store:
        return replace(one, value=changed(one.value))

    walks, stores = tuple(map(walk_of, block.walks)), tuple(map(store_of, block.stores))
    return replace(block, walks=walks, stores=stores)


def _scaled(carry: Carry, axis: str, known: Infinities) -> tuple[Node, Node] | None:
    """The scale of what ``carry`` folds, and the rest; None if it has none or is no plain
    extremum."""
    if carry.fold not in EXTREMA or carry.moves or carry.listed is not None:
        return None
    return _split(carry.term, carry, axis, known)


def _split(node: Node, carry: Carry, axis: str, known: Infinities) -> tuple[Node, Node] | None:
    match node:
        case Map(fn=Fn.MUL):
            found = factors(node)
            scales = [f for f in found if axis not in f.axes and _positive(f, known)]
            rest = [f for f in found if f not in scales]
            if scales and rest and set(carry.over) >= {a for s in scales for a in s.axes}:
                return product_of(scales), product_of(rest)
        case Map(fn=Fn.WHERE, args=(condition, value, Const() as masked)):
            if masked is Const(carry.fold.unit) and (inner := _split(value, carry, axis, known)):
                return inner[0], Map(Fn.WHERE, (condition, inner[1], masked))
        case _:
            pass
    return None


def _positive(node: Node, known: Infinities) -> bool:
    return known.positive(node) and not known.of(node)


def _times(node: Node, scale: Node) -> Node:
    return Map(Fn.MUL, (node, scale))
