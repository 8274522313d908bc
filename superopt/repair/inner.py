"""What repair sees of walks inside walks: the values in which they end are tensors.

A walk reads what its inner walks made for its tile as it reads a tile of memory: it varies along
the walk and never moves. So a repair is derived and proved with such a value as a tensor of its
axes, named after the carry, and holds whatever the inner walk computes, as long as that is finite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from superopt.errors import NoRepair
from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.infinities import Infinities
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import substitute

SUFFIX = ".inner"  # no tensor of a user's has a dot in its name


def seen(block: BlockGraph) -> BlockGraph:
    """``block`` with tensors for the values of inner walks.

    Raises:
        NoRepair: an inner walk may end in something that is not finite.
    """
    inner = _inner(block)
    specials = Infinities(block)
    for carry in inner:
        if specials.of(carry.state):
            raise NoRepair(f"{carry.name} of a walk inside a walk may be infinite or undefined")
    return _replaced(block, {c.state: tensor(c) for c in inner})


def restored(block: BlockGraph) -> BlockGraph:
    """The opposite of ``seen``."""
    return _replaced(block, {tensor(c): c.state for c in _inner(block)})


def tensor(carry: Carry) -> Input:
    """What stands for the final value of a ``carry`` of an inner walk."""
    dtype = "fp32" if carry.state.kind is Kind.REAL else "int64"
    return Input(f"{carry.name}{SUFFIX}", carry.over, dtype)


def _inner(block: BlockGraph) -> list[Carry]:
    return [c for walk in block.nest if walk not in block.walks for c in walk.carries]


def _replaced(block: BlockGraph, by: Mapping[Node, Node]) -> BlockGraph:
    """``block`` with nodes replaced in all walks that are in no other; stores behind the walks
    cannot read what varies along one."""
    if not by:
        return block
    return replace(block, walks=tuple(_walk(w, by) for w in block.walks))


def _walk(walk: Walk, by: Mapping[Node, Node]) -> Walk:
    return replace(
        walk,
        carries=tuple(_carry(c, by) for c in walk.carries),
        stores=tuple(_store(s, by) for s in walk.stores),
    )


def _carry(carry: Carry, by: Mapping[Node, Node]) -> Carry:
    moves = tuple(Move(m.source, substitute(m.factor, by)) for m in carry.moves)
    return replace(carry, term=substitute(carry.term, by), moves=moves)


def _store(store: Store, by: Mapping[Node, Node]) -> Store:
    return replace(store, value=substitute(store.value, by))
