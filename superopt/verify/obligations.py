"""The seven obligations of a repair, each a claim with its own verdict.

Equalities are decided by ``equality.py`` (solver, else fields), implications by the solver,
definedness by spans of values (``repair/span.py``) at every point of the producers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from superopt.repair.guard import EXTREMA
from superopt.repair.guard import regular_form
from superopt.repair.record import Repair
from superopt.repair.record import states
from superopt.repair.record import to_old
from superopt.repair.record import words
from superopt.repair.span import span
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.node import ONE
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import State
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.verify.combination import Combination
from superopt.verify.equality import both
from superopt.verify.magnitude import judge_range
from superopt.verify.prefixes import judge_domain
from superopt.verify.reals.smt import RLIMIT
from superopt.verify.standing import Standing
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

Claim = tuple[str, Verdict]
LOWEST = Const(-INF)


def judge_repair(
    repair: Repair, block: BlockGraph, seed: int = 0, rlimit: int = RLIMIT
) -> tuple[Claim, ...]:
    """Every obligation of ``repair``, which stands in ``block``, with its verdict."""
    return tuple(obligations(repair, block, seed, rlimit))


def obligations(
    repair: Repair, block: BlockGraph, seed: int = 0, rlimit: int = RLIMIT
) -> Iterator[Claim]:
    """The same one by one, each judged when it is asked for."""
    standing = Standing(repair, block, seed, rlimit)
    judge = _Judge(standing)
    yield "separation", judge.separation()
    endomorphism = judge.endomorphism()
    yield "endomorphism", endomorphism
    composition = judge.composition()
    yield "composition", composition
    yield "combination", Combination(standing).judge(composition, endomorphism)
    yield "domain", judge_domain(repair, standing.walk, standing.regions, standing.regular)
    yield "range", judge_range(repair, standing.regions, rlimit)
    yield "scope", judge.scope()


class _Judge:
    """The claims of one repair."""

    def __init__(self, standing: Standing) -> None:
        self.repair = standing.repair
        self.walk = standing.walk
        self.points = standing.regions.points
        self.regular = standing.regular
        self.equal = standing.equal
        self.signs = standing.signs

    def separation(self) -> Verdict:
        """The separated form equals ``g``, and the reference what it stands for."""
        term = regular_form(self.repair.term, self.repair.axis, self.points)[0]
        found = [self.equal(term, self.repair.separated, self.signs([term]))]
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
        yield self.equal(value, self.repair.term, self.signs([value, self.repair.term]))

    def _carried(self) -> Iterator[Verdict]:
        """A move takes every term of a component from the old ``x`` to the new one."""
        producers = frozenset(c.name for c in self.repair.producers)
        components, action = self.repair.components, self.repair.action
        off = [Map(Fn.NOT, (c,)) for c in self._term_guards(producers)]
        for i, component in enumerate(components):
            moved: list[Node] = []
            for source, factor in zip(components, self.repair.factors[i], strict=True):
                if factor is not None:
                    moved.append(Map(action, (to_old(source.term, producers), factor)))
            if not moved:
                yield Unknown(f"nothing is moved to {component.name}")
                continue
            total = reduce(lambda a, b: Map(self.repair.fold, (a, b)), moved)
            ends = [c.term for c in components] + [to_old(c.term, producers) for c in components]
            facts = (*self.signs([total, *ends]), *off)
            yield self.equal(total, component.term, facts, _masks([total, component.term]))
        by: dict[Node, Node] = {c.state: c.term for c in components}
        value, term = substitute(self.repair.finalise, by), self.repair.term
        facts = (*self.signs([value]), *off)
        yield self.equal(value, term, facts, _masks([value, term]))
        if self.repair.finalise is not components[0].state:
            yield from self._sum_of_components()

    def _sum_of_components(self) -> Iterator[Verdict]:
        """What is done at the end is the fold of components, so that it may be done there."""
        states: list[Node] = [c.state for c in self.repair.components]
        total = reduce(lambda a, b: Map(self.repair.fold, (a, b)), states)
        why = f"{words(self.repair.finalise)} is neither the kept value nor the fold of all"
        yield Proved("a fold of folds") if self.repair.finalise is total else Unknown(why)

    def _term_guards(self, producers: frozenset[str]) -> list[Node]:
        guards = [g.condition for g in self.repair.guards if g.absorb]
        return [*guards, *(to_old(g, producers) for g in guards)]

    def endomorphism(self) -> Verdict:
        """A factor acts alike on a fold and on what was folded."""
        fold, action = self.repair.fold, self.repair.action
        if other := self._other_operators():
            return Unknown(other)
        if not self.repair.parts:
            return self._finalised_apart()
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

    def _other_operators(self) -> str:
        """A component that folds or moves by another operator than the repair; empty if none.

        Each walk of its own fold may be a lawful one, and a reader of it may not show which: what
        only stabilises may be any number.
        """
        for component in self.repair.components:
            for does, own, said in (
                ("folds", component.fold, self.repair.fold),
                ("moves", component.action, self.repair.action),
            ):
                if own is not said and (does == "folds" or component.moves):
                    by = f"by {own.symbol}, the repair by {said.symbol}"
                    return f"{component.name} {does} {by}"
        return ""

    def _finalised_apart(self) -> Verdict:
        """What is done at the end with joined states is the join of what is done with each."""
        fold, components = self.repair.fold, self.repair.components
        ends: list[dict[Node, Node]] = [
            {c.state: Input(f"{c.name}.{i}", c.over, "fp32") for c in components} for i in range(2)
        ]
        joined: dict[Node, Node] = {
            c.state: Map(fold, (ends[0][c.state], ends[1][c.state])) for c in components
        }
        value = self.repair.finalise
        left = substitute(value, joined)
        right = Map(fold, (substitute(value, ends[0]), substitute(value, ends[1])))
        return self.equal(left, right, self.signs([left, right]))

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
                    found.append(self.equal(here, same, self.signs([here])))
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
            factor = dict(zip(names, self.repair.factors[i], strict=True)).get(move.source)
            if factor is None:
                yield Unknown(f"the move of {move.source} to {component.name} has no reason")
            else:
                facts = (*self.signs([move.factor, factor]), *off)
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
        return self.equal(total, one, self.signs([total, one], like))

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


def _masks(terms: list[Node]) -> tuple[Node, ...]:
    """The tensors among ``terms`` that mask by -inf, as far as they are asked for it."""
    found: dict[Node, None] = {}
    for node in topo(terms):
        match node:
            case Map(fn=Fn.EQ, args=(a, b)) if LOWEST in (a, b):
                found |= {n: None for n in (a, b) if isinstance(n, Input)}
    return tuple(found)
