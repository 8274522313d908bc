"""Accumulators of a walk: what is kept from tile to tile, and how it follows what moves it."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
from fractions import Fraction
from functools import reduce

from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind


@dataclass(frozen=True)
class Move:
    """What one old component contributes: ``action(State(source, old), factor)``.

    ``factor`` reads the old and new values of the producers (never the walk's axis).
    """

    source: str
    factor: Node


@dataclass(frozen=True)
class Listed:
    """That a carry keeps a list: the best terms along ``into``, or (``at``) their positions, or
    (``taken``) what goes with them.

    ``of``: the axis whose positions are meant. ``other``: the carry of the same walk that keeps
    the other half of every pair; both are updated from the old halves of both. Of a carry that
    keeps what is ``taken`` it is the one of the values: payloads follow the pairs.
    """

    into: str
    of: str
    other: str
    at: bool = False
    taken: bool = False

    @property
    def axes(self) -> tuple[str, str]:
        """``into`` and ``of``."""
        return self.into, self.of


@dataclass(frozen=True)
class Carry:
    """One accumulator of a walk: a fold over the walk's axis, kept from tile to tile.

    ``term`` is what a tile contributes (folded over the tile); it may read ``State`` (new
    value) of carries earlier in the list, and final values of earlier walks. ``moves`` is
    empty for a plain accumulator, which keeps its old value; a repaired one has a row of the
    change of basis here, and ``action`` says how a factor acts (``MUL`` under ``ADD``;
    ``ADD`` or ``MUL`` under ``MAX`` and ``MIN``). ``listed``: a maximum that is not one value but
    a list of the best (``node.Best``). ``stepwise``: nothing is folded; ``term`` is a recurrence
    (``node.Recur``) that goes on from the old state, and the state is its last value.
    """

    name: str
    over: tuple[str, ...]
    fold: Fn
    term: Node
    moves: tuple[Move, ...] = ()
    action: Fn = Fn.MUL
    listed: Listed | None = None
    stepwise: bool = False

    @property
    def whole(self) -> bool:
        """Whether the state is an integer."""
        if self.listed is not None and not self.listed.taken:
            return self.listed.at
        return self.term.kind is Kind.INT

    @property
    def state(self) -> State:
        """The value after the tile in hand (after the walk: the final value)."""
        return State(self.name, self.over, whole=self.whole)

    @property
    def old(self) -> State:
        """The value before the tile in hand."""
        return State(self.name, self.over, True, self.whole)

    @property
    def unit(self) -> Node:
        """The value before the first tile, the same everywhere."""
        if self.listed is not None and self.listed.taken:
            return Const(Fraction(0))
        return (
            Const(self.fold.unit)
            if self.listed is None or not self.listed.at
            else Size(self.listed.of)
        )

    def best(self, axis: str, pairs: tuple[Node, ...]) -> Best:
        """The best of ``pairs`` (and payloads) along ``axis``, of a carry that keeps a list."""
        assert self.listed is not None
        listed = self.listed
        return Best(axis, listed.into, listed.of, pairs, listed.at, listed.taken)

    def listing(self, axis: str, components: dict[str, Carry]) -> Best:
        """What a tile adds to a list, or to what goes with one."""
        values, _ = self.pair(components)
        payloads = (self.term,) if self.listed is not None and self.listed.taken else ()
        return self.best(axis, (values.term, Index(axis), *payloads))

    def goes_with(self, values: Carry) -> bool:
        """Whether this carry keeps what is taken with the list of ``values``."""
        return self.listed is not None and self.listed.taken and self.listed.other == values.name

    def pair(self, components: dict[str, Carry]) -> tuple[Carry, Carry]:
        """The carries of the values and of the positions of a list."""
        assert self.listed is not None
        other = components[self.listed.other]
        if self.listed.taken:
            return other.pair(components)
        return (other, self) if self.listed.at else (self, other)

    def recurrence(self, last: bool) -> Recur:
        """The recurrence of a stepwise carry: its last state, or all of them."""
        assert isinstance(self.term, Recur)
        return replace(self.term, last=last)

    def kept(self, components: dict[str, Carry]) -> Node:
        """What remains of the old state under the new values of the producers.

        ``components``: the walk's carries by name.
        """
        if not self.moves:
            return self.old
        moved = [Map(self.action, (components[m.source].old, m.factor)) for m in self.moves]
        return reduce(lambda a, b: Map(self.fold, (a, b)), moved)

    def update(self, axis: str, components: dict[str, Carry]) -> Node:
        """The new state: the kept old one folded with the tile's own fold."""
        if self.stepwise:
            return self.recurrence(last=True)
        if self.listed is not None:
            values, places = self.pair(components)
            pairs = (values.old, places.old, values.term, Index(axis))
            payloads = (self.old, self.term) if self.listed.taken else ()
            return self.best(axis, (*pairs, *payloads))
        return Map(self.fold, (self.kept(components), Reduce(self.fold, axis, self.term)))
