"""Many equal terms in little space: classes of equal nodes, closed under congruence.

An e-node is an operator and the classes of its arguments. Associative and commutative
functions are *flat*: one node holds all arguments, sorted, so that neither the order nor
the association of operands can be seen by a law. In the same spirit ``a - b`` is
``a + (-1) b``, ``a / b`` is ``a * (1 / b)``, and nested folds of one function are one fold
over several axes. Each of these identities is a proved law (``structural`` in
``algebra.py`` and ``folds.py``).

(Union-find, hash-consing, rebuilding and class analysis as in egg, Willsey et al. 2021.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from superopt.rewrite import facts as fact_table
from superopt.rewrite.facts import Facts
from superopt.ugraph.node import Const
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.scalar import Number

FLAT = (Fn.ADD, Fn.MUL, Fn.MAX, Fn.MIN, Fn.AND, Fn.OR)
MOST_ARGS = 10  # longer flat nodes are not built by flattening


@dataclass(frozen=True)
class Folding:
    """The operator of a fold: the function and the axes, sorted."""

    fn: Fn
    axes: tuple[str, ...]


@dataclass(frozen=True)
class Scanning:
    """The operator of a scan along an axis."""

    fn: Fn
    axis: str


@dataclass(frozen=True)
class Ranking:
    """The operator of a list of the best (``node.Best``)."""

    axis: str
    into: str
    of: str
    at: bool
    taken: bool


@dataclass(frozen=True)
class Stepping:
    """The operator of a recurrence (``node.Recur``)."""

    axis: str
    along: tuple[tuple[str, ...], ...]
    last: bool


Op = Fn | Folding | Scanning | Ranking | Stepping | Node  # a Node stands for a leaf


@dataclass(frozen=True)
class ENode:
    """An operator applied to classes."""

    op: Op
    args: tuple[int, ...] = ()


@dataclass(frozen=True)
class Origin:
    """How a node came into its class: by ``law``, from ``before`` of the same class."""

    law: str
    before: ENode


@dataclass
class EClass:
    """Equal nodes, in order of arrival, and what is known of their value."""

    nodes: dict[ENode, Origin | None]
    facts: Facts


class EGraph:
    """Classes of equal nodes. Ids are given in order of arrival, so they are deterministic.

    ``domain``: axes that may be taken as non-empty where a law does not fold over them.
    ``entered``: classes with a smaller id hold what was written, not what a law made.
    """

    def __init__(self, domain: frozenset[str] = frozenset()) -> None:
        self.domain = domain
        self.entered = 0
        self.parent: list[int] = []
        self.classes: dict[int, EClass] = {}
        self.memo: dict[ENode, int] = {}
        self.dirty: list[int] = []

    def find(self, cid: int) -> int:
        """The representative of a class."""
        while self.parent[cid] != cid:
            self.parent[cid] = self.parent[self.parent[cid]]
            cid = self.parent[cid]
        return cid

    def facts(self, cid: int) -> Facts:
        """What is known of the value of a class."""
        return self.classes[self.find(cid)].facts

    def nodes(self, cid: int) -> list[ENode]:
        """The nodes of a class, in order of arrival."""
        return list(self.classes[self.find(cid)].nodes)

    def canonical(self, node: ENode) -> ENode:
        """The node over representatives, commutative arguments sorted."""
        args = tuple(map(self.find, node.args))
        if node.op in FLAT or (isinstance(node.op, Fn) and node.op.value.commutative):
            args = tuple(sorted(args))
        return node if args == node.args else ENode(node.op, args)

    def add(self, node: ENode, origin: Origin | None = None) -> int:
        """The class of ``node``, which is new if no equal node is known."""
        node = self.canonical(node)
        if (known := self.memo.get(node)) is not None:
            return self.find(known)
        cid = len(self.parent)
        self.parent.append(cid)
        self.classes[cid] = EClass({node: origin}, self.facts_of(node))
        self.memo[node] = cid
        return cid

    def leaf(self, node: Node) -> int:
        """The class of a leaf."""
        return self.add(ENode(node))

    def number(self, value: Number) -> int:
        """The class of a number."""
        return self.leaf(Const(value))

    def apply(self, fn: Fn, args: Iterable[int], origin: Origin | None = None) -> int:
        """``fn`` of classes in normal form: differences, quotients and numbers folded."""
        ids = [self.find(a) for a in args]
        if fn is Fn.SUB:
            return self.apply(Fn.ADD, [ids[0], self.negated(ids[1])], origin)
        if fn is Fn.DIV:
            return self.apply(Fn.MUL, [ids[0], self.inverse(ids[1])], origin)
        if fn in (Fn.ADD, Fn.MUL):
            return self._arithmetic(fn, ids, origin)
        return self.add(ENode(fn, tuple(ids)), origin)

    def negated(self, cid: int) -> int:
        """The class of ``-1 * cid``."""
        return self.apply(Fn.MUL, [self.number(Fraction(-1)), cid])

    def inverse(self, cid: int) -> int:
        """The class of ``1 / cid``."""
        const = self.facts(cid).const
        if isinstance(const, Fraction) and const != 0:
            return self.number(1 / const)
        return self.add(ENode(Fn.DIV, (self.number(Fraction(1)), cid)))

    def as_real(self, cid: int) -> int:
        """The class of the same number as a real: a whole one, of which a fold overflows
        sooner, is divided by 1; no law drops that."""
        facts = self.facts(cid)
        if facts.kind is not Kind.INT or facts.const is not None:
            return cid
        return self.add(ENode(Fn.DIV, (cid, self.number(Fraction(1)))))

    def _arithmetic(self, fn: Fn, ids: list[int], origin: Origin | None) -> int:
        """A flat sum or product with its finite numbers folded into one."""
        unit = Fraction(1) if fn is Fn.MUL else Fraction(0)
        number, rest = unit, []
        for cid in ids:
            const = self.facts(cid).const
            if isinstance(const, Fraction):
                number = number * const if fn is Fn.MUL else number + const
            else:
                rest.append(cid)
        if number != unit or not rest:
            rest.append(self.number(number))
        return rest[0] if len(rest) == 1 else self.add(ENode(fn, tuple(rest)), origin)

    def fold(self, fn: Fn, axes: Iterable[str], arg: int) -> int:
        """A fold over ``axes`` (nothing to do if there are none)."""
        over = tuple(sorted(set(axes)))
        return self.add(ENode(Folding(fn, over), (arg,))) if over else self.find(arg)

    # Analysis ----------------------------------------------------------------------------

    def facts_of(self, node: ENode) -> Facts:
        """What the operator says about the value, given the facts of the arguments."""
        args = [self.facts(a) for a in node.args]
        match node.op:
            case Folding(fn=fn, axes=axes):
                return fact_table.of_fold(fn, frozenset(axes), args[0])
            case Scanning(fn=fn, axis=axis):
                return fact_table.of_scan(fn, axis, args[0])
            case Ranking(axis=axis, into=into, at=at, taken=taken):
                return fact_table.of_best(axis, into, args, at, taken)
            case Stepping(axis=axis, last=last):
                return fact_table.of_recurrence(axis, args, last)
            case Fn.WHERE:
                then, otherwise = self._arms(node)
                kind = _result_kind(Fn.WHERE, args[1:])
                return fact_table.of_where(args[0], then, otherwise, kind)
            case Fn() as fn:
                same = all(node.args.count(a) % 2 == 0 for a in node.args)
                return fact_table.of_map(fn, args, _result_kind(fn, args), same)
            case leaf:
                return fact_table.of_leaf(leaf)

    def _arms(self, node: ENode) -> tuple[Facts, Facts]:
        """Facts of a select's arms, sharpened by the condition when it compares an arm."""
        condition, yes, no = (self.find(a) for a in node.args)
        then, otherwise = self.facts(yes), self.facts(no)
        for test in self.nodes(condition):
            if test.op is Fn.EQ:
                for value, other in (test.args, test.args[::-1]):
                    const = self.facts(other).const
                    if const is not None and self.find(value) == no:
                        otherwise = fact_table.refined(otherwise, const, equal=False)
                    if const is not None and self.find(value) == yes:
                        then = fact_table.refined(then, const, equal=True)
            above = test.op is Fn.LT and self.facts(test.args[0]).const == -INF
            if above and self.find(test.args[1]) == yes:
                then = fact_table.refined(then, -INF, equal=False)
        return then, otherwise

    # Equality ----------------------------------------------------------------------------

    def union(self, a: int, b: int, origin: Origin | None = None) -> bool:
        """Make two classes one; False if they were, or if they cannot be one value.

        Nodes of ``b``'s class without an origin get ``origin``.
        """
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        first, second = self.classes[a], self.classes[b]
        if first.facts.axes != second.facts.axes or first.facts.kind is not second.facts.kind:
            return False
        if b < a:
            a, b, first, second = b, a, second, first
        self.parent[b] = a
        for node, known in second.nodes.items():
            first.nodes.setdefault(node, known if known is not None else origin)
        first.facts = first.facts.merged(second.facts)
        del self.classes[b]
        self.dirty.append(a)
        return True

    def rebuild(self) -> None:
        """Restore congruence and the analysis after unions.

        Everything is looked at again: graphs are kept to a few thousand nodes, and a full
        pass costs milliseconds.
        """
        if not self.dirty:
            return
        while self.dirty:
            self.dirty = []
            self._congruence()
        while self._sharpen():
            pass

    def _congruence(self) -> None:
        self.memo = {}
        for cid, cls in list(self.classes.items()):
            nodes: dict[ENode, Origin | None] = {}
            for node, origin in cls.nodes.items():
                nodes.setdefault(self.canonical(node), origin)
            cls.nodes = nodes
            for node in nodes:
                known = self.memo.setdefault(node, cid)
                if self.find(known) != self.find(cid):
                    self.union(known, cid)

    def _sharpen(self) -> bool:
        """One pass of the analysis; whether any class learnt something."""
        learnt = False
        for cls in self.classes.values():
            for node in cls.nodes:
                better = cls.facts.merged(self.facts_of(node))
                if better != cls.facts:
                    cls.facts, learnt = better, True
        return learnt

    @property
    def size(self) -> int:
        """The number of nodes."""
        return sum(len(c.nodes) for c in self.classes.values())

    @property
    def size_hint(self) -> int:
        """An upper bound of ``size`` that costs nothing."""
        return len(self.memo)


def _result_kind(fn: Fn, args: list[Facts]) -> Kind:
    if fn.value.result is not None:
        return fn.value.result
    kinds = [a.kind for a in args]
    if kinds and all(k is Kind.BOOL for k in kinds):
        return Kind.BOOL
    return Kind.INT if all(k is Kind.INT for k in kinds) else Kind.REAL
