"""Obligation 4 of a repair, combination: joining segments is associative and has a unit, component
by component.

Associative: a segment of three is moved to the common producers in one or two moves, which
*composition* says are one, folded by a fold that is associative, over which *endomorphism* lets a
move distribute. (What the producers' own joins are is said by their folds or by their own
repairs.) The unit is shown here on reachable states, where an extremum at its own unit means that
what moves with it is at its own.

Where prefixes of a producer are read, its total *acts*: the right one of two segments stands at the
joined total, the left one moves there. Then joining is not commutative; that it is associative is
shown by itself, and so is that the terms of a segment do not depend on the sum before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from functools import reduce

from superopt.repair.record import words
from superopt.ugraph.carry import Carry
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scans import acting
from superopt.ugraph.scans import behind
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.verify.equality import both
from superopt.verify.standing import Standing
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict


class Combination:
    """Segments of the walk of a repair: what they end in, and how two are joined."""

    def __init__(self, standing: Standing) -> None:
        self.standing = standing
        self.repair = standing.repair
        self.walk = standing.walk
        self.final = standing.final
        self.acting = acting(self.walk)

    def judge(self, composition: Verdict, endomorphism: Verdict) -> Verdict:
        """The obligation, of which two others are parts."""
        acts = {p for c in self.repair.components for p in self.acting[c.name]}
        found = [composition, endomorphism, *self._relative()]
        relative = all(isinstance(v, Proved | Sampled) for v in found[2:])
        if not relative and not self.standing.split:
            return Proved("the walk is in one part, and in order")
        a = self.segment(0)
        units = {c.name: self._unit(c) for c in self._carries()}
        if acts:
            b, last = self.segment(1), self.segment(2)
            left = self.joined(self.joined(a, b), last)
            right = self.joined(a, self.joined(b, last))
            found += [self.same(left[c.name], right[c.name]) for c in self.repair.components]
        for carry in self.repair.components:
            for joined in (self.joined(units, a), self.joined(a, units)):
                found.append(self.same(joined[carry.name], a[carry.name]))
        return both(found)

    def _relative(self) -> Iterator[Verdict]:
        """A part knows its prefixes but for the sum before it, which changes no term."""
        for carry in self.repair.components:
            by: dict[Node, Node] = {}
            for scan, p in behind([carry.term], self.walk.axis, self.walk.carries).items():
                before = State(f"{p.name}.before", p.over, whole=p.state.whole)
                by |= {n: Map(p.fold, (before, n)) for n in (scan, p.state)}
            if by:
                yield self.standing.equal(substitute(carry.term, by), carry.term)

    def _unit(self, carry: Carry) -> Node:
        """The state of an empty segment, with those of its axes that moves fold over."""
        moves = topo([m.factor for c in self.walk.carries for m in c.moves])
        folded = [n.axis for n in moves if isinstance(n, Reduce) and n.axis in carry.over]
        unit: Node = Const(carry.fold.unit)
        for axis in dict.fromkeys(folded):
            unit = Map(Fn.WHERE, (Map(Fn.LE, (ZERO, Index(axis))), unit, Const(carry.fold.unit)))
        return unit

    def same(self, left: Node, right: Node) -> Verdict:
        """Equality on the states that a segment can end in, infinities included."""
        leaves = [n for n in topo([left, right]) if isinstance(n, State)]
        if early := [n for n in leaves if not self._ends(n)]:
            return Unknown(f"a move reads {words(early[0])} before it is known")
        low = tuple(n for n in leaves if self._carry_of(n).fold is Fn.MAX)
        sizes = (n for n in topo([left, right]) if isinstance(n, Size))
        facts: list[Node] = [Map(Fn.LT, (ZERO, n)) for n in sizes]
        facts += self.standing.signs([n for n in leaves if n.carry in self.final])
        facts += [f for n in leaves if n.carry not in self.final for f in self.reachable(n)]
        return self.standing.equal(left, right, tuple(facts), low)

    def _ends(self, leaf: State) -> bool:
        """Whether it is the state at the end of a segment, or of an earlier walk."""
        return leaf.carry in self.final or leaf.carry.rpartition(".")[0] in self.walk.components

    def _carry_of(self, leaf: State) -> Carry:
        """The carry of a segment of this walk, or of an earlier walk that has ended."""
        ended = self.final.get(leaf.carry)
        return ended or self.walk.components[leaf.carry.rsplit(".", 1)[0]]

    def reachable(self, leaf: State) -> Iterator[Node]:
        """What holds of a state at the end of a segment.

        At a point of a producer what depends on it has one value; off its points it has the
        sign that its terms give it.
        """
        number = leaf.carry.rsplit(".", 1)[1]
        carry = self._carry_of(leaf)
        guarded = {g.condition for g in self.repair.guards if g.component == carry.name}
        off: list[Node] = []
        for point in self.standing.regions.points:
            p = point.producer
            state = State(f"{p.name}.{number}", p.over, whole=p.state.whole)
            there = Map(Fn.EQ, (state, Const(point.value)))
            value = self.standing.regions.at_point(point, False, True).get(carry.state)
            one = value.point if value is not None else None
            if one is None and point.condition([carry.term], old=True) in guarded:
                one = carry.fold.unit
            if one is not None:
                off.append(there)
                if p is not carry:
                    same = Map(Fn.EQ, (leaf, Const(one)))
                    yield Map(Fn.OR, (Map(Fn.NOT, (there,)), same))
        known = self.standing.regular.get(carry.state)
        if known is not None and known.nonnegative:
            sign = Map(Fn.LT if known.positive else Fn.LE, (ZERO, leaf))
            yield reduce(lambda a, b: Map(Fn.OR, (b, a)), off, sign)

    def _carries(self) -> tuple[Carry, ...]:
        """The components and all that their moves depend on, in the order of the walk."""
        wanted = {c.name for c in self.repair.components}
        for carry in reversed(self.walk.carries):
            if carry.name in wanted:
                for move in carry.moves:
                    wanted.add(move.source)
                    wanted |= {n.carry for n in topo([move.factor]) if isinstance(n, State)}
        return tuple(c for c in self.walk.carries if c.name in wanted)

    def segment(self, number: int) -> dict[str, Node]:
        """The states at the end of a segment, as free values."""
        return {
            c.name: State(f"{c.name}.{number}", c.over, whole=c.state.whole)
            for c in self._carries()
        }

    def joined(self, left: Mapping[str, Node], right: Mapping[str, Node]) -> dict[str, Node]:
        """Every state of two joined segments."""
        total: dict[str, Node] = {}
        components = self.walk.components
        for carry in self._carries():
            ends: list[Node] = []
            acts = self.acting[carry.name]
            for segment in (left, {**right, **{n: total[n] for n in acts if n in total}}):
                by: dict[Node, Node] = {components[n].old: v for n, v in segment.items()}
                by |= {components[n].state: v for n, v in total.items()}
                ends.append(substitute(carry.kept(components), by))
            total[carry.name] = Map(carry.fold, (ends[0], ends[1]))
        return total
