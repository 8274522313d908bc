"""Walks with tiles in which masks hide nothing: which these are, and what is left to do there.

A causal walk meets the diagonal in its last tiles only; before them ``where(n <= m, s, -inf)``
is ``s``. ``cleared`` finds limits within which conditions hold for every row of a program's
tile (``levels.Clear``), and ``unmasked`` is the walk as it runs there. That the conditions do
hold is exported as ``ClearClaim``s, so that it can be proved by other means.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace

from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Clear
from superopt.ugraph.levels import Walk
from superopt.ugraph.limits import Key
from superopt.ugraph.limits import Limits
from superopt.ugraph.limits import bounds
from superopt.ugraph.live import Condition
from superopt.ugraph.live import both
from superopt.ugraph.live import either
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scans import in_order
from superopt.ugraph.scans import roots
from superopt.ugraph.scans import running
from superopt.ugraph.walk import children
from superopt.ugraph.walk import rebuild
from superopt.ugraph.walk import topo

LEAST = 16  # positions of the shortest tile that is worth a loop of its own


@dataclass(frozen=True)
class ClearClaim:
    """At every position on ``axis`` within all of ``start`` and ``stop``, ``condition`` holds."""

    axis: str
    condition: Node
    start: tuple[Bound, ...]
    stop: tuple[Bound, ...]


def clear_claims(block: BlockGraph) -> tuple[ClearClaim, ...]:
    """What must hold for the conditions that ``block`` drops, whoever has dropped them."""
    return tuple(
        ClearClaim(w.axis, condition, w.clear.start, w.clear.stop)
        for w in block.nest
        if w.clear is not None
        for condition in w.clear.conditions
    )


def cleared(block: BlockGraph, ragged: Collection[str] = ()) -> BlockGraph:
    """``block`` with a clear part in every walk whose masks have one.

    ``ragged``: axes that tiles seldom divide. A walk over such an axis has one in any case: it is
    only in its last tile that lanes have to be masked.
    """
    return replace(block, walks=tuple(_nest(block, walk, ragged) for walk in block.walks))


def _nest(block: BlockGraph, walk: Walk, ragged: Collection[str]) -> Walk:
    """``walk`` with a clear part, and its inner walks with those that remainders ask for."""
    inner = tuple(replace(w, clear=Clear() if w.axis in ragged else None) for w in walk.inner)
    return replace(_cleared(block, walk, ragged), inner=inner)


def _cleared(block: BlockGraph, walk: Walk, ragged: Collection[str]) -> Walk:
    if any(c.stepwise for c in walk.carries):
        return replace(walk, clear=None)  # a tile of one position has no lanes to mask
    without = replace(walk, clear=Clear() if walk.axis in ragged else None)
    if running(walk) and walk.start:
        return replace(walk, clear=None)  # what lies before clear tiles would come behind them
    known = Limits(block, walk.axis)
    conditions: list[Node] = []
    limits: dict[Key, int] = {}
    for condition in dict.fromkeys(_asked(walk)):
        found = known.assured(condition) if walk.axis in condition.axes else None
        if found is None:
            continue
        conditions.append(condition)
        for key, constant in found.items():
            tighter = max if key[0] == "start" else min
            limits[key] = tighter(constant, limits.get(key, constant))
    if not conditions or _always_short(limits):
        return without
    ends = bounds(limits, walk.axis)
    marked = replace(walk, clear=Clear(tuple(conditions), ends["start"], ends["stop"]))
    if running(walk) and not in_order(marked):
        return without
    return marked if masked(marked) else without


def _asked(walk: Walk) -> Iterator[Node]:
    """The conditions of all masks, in order; a conjunction is as many conditions."""
    for node in topo(roots(walk)):
        if isinstance(node, Map) and node.fn is Fn.WHERE:
            yield from _conjuncts(node.args[0])


def _conjuncts(condition: Node) -> Iterator[Node]:
    if isinstance(condition, Map) and condition.fn is Fn.AND:
        for part in condition.args:
            yield from _conjuncts(part)
    else:
        yield condition


def _always_short(limits: dict[Key, int]) -> bool:
    """Whether limits that differ in a number only leave less than a tile between them."""
    return any(
        side == "start" and limits.get(("stop", axes, symbols), first + LEAST) - first < LEAST
        for (side, axes, symbols), first in limits.items()
    )


def unmasked(walk: Walk) -> Walk:
    """``walk`` as it runs on clear tiles: without its ``clear``, and without what that says.

    A condition stays where a value would change its kind without it, or no longer vary over
    the axis walked.
    """
    new = _without(walk)

    def value(node: Node) -> Node:
        found = new[node]
        return found if isinstance(found, Node) and walk.axis in found.axes else node

    def carry(one: Carry) -> Carry:
        return replace(one, term=value(one.term))

    return replace(
        walk,
        carries=tuple(carry(c) for c in walk.carries),
        stores=tuple(replace(s, value=value(s.value)) for s in walk.stores),
        clear=None,
    )


def masked(walk: Walk) -> frozenset[Node]:
    """The nodes of ``walk`` that are not computed on clear tiles."""
    new = _without(walk)
    kept: set[Node] = set()
    for root, simpler in zip(roots(walk), roots(unmasked(walk)), strict=True):
        if root is simpler:
            kept.update(topo([root]))
    stack = [root for root in roots(walk) if root not in kept]
    while stack:
        node = stack.pop()
        if node in kept or isinstance(new[node], bool):
            continue
        arms = [c for c in children(node) if new[c] is new[node]]
        if arms and _settled(node, new):
            stack += arms
        else:
            kept.add(node)
            stack += children(node)
    return frozenset(n for n in topo(roots(walk)) if n not in kept)


def _settled(node: Node, new: dict[Node, Condition]) -> bool:
    """Whether a truth value below ``node`` decided which argument it is."""
    return any(isinstance(new[c], bool) for c in children(node))


def _without(walk: Walk) -> dict[Node, Condition]:
    """Every node of the walk without the conditions of its ``clear``, which are true."""
    return without(roots(walk), walk.clear.conditions if walk.clear else ())


def without(roots: Iterable[Node], conditions: Iterable[Node]) -> dict[Node, Condition]:
    """Every node below ``roots`` as it is where ``conditions`` are true."""
    new: dict[Node, Condition] = {}
    true = frozenset(conditions)
    for node in topo(roots):
        new[node] = True if node in true else _simpler(node, new)
    return new


def _simpler(node: Node, new: dict[Node, Condition]) -> Condition:
    parts = [new[c] for c in children(node)]
    match node:
        case Map(fn=Fn.NOT) if isinstance(parts[0], bool):
            return not parts[0]
        case Map(fn=Fn.AND) if any(isinstance(p, bool) for p in parts):
            return both(*parts)
        case Map(fn=Fn.OR) if any(isinstance(p, bool) for p in parts):
            return either(*parts)
        case Map(fn=Fn.WHERE) if isinstance(parts[0], bool):
            arm = parts[1] if parts[0] else parts[2]
            if isinstance(arm, bool) or arm.kind is node.kind:
                return arm
    return _rebuilt(node, parts)


def _rebuilt(node: Node, parts: Iterable[Condition]) -> Node:
    """``node`` with its new parts; a part that became a truth value stays what it was."""
    old = children(node)
    kept = tuple(b if isinstance(b, Node) else a for a, b in zip(old, parts, strict=True))
    if isinstance(node, Reduce | Scan) and node.axis not in kept[0].axes:
        return node
    return node if kept == old else rebuild(node, kept)
