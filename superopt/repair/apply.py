"""Puts repairs into a fused block graph: premature carries become components with moves."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from superopt.errors import NoRepair
from superopt.repair.derive import derive
from superopt.repair.record import Repair
from superopt.repair.record import states
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Carry
from superopt.ugraph.levels import Move
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Node
from superopt.ugraph.walk import substitute


def repair(block: BlockGraph) -> tuple[BlockGraph, tuple[Repair, ...]]:
    """``block`` with every premature carry repaired, and the records in order.

    A term that later walks or stores read as well is recomputed there from final states: block
    graphs hold expressions, so no stale value can be read.

    Raises:
        NoRepair: a premature carry has no repair; the message names the term.
    """
    done: list[Repair] = []
    final: dict[Node, Node] = {}  # a carry's state -> its value over its components
    walks: list[Walk] = []
    known: list[Carry] = []
    for walk in block.walks:
        split = isinstance(block.place.get(walk.axis), Split)
        carries, meanings = _repaired(walk, final, done, known, split)
        known += meanings
        walks.append(
            replace(walk, carries=carries, stores=tuple(_store(s, final) for s in walk.stores))
        )
    if not done:
        return block, ()
    stores = tuple(_store(s, final) for s in block.stores)
    return replace(block, walks=tuple(walks), stores=stores), tuple(done)


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
            found = derive(now, walk.axis, meanings, standing, known, split)
        except NoRepair as error:
            error.carry = carry.name
            raise
        done.append(found)
        if found.finalise is not now.state:
            final[now.state] = found.finalise
        _extend(meanings, [*found.helpers, *_meanings(found)])
        _extend(standing, [*found.helpers, *found.components])
    return tuple(standing), meanings


def _extend(carries: list[Carry], more: Sequence[Carry]) -> None:
    """Appends the carries that are new; a repair may share a plain one that stands already."""
    for carry in more:
        if all(c.name != carry.name for c in carries):
            carries.append(carry)


def _meanings(found: Repair) -> list[Carry]:
    """The components as the folds that they stand for: the first is the carry itself."""
    if found.deferred:
        return list(found.components)
    first, *others = found.components
    return [replace(first, term=found.term, moves=()), *(replace(c, moves=()) for c in others)]


def _store(store: Store, final: Mapping[Node, Node]) -> Store:
    return replace(store, value=substitute(store.value, final))
