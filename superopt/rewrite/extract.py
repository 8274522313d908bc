"""From a choice of one node a class back to a term of the algebra."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from fractions import Fraction

from superopt.errors import IllTyped
from superopt.rewrite.egraph import FLAT
from superopt.rewrite.egraph import EGraph
from superopt.rewrite.egraph import ENode
from superopt.rewrite.egraph import Folding
from superopt.rewrite.egraph import Ranking
from superopt.rewrite.egraph import Scanning
from superopt.rewrite.egraph import Stepping
from superopt.ugraph import names
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.scalar import Fn

Choice = Mapping[int, ENode]
Elements = Callable[[tuple[str, ...]], float]  # axes -> number of positions


class NoTerm(Exception):  # noqa: N818  # an answer, not an error
    """The choice is cyclic, or its term is not well formed."""


class Builder:
    """Terms of one choice; shared classes become shared nodes.

    Flat sums and products are associated so that the intermediate values are small (``x *
    (g * w)`` or ``(x * g) * w``, never ``(x * w) * g``); in a tie, what was written first is
    joined first.
    """

    def __init__(self, graph: EGraph, choice: Choice, elements: Elements) -> None:
        self.graph = graph
        self.choice = choice
        self.elements = elements
        self.done: dict[int, Node] = {}
        self.open: set[int] = set()

    def term(self, cid: int) -> Node:
        """The chosen term of a class.

        Raises:
            NoTerm: there is none for this choice.
        """
        cid = self.graph.find(cid)
        if (known := self.done.get(cid)) is not None:
            return known
        if cid in self.open:
            raise NoTerm("the choice is cyclic")
        self.open.add(cid)
        made = self._build(self.choice[cid])
        if frozenset(made.axes) != self.graph.facts(cid).axes:
            raise NoTerm("the term has lost an axis")
        self.open.discard(cid)
        self.done[cid] = made
        return made

    def _build(self, node: ENode) -> Node:
        match node.op:
            case Fn.MUL:
                return self._scaled(node, Fraction(1))
            case Fn.ADD:
                return self._sum(node)
            case Fn() as fn if fn in FLAT:
                return self._joined(fn, [self.term(a) for a in node.args])
            case Fn() as fn:
                return ordered(fn, tuple(self.term(a) for a in node.args))
            case Folding(fn=fn, axes=axes):
                made = self.term(node.args[0])
                for axis in reversed(axes):
                    if axis not in made.axes:
                        raise NoTerm("a fold over an axis that the value has not")
                    made = Reduce(fn, axis, made)
                return made
            case Scanning(fn=fn, axis=axis):
                return self._scan(fn, axis, self.term(node.args[0]))
            case Ranking(axis=axis, into=into, of=of, at=at, taken=taken):
                return Best(axis, into, of, tuple(map(self.term, node.args)), at, taken)
            case Stepping(axis=axis, along=along, last=last):
                return self._recurrence(axis, along, tuple(map(self.term, node.args)), last)
            case leaf:
                return leaf

    def _recurrence(
        self, axis: str, along: tuple[tuple[str, ...], ...], args: tuple[Node, ...], last: bool
    ) -> Node:
        try:
            return Recur(axis, along, args[:-1], last, args[-1])
        except IllTyped as error:
            raise NoTerm(str(error)) from error

    def _scan(self, fn: Fn, axis: str, arg: Node) -> Node:
        if axis not in arg.axes:
            raise NoTerm("a scan along an axis that the value has not")
        return Scan(fn, axis, arg)

    def _scaled(self, node: ENode, factor: Fraction) -> Node:
        """A flat product times a number: what is divided by stands below one line."""
        above: list[Node] = []
        below: list[Node] = []
        for cid in node.args:
            chosen = self.choice[self.graph.find(cid)]
            match chosen.op:
                case Const(value=Fraction() as value):
                    factor *= value
                case Fn.DIV if self._is_one(chosen.args[0]):
                    below.append(self.term(chosen.args[1]))
                case _:
                    above.append(self.term(cid))
        if factor != 1 and above:
            # The number goes to the smallest factor, where it costs least.
            small = min(range(len(above)), key=lambda i: (self.elements(above[i].axes), i))
            above[small] = ordered(Fn.MUL, (Const(factor), above[small]))
        elif not above:
            above = [Const(factor)]
        return self._quotient([(n, False) for n in above] + [(n, True) for n in below])

    def _is_one(self, cid: int) -> bool:
        return self.graph.facts(cid).const == 1

    def _quotient(self, parts: list[tuple[Node, bool]]) -> Node:
        """The product of all parts, those with True inverted; small intermediate values first.

        At least one part is not inverted.
        """
        parts = list(parts)
        while len(parts) > 1:
            pairs = [(i, j) for j in range(len(parts)) for i in range(j)]
            i, j = min(pairs, key=lambda p: self._cost(parts[p[0]], parts[p[1]], p))
            (a, under), (b, other) = parts[i], parts[j]
            if under == other:
                parts[i] = (ordered(Fn.MUL, (a, b)), under)
            else:
                parts[i] = (Map(Fn.DIV, (b, a) if under else (a, b)), False)
            del parts[j]
        return parts[0][0]

    def _cost(
        self, a: tuple[Node, bool], b: tuple[Node, bool], pair: tuple[int, int]
    ) -> tuple[float, bool, int, int]:
        return self.elements(_union(a[0], b[0])), a[1] != b[1], pair[1], pair[0]

    def _sum(self, node: ENode) -> Node:
        """A flat sum: terms with a negative number are subtracted."""
        plus: list[Node] = []
        minus: list[Node] = []
        for cid in node.args:
            chosen = self.choice[self.graph.find(cid)]
            if chosen.op is Fn.MUL and self._negative(chosen):
                minus.append(self._scaled(chosen, Fraction(-1)))
            else:
                plus.append(self.term(cid))
        if not minus:
            return self._joined(Fn.ADD, plus)
        less = self._joined(Fn.ADD, minus)
        if not plus:
            return ordered(Fn.MUL, (Const(Fraction(-1)), less))
        return Map(Fn.SUB, (self._joined(Fn.ADD, plus), less))

    def _negative(self, node: ENode) -> bool:
        chosen = [self.choice[self.graph.find(a)].op for a in node.args]
        return any(
            isinstance(op, Const) and isinstance(op.value, Fraction) and op.value < 0
            for op in chosen
        )

    def _joined(self, fn: Fn, parts: list[Node]) -> Node:
        """``fn`` of all parts, smallest intermediate values first."""
        parts = list(parts)
        while len(parts) > 1:
            pairs = [(i, j) for j in range(len(parts)) for i in range(j)]
            i, j = min(
                pairs, key=lambda p: (self.elements(_union(parts[p[0]], parts[p[1]])), p[1], p[0])
            )
            parts[i] = ordered(fn, (parts[i], parts[j]))
            del parts[j]
        return parts[0]


def ordered(fn: Fn, args: tuple[Node, ...]) -> Node:
    """``fn`` of ``args`` in canonical order: by key where the order means nothing."""
    return names.ordered(Map(fn, args))


def _union(a: Node, b: Node) -> tuple[str, ...]:
    return tuple(sorted({*a.axes, *b.axes}))
