"""What becomes of wrong repairs: which obligation finds each, or why it is no other repair.

``python -m tests.verify.repair_outcomes [NUMBER|K/N]`` judges every mutant (or a sample, or a
part) of every repair of the cases, and of each further law of the rows of the catalogue, and
prints how many each obligation finds. One that all of them and the field run accept must be shown,
by the solver, to do the same on every state that a walk can reach.
"""

from __future__ import annotations

import sys
from collections import Counter

from superopt.repair.guard import EXTREMA
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.verify.combination import Combination
from superopt.verify.equality import both
from superopt.verify.equality import same_value
from superopt.verify.obligations import obligations
from superopt.verify.standing import Standing
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import accepted
from tests.parts import Part
from tests.verify.repair_mutants import Mutant
from tests.verify.repair_mutants import every
from tests.verify.repair_mutants import sample


def outcome(mutant: Mutant) -> tuple[str, Verdict | None]:
    """Who finds the mutant (an obligation, or the field run), and how; or "equivalent", with the
    evidence; or "survived"."""
    for claim, verdict in obligations(mutant.repair, mutant.block):
        if not accepted(verdict):
            return claim, verdict
    verdict = mutant.subject.verdict(mutant.block)
    if not accepted(verdict):
        return "field run", verdict
    same = equivalent(mutant)
    return ("equivalent" if accepted(same) else "survived"), same


def equivalent(mutant: Mutant) -> Verdict:
    """Whether the mutated walk does on every reachable state what the derived one does: the
    same terms are absorbed, two segments are joined alike, and the value at the end is one."""
    found = mutant.subject.repairs[mutant.number]
    standing = Standing(found, mutant.subject.block)
    plain = Combination(standing)
    other = Combination(Standing(mutant.repair, mutant.block))
    a, b = plain.segment(0), plain.segment(1)
    joined, changed = plain.joined(a, b), other.joined(a, b)
    claims = [plain.same(joined[c.name], changed[c.name]) for c in found.components]
    for before, after in zip(found.components, mutant.repair.components, strict=True):
        if before.fold is not after.fold:
            return Refuted((), "another fold")
        claims.append(_same_term(plain, before.term, after.term))
    claims.append(standing.equal(found.finalise, mutant.repair.finalise))
    return both(claims)


def _same_term(judge: Combination, before: Node, after: Node) -> Verdict:
    """Whether two terms are equal wherever a position is absorbed: at every state that a walk
    can have reached with it."""
    below = topo([before, after])
    found = [n for n in below if isinstance(n, State) and n.carry not in judge.final]
    if any(n.old for n in found):
        return Unknown("a term reads an old value")
    names = {n.carry for n in found}
    producers = [p for p in judge.repair.producers if p.fold in EXTREMA and not p.moves]
    ends: dict[Node, Node] = {
        c.state: State(f"{c.name}.0", c.over, whole=c.state.whole)
        for c in judge.walk.carries
        if c.name in names or c in producers
    }
    facts = [f for end in ends.values() for f in judge.reachable(end)]
    facts += judge.standing.signs([n for n in below if not isinstance(n, State)])
    for p in producers:
        pair = (p.term, ends[p.state])
        facts.append(Map(Fn.LE, pair if p.fold is Fn.MAX else pair[::-1]))
    known = set(ends.values())
    facts = [f for f in facts if all(n in known for n in topo([f]) if isinstance(n, State))]
    low = [ends[p.state] for p in producers if p.fold is Fn.MAX]
    return same_value(substitute(before, ends), substitute(after, ends), facts, low)


def main() -> None:
    """Judges all and prints the count by outcome; exits with 1 if one survives."""
    (asked, *_) = (*sys.argv[1:], "1/1")
    chosen = Part.parse(asked).chosen(every()) if "/" in asked else sample(int(asked))
    count: Counter[str] = Counter()
    for mutant in chosen:
        who, verdict = outcome(mutant)
        count[who] += 1
        if who in ("survived", "equivalent"):
            place = f"{mutant.subject.name}, repair {mutant.number}, {mutant.site}"
            print(f"{who}: {place}: {mutant.what}: {verdict}", flush=True)
    outcomes = ", ".join(f"{who} {n}" for who, n in sorted(count.items()))
    print(f"{count.total()} of {len(every())} mutants: {outcomes}")
    raise SystemExit(bool(count["survived"]))


if __name__ == "__main__":
    main()
