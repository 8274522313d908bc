"""How far a sum that is kept about an extremum has grown: what its logarithm may be used for.

A sum of terms that are never negative, moved by an exponential, obeys
``S.old * exp(d) <= S``. If a position at the extremum itself adds at least 1 (as in a softmax:
``exp(0)``), then ``1 <= S`` as soon as anything was absorbed: the position that attains the
extremum has been, and no move made its term smaller than it is at the extremum.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace

from superopt.repair.guard import EXTREMA
from superopt.repair.guard import Regions
from superopt.repair.span import span
from superopt.ugraph.carry import Carry
from superopt.ugraph.node import ONE
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.verify.reals.smt import RLIMIT
from superopt.verify.reals.smt import prove_implies
from superopt.verify.verdict import Proved


@dataclass(frozen=True)
class Growth:
    """A sum ``carry`` about the extremum ``about``: ``S.old * exp(shift) <= S``, and ``1 <= S``.

    Both hold once something was absorbed, that is where the extremum is not its unit.
    """

    carry: Carry
    about: Carry
    shift: Node

    @property
    def empty(self) -> Node:
        """Nothing was absorbed so far, by the old state."""
        return Map(Fn.EQ, (self.about.old, Const(self.about.fold.unit)))

    def facts(self, before: State, after: State, shift: Node) -> Iterator[Node]:
        """What holds of the sum at two times, ``shift`` between them."""
        yield Map(Fn.LE, (ONE, before))
        yield Map(Fn.LE, (ONE, after))
        moved = Map(Fn.ADD, (Map(Fn.LOG, (before,)), shift))
        yield Map(Fn.LE, (moved, Map(Fn.LOG, (after,))))

    def over_a_tile(self) -> Iterator[Node]:
        """From the old to the new states."""
        return self.facts(self.carry.old, self.carry.state, self.shift)

    def afterwards(self) -> tuple[dict[Node, Node], list[Node]]:
        """Names for the states later in the walk, and what holds from the new ones to them."""
        s, q = (_later(c.state) for c in (self.carry, self.about))
        times: dict[Node, Node] = {self.about.old: self.about.state, self.about.state: q}
        shift = substitute(self.shift, times)
        return {self.carry.state: s}, list(self.facts(self.carry.state, s, shift))


def _later(state: State) -> State:
    """A state of a later time of the same walk."""
    return replace(state, carry=f"{state.carry}.later")


def growths(producers: Iterable[Carry], regions: Regions, rlimit: int = RLIMIT) -> Iterator[Growth]:
    """The sums among ``producers`` that are known to grow."""
    carries = list(producers)
    for carry in carries:
        if carry.fold is not Fn.ADD or carry.action is not Fn.MUL:
            continue
        if not span(carry.term, regions.regular).nonnegative:
            continue
        for about in carries:
            if about.fold not in EXTREMA or about.moves or len(carry.moves) != 1:
                continue
            (move,) = carry.moves
            shift = _exponent(move.factor, Map(Fn.EQ, (about.old, Const(about.fold.unit))))
            if move.source == carry.name and shift and _attained(carry, about, rlimit):
                yield Growth(carry, about, shift)


def _exponent(factor: Node, empty: Node) -> Node | None:
    """What is exponentiated in a move that is 1 where nothing was absorbed."""
    match factor:
        case Map(fn=Fn.WHERE, args=(condition, one, Map(fn=Fn.EXP, args=(shift,)))) if (
            condition is empty and one is ONE
        ):
            return shift
        case Map(fn=Fn.EXP, args=(shift,)):
            return shift
        case _:
            return None


def _attained(carry: Carry, about: Carry, rlimit: int) -> bool:
    """Whether a position at the extremum adds at least 1."""
    if about.term not in topo([carry.term]):
        return False
    there = substitute(carry.term, {about.term: about.state})
    off = Map(Fn.NOT, (Map(Fn.EQ, (about.state, Const(about.fold.unit))),))
    ends = (about.state,)
    low, high = (ends, ()) if about.fold is Fn.MAX else ((), ends)
    claim = Map(Fn.LE, (ONE, there))
    return isinstance(prove_implies((off,), claim, rlimit, lowest=low, highest=high), Proved)
