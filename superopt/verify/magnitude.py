"""Obligation 6 of a repair, range: nothing grows that the spec keeps small, and nothing that it
keeps is lost."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from superopt.repair.guard import EXTREMA
from superopt.repair.guard import Regions
from superopt.repair.record import Repair
from superopt.repair.record import states
from superopt.repair.record import words
from superopt.repair.span import direction
from superopt.repair.span import span
from superopt.ugraph.carry import Carry
from superopt.ugraph.node import ONE
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scans import behind
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.verify.equality import both
from superopt.verify.growth import Growth
from superopt.verify.growth import growths
from superopt.verify.reals.smt import RLIMIT
from superopt.verify.reals.smt import prove_implies
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict


def judge_range(repair: Repair, regions: Regions, rlimit: int = RLIMIT) -> Verdict:
    """No exponential of a move or a term exceeds 1, none vanishes, no difference cancels.

    None vanishes: one of every tile is 1, or each is at least what the spec has in its place,
    because later states only make it smaller. No difference cancels: states enter differences
    only as means or extrema of what was absorbed, which lie within the hull of the absorbed
    values.
    """
    if repair.deferred:
        return _deferred(repair)
    found: list[Verdict] = []
    grown = tuple(growths(repair.producers, regions, rlimit))
    for carry in repair.components:
        for move in carry.moves:
            found += _factor(repair, move.factor, grown, rlimit)
    found += _terms(repair, regions, grown, rlimit)
    found.append(_centred(repair, regions))
    return both(found)


def _deferred(repair: Repair) -> Verdict:
    if repair.fold in EXTREMA:
        return Proved("an extremum is one of the values, and is not rounded")
    if repair.rank > 1:
        return Unknown("a difference of deferred sums may cancel")
    return Proved("one product is deferred, without exponentials of values along the walk")


def _exponents(node: Node) -> Iterator[Node]:
    for n in topo([node]):
        match n:
            case Map(fn=Fn.EXP | Fn.EXP2, args=(arg,)):
                yield arg


def _sizes(node: Node) -> tuple[Node, ...]:
    """Axes that are walked have positions."""
    return tuple(Map(Fn.LT, (ZERO, n)) for n in topo([node]) if isinstance(n, Size))


def _factor(
    repair: Repair, factor: Node, grown: Sequence[Growth], rlimit: int
) -> Iterator[Verdict]:
    """The exponents of a move are at most 0, outside its guards."""
    guard: Node | None = None
    body = factor
    match factor:
        case Map(fn=Fn.WHERE, args=(condition, Const(), otherwise)):
            guard, body = condition, otherwise
    lowest = tuple(p for c in repair.producers if c.fold is Fn.MAX for p in (c.old, c.state))
    highest = tuple(p for c in repair.producers if c.fold is Fn.MIN for p in (c.old, c.state))
    for arg in _exponents(body):
        off = (*_sizes(arg), *(() if guard is None else (Map(Fn.NOT, (guard,)),)))
        claim = Map(Fn.LE, (arg, ZERO))
        logs = _logs(arg)
        sums = (g for g in grown if g.carry.state in logs and g.empty in topo(off))
        facts = (*repair.facts, *off, *(f for g in sums for f in g.over_a_tile()))
        yield prove_implies(facts, claim, rlimit, lowest=lowest, highest=highest)


def _logs(arg: Node) -> set[Node]:
    """The states below logarithms."""
    logs = [n for n in topo([arg]) if isinstance(n, Map) and n.fn in (Fn.LOG, Fn.LOG2)]
    return {n for n in topo(logs) if isinstance(n, State)}


def _terms(
    repair: Repair, regions: Regions, grown: Sequence[Growth], rlimit: int
) -> Iterator[Verdict]:
    """Exponents of a term that move: at most 0 for what is absorbed; 0 at the extremum, or never
    below what they are at later states."""
    extrema = [p for p in repair.producers if p.fold in EXTREMA]
    for carry in repair.components:
        for arg in _exponents(carry.term):
            moving = [n for n in topo([arg]) if isinstance(n, State) and _is_of(n, regions)]
            if not moving:
                continue
            prefixes = _prefixes(arg, repair)
            free, *terms = (substitute(n, prefixes) for n in (arg, *(p.term for p in extrema)))
            owners = [
                replace(p, term=term)
                for p, term in zip(extrema, terms, strict=True)
                if p.state in moving and term in topo([free])
            ]
            if not owners:
                yield from _decays(free, arg, repair, rlimit)
            for p in owners:
                logs = _logs(free)
                sums = [g for g in grown if g.about.name == p.name and g.carry.state in logs]
                yield from _bounded(free, p, sums, rlimit)


def _prefixes(arg: Node, repair: Repair) -> dict[Node, Node]:
    """A tensor for each scan along the walk of which the total is known."""
    scans = behind([arg], repair.axis, repair.producers)
    return {n: Input(f"prefix{i}", n.axes, "fp32") for i, n in enumerate(scans)}


def _decays(free: Node, arg: Node, repair: Repair, rlimit: int) -> Iterator[Verdict]:
    """An exponent that reads states, but not what they are extrema of: it is at most 0 whatever
    they are, and only falls from tile to tile.

    Prefixes and their total both go one way, so that the total is ahead of the prefix at every
    position of its tile, and further ahead in later tiles. ``free``: the exponent ``arg`` with
    tensors for its prefixes.
    """
    prefixes = _prefixes(arg, repair)
    facts: list[Node] = list(_sizes(free))
    later: dict[Node, Node] = {}
    for scan, p in behind([arg], repair.axis, repair.producers).items():
        way = direction(p.fold, p.term)
        if not way:
            yield Unknown(f"{words(p.term)} may have either sign, so that {words(arg)} may grow")
            return
        after = replace(p.state, carry=f"{p.name}.later")
        for pair in ((prefixes[scan], p.state), (p.state, after)):
            facts.append(Map(Fn.LE, pair if way > 0 else pair[::-1]))
        later[p.state] = after
    read = states(free)
    extrema = [p for p in repair.producers if p.fold in EXTREMA and p.name in read and not p.moves]
    for p in extrema:
        after = replace(p.state, carry=f"{p.name}.later")
        pair = (p.state, after)
        facts.append(Map(Fn.LE, pair if p.fold is Fn.MAX else pair[::-1]))
        later[p.state] = after
    if not later:
        yield Unknown(f"the exponent {words(arg)} is not known to be at most 0")
        return
    low, high = (
        tuple(s for p in extrema if p.fold is fold for s in (p.state, later[p.state]))
        for fold in (Fn.MAX, Fn.MIN)
    )
    falls = Map(Fn.LE, (substitute(free, later), free))
    for claim in (Map(Fn.LE, (free, ZERO)), falls):
        verdict = prove_implies(facts, claim, rlimit, lowest=low, highest=high)
        if extrema and not isinstance(verdict, Proved):  # a tensor may be bound to an extremum
            verdict = Unknown(f"the exponent {words(arg)} is not known to be at most 0")
        yield verdict


def _is_of(state: State, regions: Regions) -> bool:
    return any(p.name == state.carry for p in regions.producers)


def _bounded(arg: Node, producer: Carry, sums: Sequence[Growth], rlimit: int) -> Iterator[Verdict]:
    absorbed = replace(producer.state, carry=f"{producer.name}.absorbed")
    pair = (absorbed, producer.state) if producer.fold is Fn.MAX else (producer.state, absorbed)
    ends = (absorbed, producer.state)
    low, high = (ends, ()) if producer.fold is Fn.MAX else ((), ends)
    off = Map(Fn.NOT, (Map(Fn.EQ, (producer.state, Const(producer.fold.unit))),))
    below = Map(Fn.LE, (substitute(arg, {producer.term: absorbed}), ZERO))
    facts = (*_sizes(arg), off, *(Map(Fn.LE, (ONE, g.carry.state)) for g in sums))
    yield prove_implies((Map(Fn.LE, pair), *facts), below, rlimit, lowest=low, highest=high)
    attained = Map(Fn.EQ, (substitute(arg, {producer.term: producer.state}), ZERO))
    verdict = prove_implies(facts, attained, rlimit, lowest=low, highest=high)
    if isinstance(verdict, Proved) or producer.moves:
        yield verdict
    else:
        yield _falling(arg, producer, absorbed, sums, rlimit)


def _falling(
    arg: Node, producer: Carry, absorbed: State, sums: Sequence[Growth], rlimit: int
) -> Verdict:
    """The exponent at a state is at least that at every later one: a term in a tile is no
    smaller than in the spec, which has the last state there."""
    most = producer.fold is Fn.MAX
    later = replace(producer.state, carry=f"{producer.name}.later")
    chain = (absorbed, producer.state, later) if most else (later, producer.state, absorbed)
    low, high = (chain, ()) if most else ((), chain)
    here = substitute(arg, {producer.term: absorbed})
    times: dict[Node, Node] = {producer.state: later}
    growing: list[Node] = []
    for names, facts_of_sum in (g.afterwards() for g in sums):
        times |= names
        growing += facts_of_sum
    there = substitute(here, times)
    ends = (producer.state, absorbed) if most else (absorbed, producer.state)
    empty = (Map(Fn.EQ, (s, Const(producer.fold.unit))) for s in ends)
    facts = (
        *_sizes(arg),
        *(Map(Fn.NOT, (e,)) for e in empty),
        *(Map(Fn.LE, pair) for pair in pairwise(chain)),
        *growing,
    )
    return prove_implies(facts, Map(Fn.LE, (there, here)), rlimit, lowest=low, highest=high)


def _centred(repair: Repair, regions: Regions) -> Verdict:
    """Off the diagonal, states enter as means, extrema and sums of terms of one sign only."""
    by = {p.name: p for p in regions.producers}
    for i, row in enumerate(repair.factors):
        for j, factor in enumerate(row):
            if i == j or factor is None:
                continue
            for name in states(_without_means(factor, by)):
                p = by[name]
                terms = span(p.term, regions.regular)
                one_sign = terms.nonnegative or (terms.hi <= 0 and not terms.nan)
                if p.fold not in EXTREMA and not one_sign:
                    why = f"{words(factor)} takes differences that are not of means of the absorbed"
                    return Unknown(why)
    return Proved("means and extrema lie within the hull of what was absorbed")


def _without_means(node: Node, by: dict[str, Carry]) -> Node:
    """``node`` with ``sum / count`` (of old or new states) replaced by a constant.

    The sum may be folded further within a tile, and sizes, which do not move, may scale it.
    """
    means: dict[Node, Node] = {}
    for n in topo([node]):
        match n:
            case Map(fn=Fn.DIV, args=(above, below)):
                match _unfolded(above), _unsized(below):
                    case State(carry=a, old=x), State(carry=b, old=y) if x == y and a in by:
                        count = by.get(b)
                        if count is not None and span(count.term, {}).point == 1:
                            means[n] = ZERO
    return substitute(node, means)


def _unfolded(node: Node) -> Node:
    """What is summed within a tile."""
    while isinstance(node, Reduce) and node.fn is Fn.ADD:
        node = node.arg
    return node


def _unsized(node: Node) -> Node:
    """What sizes are multiplied by."""
    match node:
        case Map(fn=Fn.MUL, args=(Size(), other) | (other, Size())):
            return _unsized(other)
        case _:
            return node
