"""The seven obligations of a repair, each a claim with its own verdict.

Equalities are decided by ``equality.py`` (solver, else fields), implications by the solver,
definedness by spans of values (``repair/span.py``) at every point of the producers.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from functools import reduce

from superopt.repair.guard import EXTREMA
from superopt.repair.guard import ONE
from superopt.repair.guard import ZERO
from superopt.repair.guard import Regions
from superopt.repair.guard import regular_form
from superopt.repair.record import Repair
from superopt.repair.record import states
from superopt.repair.record import to_old
from superopt.repair.record import words
from superopt.repair.span import Span
from superopt.repair.span import at
from superopt.repair.span import join
from superopt.repair.span import span
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Carry
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.verify.equality import both
from superopt.verify.equality import same_value
from superopt.verify.magnitude import judge_range
from superopt.verify.reals.smt import RLIMIT
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

Claim = tuple[str, Verdict]


def judge_repair(
    repair: Repair, block: BlockGraph, seed: int = 0, rlimit: int = RLIMIT
) -> tuple[Claim, ...]:
    """Every obligation of ``repair``, which stands in ``block``, with its verdict."""
    judge = _Judge(repair, block, seed, rlimit)
    composition, endomorphism = judge.composition(), judge.endomorphism()
    return (
        ("separation", judge.separation()),
        ("endomorphism", endomorphism),
        ("composition", composition),
        ("combination", judge.combination(composition, endomorphism)),
        ("domain", judge.domain()),
        ("range", judge_range(repair, judge.regions, rlimit)),
        ("scope", judge.scope()),
    )


class _Judge:
    """The claims of one repair."""

    def __init__(self, repair: Repair, block: BlockGraph, seed: int, rlimit: int) -> None:
        self.repair = repair
        self.seed = seed
        self.rlimit = rlimit
        first = repair.components[0].name
        self.walk = next(w for w in block.walks if first in w.components)
        index = [c.name for c in self.walk.carries].index(first)
        walks = block.walks[: block.walks.index(self.walk)]
        self.final = {c.name: c for w in walks for c in w.carries}
        self.regions = Regions(self.walk.carries[:index], tuple(self.final.values()))
        self.regular = self._off_guards()

    def _off_guards(self) -> dict[Node, Span]:
        """Spans off the points that are guarded; a point without a guard is not left out."""
        guarded = {g.condition for g in self.repair.guards if not g.absorb}
        known = dict(self.regions.regular)
        for point in self.regions.points:
            p = point.producer
            if not point.empty and point.condition([self.repair.term], old=True) not in guarded:
                known |= {s: join(known[s], at(point.value)) for s in (p.state, p.old)}
        return known

    def equal(
        self,
        left: Node,
        right: Node,
        facts: tuple[Node, ...] = (),
        lowest: tuple[Node, ...] = (),
    ) -> Verdict:
        return same_value(left, right, facts, lowest, self.seed, self.rlimit)

    def separation(self) -> Verdict:
        """The separated form equals ``g``, and the reference what it stands for."""
        term = regular_form(self.repair.term, self.repair.axis, self.regions.points)[0]
        found = [self.equal(term, self.repair.separated, self._signs([term]))]
        for size, state in self.repair.reference:
            counts = [c for c in self.walk.carries if c.state is state]
            ones = counts and span(counts[0].term, {}).point == 1 and not counts[0].moves
            why = f"{words(state)} is not the number of positions, {words(size)}"
            found.append(Proved("a sum of ones") if ones else Unknown(why))
        found += self._finalised() if self.repair.deferred else self._carried()
        return both(found)

    def _finalised(self) -> Iterator[Verdict]:
        """What is folded and what is done with it at the end make up ``g``."""
        terms: dict[Node, Node] = {c.state: c.term for c in self.repair.components}
        value = substitute(self.repair.finalise, terms)
        yield self.equal(value, self.repair.term, self._signs([value, self.repair.term]))

    def _carried(self) -> Iterator[Verdict]:
        """A move takes every term of a component from the old ``x`` to the new one."""
        producers = frozenset(c.name for c in self.repair.producers)
        components, action = self.repair.components, self.repair.action
        for i, component in enumerate(components):
            moved: list[Node] = []
            for source, factor in zip(components, self.repair.factors[i], strict=True):
                if factor is not None:
                    moved.append(Map(action, (to_old(source.term, producers), factor)))
            total = reduce(lambda a, b: Map(self.repair.fold, (a, b)), moved)
            ends = [c.term for c in components] + [to_old(c.term, producers) for c in components]
            off = [Map(Fn.NOT, (c,)) for c in self._term_guards(producers)]
            yield self.equal(total, component.term, (*self._signs([total, *ends]), *off))
        first = components[0]
        off = [Map(Fn.NOT, (c,)) for c in self._term_guards(producers)]
        yield self.equal(first.term, self.repair.term, (*self._signs([first.term]), *off))
        if self.repair.finalise is not first.state:
            yield Unknown(f"{words(self.repair.finalise)} is not the kept value")

    def _term_guards(self, producers: frozenset[str]) -> list[Node]:
        guards = [g.condition for g in self.repair.guards if g.absorb]
        return [*guards, *(to_old(g, producers) for g in guards)]

    def _signs(
        self, roots: list[Node], like: Mapping[Node, Node] | None = None
    ) -> tuple[Node, ...]:
        """The signs of the states below ``roots``; ``like``: states that mean another."""
        facts: list[Node] = []
        for node in topo(roots):
            known: Span | None = self.regular.get((like or {}).get(node, node))
            if isinstance(node, State) and known is not None and known.nonnegative:
                facts.append(Map(Fn.LT if known.positive else Fn.LE, (ZERO, node)))
            elif isinstance(node, Size | Index):
                facts.append(Map(Fn.LT if isinstance(node, Size) else Fn.LE, (ZERO, node)))
        return tuple(facts)

    def endomorphism(self) -> Verdict:
        """A factor acts alike on a fold and on what was folded."""
        fold, action = self.repair.fold, self.repair.action
        if fold in EXTREMA and action is Fn.ADD:
            return Proved("adding a number keeps the order")
        if fold in EXTREMA:
            wrong = [f for f in self._factors() if not span(f, self.regular).nonnegative]
            if wrong:
                return Unknown(f"{words(wrong[0])} may be negative")
            return Proved("multiplying by a number of at least 0 keeps the order")
        p, q, f = (Input(name, ("i",), "fp32") for name in ("p", "q", "f"))
        left = Map(action, (Map(fold, (p, q)), f))
        return self.equal(left, Map(fold, (Map(action, (p, f)), Map(action, (q, f)))))

    def _factors(self) -> list[Node]:
        if self.repair.deferred:
            return [a for a, _ in self.repair.parts]
        return [f for row in self.repair.factors for f in row if f is not None]

    def composition(self) -> Verdict:
        """Moving nowhere is nothing, and two moves are one (off the points)."""
        if self.repair.deferred:
            return Proved("nothing moves")
        rank, still = range(self.repair.rank), self._named("")
        found: list[Verdict] = []
        for i in rank:
            for j in rank:
                factor = self.repair.factors[i][j]
                if factor is not None:
                    here = substitute(factor, still)
                    same = ONE if i == j and self.repair.action is Fn.MUL else ZERO
                    found.append(self.equal(here, same, self._signs([here])))
                found.append(self._two_moves(i, j))
            found += self._guarded_row(i)
        return both(found)

    def _guarded_row(self, i: int) -> Iterator[Verdict]:
        """The moves in the block are the factors of the record, off the guards."""
        component = self.repair.components[i]
        names = [c.name for c in self.repair.components]
        guards = {g.condition for g in self.repair.guards if g.component == component.name}
        off = tuple(Map(Fn.NOT, (g,)) for g in guards)
        if self.walk.components[component.name] != component:
            yield Unknown(f"{component.name} in the walk is not what the repair says")
        for move in component.moves:
            factor = self.repair.factors[i][names.index(move.source)]
            if factor is None:
                yield Unknown(f"the move of {move.source} to {component.name} has no reason")
            else:
                facts = (*self._signs([move.factor, factor]), *off)
                yield self.equal(move.factor, factor, facts)
        kept = {m.source for m in component.moves} or {component.name}
        lost = [
            n for n, f in zip(names, self.repair.factors[i], strict=True) if f and n not in kept
        ]
        if lost:
            yield Unknown(f"the move of {lost[0]} to {component.name} is missing")

    def _named(self, suffix: str) -> dict[Node, Node]:
        """Every old state under another name, as a new one."""
        olds = [n for n in topo(self._factors()) if isinstance(n, State) and n.old]
        return {s: State(s.carry + suffix, s.over, whole=s.whole) for s in olds}

    def _two_moves(self, i: int, k: int) -> Verdict:
        """From old to a value between, and from there to new: one entry of the product."""
        between = self._named(".mid")
        arrive: dict[Node, Node] = {
            State(s.carry, s.over, whole=s.whole): m
            for s, m in between.items()
            if isinstance(s, State)
        }
        factors, action = self.repair.factors, self.repair.action
        steps: list[Node] = []
        for j in range(self.repair.rank):
            after, before = factors[i][j], factors[j][k]
            if after is not None and before is not None:
                pair = (substitute(after, between), substitute(before, arrive))
                steps.append(Map(action, pair))
        direct = factors[i][k]
        if not steps and direct is None:
            return Proved("identity")
        if not steps or (direct is None and action is Fn.ADD):
            return Unknown(f"entry {i}, {k} of the change of basis comes from nowhere")
        total = reduce(lambda a, b: Map(self.repair.fold, (a, b)), steps)
        like: dict[Node, Node] = {m: n for n, m in arrive.items()}
        one = direct if direct is not None else ZERO
        return self.equal(total, one, self._signs([total, one], like))

    def combination(self, composition: Verdict, endomorphism: Verdict) -> Verdict:
        """Joining segments is associative and has a unit, component by component.

        Associative: a segment of three is moved to the common producers in one or two moves,
        which *composition* says are one, folded by a fold that is associative, over which
        *endomorphism* lets a move distribute. (What the producers' own joins are is said by
        their folds or by their own repairs.) The unit is shown here on reachable states, where
        an extremum at its own unit means that what moves with it is at its own.
        """
        a = self._segment(0)
        units: dict[str, Node] = {c.name: Const(c.fold.unit) for c in self._carries()}
        found = [composition, endomorphism]
        for carry in self.repair.components:
            for joined in (self._joined(units, a), self._joined(a, units)):
                found.append(self._same_segment(joined[carry.name], a[carry.name]))
        return both(found)

    def _same_segment(self, left: Node, right: Node) -> Verdict:
        """Equality on the states that a segment can end in, infinities included."""
        leaves = [n for n in topo([left, right]) if isinstance(n, State)]
        low = tuple(n for n in leaves if self._carry_of(n).fold is Fn.MAX)
        sizes = (n for n in topo([left, right]) if isinstance(n, Size))
        facts: list[Node] = [Map(Fn.LT, (ZERO, n)) for n in sizes]
        facts += self._signs([n for n in leaves if n.carry in self.final])
        facts += [f for n in leaves if n.carry not in self.final for f in self._reachable(n)]
        return same_value(left, right, facts, low, self.seed, self.rlimit)

    def _carry_of(self, leaf: State) -> Carry:
        """The carry of a segment of this walk, or of an earlier walk that has ended."""
        ended = self.final.get(leaf.carry)
        return ended or self.walk.components[leaf.carry.rsplit(".", 1)[0]]

    def _reachable(self, leaf: State) -> Iterator[Node]:
        """What holds of a state at the end of a segment.

        At a point of a producer what depends on it has one value; off its points it has the
        sign that its terms give it.
        """
        number = leaf.carry.rsplit(".", 1)[1]
        carry = self._carry_of(leaf)
        guarded = {g.condition for g in self.repair.guards if g.component == carry.name}
        off: list[Node] = []
        for point in self.regions.points:
            p = point.producer
            state = State(f"{p.name}.{number}", p.over, whole=p.state.whole)
            there = Map(Fn.EQ, (state, Const(point.value)))
            value = self.regions.at_point(point, False, True).get(carry.state)
            one = value.point if value is not None else None
            if one is None and point.condition([carry.term], old=True) in guarded:
                one = carry.fold.unit
            if one is not None:
                off.append(there)
                if p is not carry:
                    same = Map(Fn.EQ, (leaf, Const(one)))
                    yield Map(Fn.OR, (Map(Fn.NOT, (there,)), same))
        known = self.regular.get(carry.state)
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

    def _segment(self, number: int) -> dict[str, Node]:
        """The states at the end of a segment, as free values."""
        return {
            c.name: State(f"{c.name}.{number}", c.over, whole=c.state.whole)
            for c in self._carries()
        }

    def _joined(self, left: Mapping[str, Node], right: Mapping[str, Node]) -> dict[str, Node]:
        """Every state of two joined segments."""
        total: dict[str, Node] = {}
        components = self.walk.components
        for carry in self._carries():
            ends: list[Node] = []
            for segment in (left, right):
                by: dict[Node, Node] = {components[n].old: v for n, v in segment.items()}
                by |= {components[n].state: v for n, v in total.items()}
                ends.append(substitute(carry.kept(components), by))
            total[carry.name] = Map(carry.fold, (ends[0], ends[1]))
        return total

    def domain(self) -> Verdict:
        """Factors and terms are defined for every value that a prefix can have."""
        places = [("", self.regular, self.regular)]
        for point in self.regions.points:
            where = f" while {point.producer.name} is {point.value}"
            moved, stayed = (self.regions.at_point(point, True, new) for new in (False, True))
            places.append((where, moved, moved))
            counted = point.empty and point.producer.fold not in EXTREMA
            places.append((where, stayed, self.regular if counted else stayed))
        for where, old, new in places:
            for carry in self.repair.components:
                for move in carry.moves:
                    if span(move.factor, old).nan:
                        return Unknown(f"the factor {words(move.factor)} is undefined{where}")
                if span(carry.term, new).nan:
                    return Unknown(f"the term {words(carry.term)} is undefined{where}")
        everything = Regions(self.walk.carries).regular
        if self.repair.deferred and span(self.repair.finalise, everything).nan:
            return Unknown(f"the value {words(self.repair.finalise)} may be undefined")
        return Proved("spans of values", ("inputs are finite",))

    def scope(self) -> Verdict:
        """Nobody reads a moving value as a final one, an old one as new, or one too early."""
        order = [c.name for c in self.walk.carries]
        mine = {c.name for c in self.repair.components}
        for place, carry in enumerate(self.walk.carries):
            read = [n for n in topo([carry.term]) if isinstance(n, State) and n.carry in order]
            if any(n.old for n in read):
                return Unknown(f"the term of {carry.name} reads an old value")
            if late := [n for n in read if order.index(n.carry) >= place]:
                return Unknown(f"the term of {carry.name} reads {late[0].carry} too early")
            if read and not carry.moves and (carry.name in mine or mine & set(states(carry.term))):
                return Unknown(f"{carry.name} reads moving values and does not move")
        for store in self.walk.stores:
            if any(n in order for n in states(store.value)):
                return Unknown(f"{store.name!r} stores a value that still moves")
        return Proved("the structure of the walk")
