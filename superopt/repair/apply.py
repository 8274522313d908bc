"""Puts repairs into a fused block graph: premature carries become components with moves."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from superopt.errors import NoRepair
from superopt.repair.derive import derive
from superopt.repair.inner import restored
from superopt.repair.inner import seen
from superopt.repair.record import Repair
from superopt.repair.record import states
from superopt.repair.record import words
from superopt.repair.shift import relative
from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Node
from superopt.ugraph.walk import substitute


def repair(block: BlockGraph) -> tuple[BlockGraph, tuple[Repair, ...]]:
    """``block`` with every premature carry repaired, and the records in order; in these a value of
    an inner walk is a tensor (``inner.seen``).

    A term that later walks or stores read as well is recomputed there from final states: block
    graphs hold expressions, so no stale value can be read.

    Raises:
        NoRepair: a premature carry has no repair, or a part of a split walk would have to know
            what comes before it; the message names the term.
    """
    done: list[Repair] = []
    final: dict[Node, Node] = {}  # a carry's state -> its value over its components
    walks: list[Walk] = []
    known: list[Carry] = []
    for walk in seen(block).walks if any(_premature(w) for w in block.walks) else ():
        split = isinstance(block.place.get(walk.axis), Split)
        carries, meanings = _repaired(walk, final, done, known, split)
        known += meanings
        inner = tuple(_inner(w, final) for w in walk.inner)
        known_stores = tuple(_store(s, final) for s in walk.stores)
        walks.append(replace(walk, carries=carries, stores=known_stores, inner=inner))
    if done:
        stores = tuple(_store(s, final) for s in block.stores)
        block = restored(replace(block, walks=tuple(walks), stores=stores))
    for walk in block.walks:
        if isinstance(block.place.get(walk.axis), Split):
            relative(walk.carries, walk.axis)
    return block, tuple(done)


def _premature(walk: Walk) -> bool:
    """Whether some carry reads what the walk has not finished."""
    return any(
        not c.moves and not states(c.term).keys().isdisjoint(walk.components) for c in walk.carries
    )


def _inner(walk: Walk, final: Mapping[Node, Node]) -> Walk:
    return replace(
        walk,
        carries=tuple(replace(c, term=substitute(c.term, final)) for c in walk.carries),
        inner=tuple(_inner(w, final) for w in walk.inner),
    )


def _repaired(
    walk: Walk,
    final: dict[Node, Node],
    done: list[Repair],
    known: Sequence[Carry],
    split: bool,
) -> tuple[tuple[Carry, ...], list[Carry]]:
    """The carries of a walk as they are computed, and with terms that say what they mean."""
    meanings: list[Carry] = []
    standing: list[Carry] = []
    for carry in walk.carries:
        now = replace(
            carry,
            term=substitute(carry.term, final),
            moves=tuple(Move(m.source, substitute(m.factor, final)) for m in carry.moves),
        )
        mine = {c.name for c in standing}
        if now.moves or mine.isdisjoint(states(now.term)):
            meanings.append(now)
            standing.append(now)
            continue
        try:
            _refuse_lists(now, standing)
            plain = [[c for c in some if c.listed is None] for some in (meanings, standing, known)]
            found = derive(now, walk.axis, plain[0], plain[1], plain[2], split)
        except NoRepair as error:
            error.carry = carry.name
            raise
        done.append(found)
        if found.finalise is not now.state:
            final[now.state] = found.finalise
        _extend(meanings, [*found.helpers, *_meanings(found)])
        _extend(standing, [*found.helpers, *found.components])
    return tuple(standing), meanings


def _refuse_lists(carry: Carry, standing: Sequence[Carry]) -> None:
    """Raises NoRepair if ``carry`` lists the best of what moves, or reads a list that does."""
    read = states(carry.term)
    if carry.listed is not None and carry.listed.taken:
        raise NoRepair(
            f"{words(carry.term)} goes with the best and follows {min(read)}, which moves while "
            "what it was made for is gone: no law is known"
        )
    if carry.listed is not None:
        raise NoRepair(
            f"the best of {words(carry.term)} are ranked anew when {min(read)} moves: "
            "no law is known"
        )
    for other in standing:
        if other.listed is not None and other.name in read:
            raise NoRepair(
                f"{words(carry.term)} reads the list {other.name}, in which the next tile may "
                "replace anything: no law is known"
            )


def _extend(carries: list[Carry], more: Sequence[Carry]) -> None:
    """Appends the carries that are new; a repair may share a plain one that stands already."""
    for carry in more:
        if all(c.name != carry.name for c in carries):
            carries.append(carry)


def _meanings(found: Repair) -> list[Carry]:
    """The components as the folds that they stand for: the first is the carry itself, if it is
    none of several that make it up."""
    if found.deferred or found.finalise is not found.components[0].state:
        return [replace(c, moves=()) for c in found.components]
    first, *others = found.components
    return [replace(first, term=found.term, moves=()), *(replace(c, moves=()) for c in others)]


def _store(store: Store, final: Mapping[Node, Node]) -> Store:
    return replace(store, value=substitute(store.value, final))
