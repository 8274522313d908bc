"""Whether known laws already make two terms equal: by saturating an e-graph that holds both.

Laws are used in both directions here, structural ones by the representation; what is not
derived within the budget counts as new, so the budget costs brevity, never truth.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from superopt.discover.fingerprint import Domain
from superopt.discover.vocabulary import AXIS
from superopt.discover.vocabulary import Vocabulary
from superopt.rewrite.egraph import EGraph
from superopt.rewrite.egraph import ENode
from superopt.rewrite.facts import NONE
from superopt.rewrite.facts import Facts
from superopt.rewrite.match import Matcher
from superopt.rewrite.rule import App
from superopt.rewrite.rule import AxisFree
from superopt.rewrite.rule import Fact
from superopt.rewrite.rule import Fold
from superopt.rewrite.rule import HasAxis
from superopt.rewrite.rule import Num
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import Rule
from superopt.rewrite.rule import Var
from superopt.rewrite.saturate import Budget
from superopt.rewrite.saturate import grow
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Kind

SMALL = Budget(nodes=60, rounds=3, matches=40)


class Assumed(EGraph):
    """An e-graph whose leaves have the facts of a domain, and whose numbers are reals."""

    def __init__(self, facts: dict[Input, Facts]) -> None:
        super().__init__()
        self.assumed = facts

    def facts_of(self, node: ENode) -> Facts:
        """Those of the domain for a leaf, reals for numbers, else what the operator says."""
        match node.op:
            case Input() as leaf:
                return self.assumed[leaf]
            case Const():
                return replace(super().facts_of(node), kind=Kind.REAL)
            case _:
                return super().facts_of(node)


@dataclass
class Deriver:
    """Knows laws, of which there can be more and more, and the facts of a domain's holes."""

    vocabulary: Vocabulary
    domain: Domain
    matchers: dict[str, Matcher] = field(default_factory=dict)
    leaves: dict[str, Input] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for hole in self.vocabulary.holes:
            dtype = "bool" if hole in self.vocabulary.truths else None
            axes = (AXIS,) if hole in self.vocabulary.elements else ()
            self.leaves[hole] = Input(hole, axes, dtype)

    def learn(self, laws: Iterable[Rule]) -> None:
        """More laws, each in the directions in which it can be applied."""
        for law in laws:
            for one in directions(law):
                self.matchers[one.name] = Matcher(one)

    def same(self, left: Pattern, right: Pattern) -> bool:
        """Whether the laws make the two terms one class."""
        graph = Assumed({leaf: self._facts(leaf) for leaf in self.leaves.values()})
        ends = self._enter(graph, left), self._enter(graph, right)
        if graph.find(ends[0]) == graph.find(ends[1]):
            return True
        for _ in range(SMALL.rounds):
            done = grow(graph, self.matchers, replace(SMALL, rounds=1))
            if graph.find(ends[0]) == graph.find(ends[1]):
                return True
            if done or graph.size > SMALL.nodes:
                return False
        return False

    def _facts(self, leaf: Input) -> Facts:
        facts = self.domain.facts
        if leaf.kind is Kind.BOOL:
            facts = tuple(f for f in facts if f is Fact.DEFINED)
        known = dict.fromkeys(facts, NONE)
        return Facts(frozenset(leaf.axes), leaf.kind, known)

    def _enter(self, graph: EGraph, pattern: Pattern) -> int:
        match pattern:
            case Var(name=name):
                return graph.leaf(self.leaves[name])
            case Num(value=value):
                return graph.number(value)
            case App(fn=fn, args=args):
                return graph.apply(fn, [self._enter(graph, a) for a in args])
            case Fold(fn=fn, axis=axis, arg=arg):
                return graph.fold(fn, (axis,), self._enter(graph, arg))
            case _:
                raise TypeError(f"no term: {pattern!r}")


def directions(law: Rule) -> Iterator[Rule]:
    """The law from left to right and from right to left, as far as the side that is matched binds
    every hole and axis."""
    back = replace(law, name=f"{law.name} reversed", left=law.right, right=law.left, fallback=None)
    for one in (law, back):
        if set(one.holes) <= set(_bound(one.left)) and set(one.axes) <= set(_axes(one.left)):
            yield one


def _bound(pattern: Pattern) -> list[str]:
    match pattern:
        case Var(name=name):
            return [name]
        case App(args=args):
            return [h for a in args for h in _bound(a)]
        case Fold(arg=arg):
            return _bound(arg)
        case _:
            return []


def _axes(pattern: Pattern) -> list[str]:
    match pattern:
        case App(args=args):
            return [a for arg in args for a in _axes(arg)]
        case Fold(axis=axis, arg=arg):
            return [axis, *_axes(arg)]
        case _:
            return []


def needs_of(vocabulary: Vocabulary, holes: Iterable[str], folds: bool) -> list[AxisFree | HasAxis]:
    """What a law says of holes and the axis: which vary over it."""
    if not folds:
        return []
    return [
        HasAxis(h, AXIS) if h in vocabulary.elements else AxisFree(h, AXIS)
        for h in holes
        if h not in vocabulary.truths
    ]
