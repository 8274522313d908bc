"""Scans and recurrences in walks: where the prefixes along a walked axis come from.

A walk knows one tile at a time. A scan along its axis is that of the tile, folded onto what came
before: the old state of the carry that folds the same term, which a fold of that term shares. A
recurrence goes on from the old state of the carry whose term it is.
Its value at a position is final when it is computed, so whoever stands in the same walk may read
it at that position, without any repair.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import TypeGuard

from superopt.errors import NoFusion
from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Scan
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

Prefix = Scan | Recur  # a recurrence of which all states are meant
LABEL = {Fn.ADD: "sum", Fn.MUL: "product"}


def roots(walk: Walk) -> list[Node]:
    """What a walk computes per position: terms, then stores."""
    return [*(c.term for c in walk.carries), *(s.value for s in walk.stores)]


def is_prefix(node: Node) -> TypeGuard[Prefix]:
    """Whether ``node`` is a scan, or all states of a recurrence."""
    return isinstance(node, Scan) or (isinstance(node, Recur) and not node.last)


def scans(nodes: Sequence[Node], axis: str) -> list[Prefix]:
    """The scans and recurrences along ``axis`` below ``nodes``, arguments first."""
    return [n for n in topo(nodes) if is_prefix(n) and n.axis == axis]


def running(walk: Walk) -> dict[Node, Carry]:
    """For every scan along the axis of ``walk`` the carry from whose old state it goes on; a scan
    that has none is left out."""
    last = {c.recurrence(last=True): c for c in walk.carries if c.stepwise}
    return behind(roots(walk), walk.axis, walk.carries) | last


def behind(nodes: Sequence[Node], axis: str, carries: Sequence[Carry]) -> dict[Node, Carry]:
    """The same for the scans below ``nodes``, given the carries of their walk."""
    found: dict[Node, Carry] = {}
    for scan in scans(nodes, axis):
        for carry in carries:
            if _goes_on(scan, carry):
                found.setdefault(scan, carry)
    return found


def _goes_on(prefix: Prefix, carry: Carry) -> bool:
    """Whether ``prefix`` goes on from the old state of ``carry``."""
    if isinstance(prefix, Recur):
        return carry.stepwise and carry.term is prefix
    plain = not carry.moves and not carry.stepwise
    return plain and carry.fold is prefix.fn and carry.term is prefix.arg


def acting(walk: Walk) -> dict[str, frozenset[str]]:
    """For every carry those others whose total *acts* on it where parts of the walk are joined.

    What reads the prefixes of a total, or moves with what does, belongs to the whole before it:
    when a part is joined on the right, its state stands at the total of all up to that part.
    """
    found: dict[str, frozenset[str]] = {}
    for carry in walk.carries:
        sources = behind([carry.term], walk.axis, walk.carries).values()
        found[carry.name] = frozenset(c.name for c in sources if c is not carry)
    for _ in walk.carries:
        for carry in walk.carries:
            moved = (found.get(m.source, frozenset()) for m in carry.moves)
            found[carry.name] = found[carry.name].union(*moved)
    return found


def completed(walks: Sequence[Walk], axes: Sequence[str]) -> tuple[Walk, ...]:
    """``walks`` with a carry for every scan that has none, before its first reader.

    ``axes``: in the order of places.

    Raises:
        NoFusion: a scan is of a value that still moves, or stands in a nested walk.
    """
    taken = {c.name for w in walks for one in w.nest for c in one.carries}
    found: list[Walk] = []
    for walk in walks:
        for inner in walk.inner:
            if nested := [n for n in topo(inner.roots()) if is_prefix(n)]:
                raise NoFusion(f"a scan along {nested[0].axis!r} inside a walk within a walk")
        found.append(_completed(walk, axes, taken))
        taken |= set(found[-1].components)
    return tuple(found)


def _completed(walk: Walk, axes: Sequence[str], taken: Collection[str]) -> Walk:
    carries = list(walk.carries)
    names = set(taken)
    known = running(walk)
    for scan in scans(roots(walk), walk.axis):
        below = topo(children(scan))
        if any(isinstance(n, State) and n.carry in walk.components for n in below):
            raise NoFusion(f"a scan along {scan.axis!r} of a value that moves until the walk ends")
        if scan in known:
            continue
        stepwise = isinstance(scan, Recur)
        fold, term = (Fn.ADD, scan) if isinstance(scan, Recur) else (scan.fn, scan.arg)
        label = "state" if stepwise else LABEL.get(fold, fold.symbol)
        name = next(n for i in count() if (n := f"{label}{i}") not in names)
        names.add(name)
        over = tuple(a for a in axes if a in scan.axes and a != scan.axis)
        readers = [i for i, c in enumerate(carries) if scan in topo([c.term])]
        carry = Carry(name, over, fold, term, stepwise=stepwise)
        carries.insert(min(readers, default=len(carries)), carry)
    return replace(walk, carries=tuple(carries))


def in_order(walk: Walk) -> bool:
    """Whether the tiles of ``walk`` come in the order of positions, as scans need it.

    Clear tiles come before the others, which changes nothing if all others lie behind them.
    """
    return not walk.reverse and (walk.clear is None or not (walk.start or walk.clear.start))
