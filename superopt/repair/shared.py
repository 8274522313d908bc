"""Components that are kept already, and the normal form in which that is seen.

A basis read off a term has the term's own masks and exponentials in another spelling, so that a
sum which the walk has anyway may look like a new one. In normal form two components that start
alike, absorb alike and move alike are one node by one node the same, and one of them is enough.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from superopt.repair.record import Guard
from superopt.repair.span import ANY
from superopt.repair.span import Span
from superopt.repair.span import at
from superopt.repair.span import span
from superopt.ugraph.carry import Carry
from superopt.ugraph.node import ONE
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import transform

LOG2E = Named(Constant.LOG2E)


def normal(term: Node, known: Mapping[Node, Span], like: Iterable[Node]) -> Node:
    """``term`` without choices that choose nothing, its exponentials spelled as those in ``like``.

    ``known``: spans of states. A choice ``where(u == c, v, e)`` is ``e`` if ``e`` is ``v`` wherever
    ``u`` is ``c``: a mask is not needed where an exponential vanishes by itself. The mask of a
    product goes to the factor that needs it; the product meets the sum in one multiply-add. What
    ``like`` divides by something is divided by it here, too, and not the whole product: numbers
    that cancel have to be rounded alike.
    """
    like = tuple(like)
    spelled = _spellings(like)
    quotients = {n for n in topo(like) if isinstance(n, Map) and n.fn is Fn.DIV}

    def change(node: Node) -> Node:
        match node:
            case Map(fn=Fn.EXP) if node in spelled:
                return spelled[node]
            case Map(fn=Fn.DIV, args=(above, below)) if node not in quotients:
                return _divided(above, below, quotients) or node
            case (
                Map(fn=Fn.MUL, args=(Map(fn=Fn.WHERE, args=(c, then, one)), rest))
                | Map(fn=Fn.MUL, args=(rest, Map(fn=Fn.WHERE, args=(c, then, one))))
            ) if then is ZERO and one is ONE:
                return rest if _is(rest, ZERO, c, known) else node
            case Map(fn=Fn.WHERE, args=(c, Const() as then, otherwise)):
                if _is(otherwise, then, c, known):
                    return otherwise
                return _masked_factor(c, then, otherwise, known) or node
            case _:
                return node

    return transform([term], change)[term]


def _divided(product: Node, below: Node, quotients: Collection[Node]) -> Node | None:
    """The quotient of a product as a product with one of ``quotients``; None if there is none."""
    if not isinstance(product, Map) or product.fn is not Fn.MUL:
        return None
    for place, factor in enumerate(product.args):
        quotient: Node | None = Map(Fn.DIV, (factor, below))
        if quotient not in quotients:
            quotient = _divided(factor, below, quotients)
        if quotient is not None:
            both = (quotient, product.args[1]) if place == 0 else (product.args[0], quotient)
            return Map(Fn.MUL, both)
    return None


def _masked_factor(
    condition: Node, then: Const, product: Node, known: Mapping[Node, Span]
) -> Node | None:
    """``where(condition, 0, a * b)`` as a product, if one factor is not finite under it."""
    if then is not ZERO or not isinstance(product, Map) or product.fn is not Fn.MUL:
        return None
    wild = [not _where(condition, a, known).finite for a in product.args]
    if sum(wild) != 1:
        return None
    masked = (
        Map(Fn.WHERE, (condition, then, a)) if w else a
        for a, w in zip(product.args, wild, strict=True)
    )
    return Map(Fn.MUL, tuple(masked))


def _is(node: Node, value: Const, condition: Node, known: Mapping[Node, Span]) -> bool:
    """Whether ``node`` is ``value`` wherever ``condition`` holds."""
    return _where(condition, node, known).point == value.value


def _where(condition: Node, node: Node, known: Mapping[Node, Span]) -> Span:
    """The values of ``node`` where ``condition`` holds, as far as that is a comparison with a
    constant."""
    match condition:
        case (
            Map(fn=Fn.EQ, args=(seen, Const(value=c))) | Map(fn=Fn.EQ, args=(Const(value=c), seen))
        ):
            return span(node, {**known, seen: at(c)})
        case _:
            return ANY


def _spellings(like: Iterable[Node]) -> dict[Node, Node]:
    """Natural exponentials by their spelling as powers of two among ``like``."""
    found: dict[Node, Node] = {}
    for node in topo(like):
        match node:
            case Map(fn=Fn.EXP2, args=(Map(fn=Fn.MUL, args=(a, b)),)) if LOG2E in (a, b):
                found[Map(Fn.EXP, (b if a is LOG2E else a,))] = node
    return found


def shared(
    components: Sequence[Carry], guards: Sequence[Guard], standing: Sequence[Carry]
) -> tuple[tuple[Carry, ...], tuple[Guard, ...]]:
    """``components`` with those of ``standing`` in the place of equal ones, and the guards under
    these names."""
    kept, names = list(components), dict[str, str]()
    for i, component in enumerate(components):
        if same := next((c for c in standing if _equal(component, c)), None):
            names[component.name] = same.name
            kept[i] = same
    return (
        tuple(_renamed(c, names) for c in kept),
        tuple(replace(g, component=names.get(g.component, g.component)) for g in guards),
    )


def _equal(new: Carry, old: Carry) -> bool:
    """Whether both start, absorb and move alike, each by itself alone."""
    alone = all(m.source == c.name for c in (new, old) for m in c.moves)
    mine = _renamed(new, {new.name: old.name})
    return alone and replace(mine, name=old.name) == old


def _renamed(carry: Carry, names: Mapping[str, str]) -> Carry:
    moves = (replace(m, source=names.get(m.source, m.source)) for m in carry.moves)
    return replace(carry, moves=tuple(moves))
