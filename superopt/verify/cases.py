"""Terms over the extended reals, by case analysis: one path of decisions at a time.

On a path every comparison, select, maximum and infinity is decided, so what is left is
arithmetic on finite reals in the normal form of ``poly.py``. A path is replayed from its
list of decisions; ``explore`` walks all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from enum import Enum
from fractions import Fraction

from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.atoms import Atoms
from superopt.verify.atoms import Irrational
from superopt.verify.atoms import Leaf
from superopt.verify.atoms import Opaque
from superopt.verify.atoms import Root
from superopt.verify.poly import Poly
from superopt.verify.poly import Ratio
from superopt.verify.poly import number

MOST_PATHS = 256


class Special(Enum):
    """Values that are no finite real."""

    PLUS = "inf"
    MINUS = "-inf"
    UNDEFINED = "undefined"


Value = Ratio | Special | bool
PLUS, MINUS, UNDEFINED = Special.PLUS, Special.MINUS, Special.UNDEFINED


class TooManyPaths(Exception):  # noqa: N818  # an answer (Unknown), not an error
    """The case analysis has more paths than the budget."""


class Infeasible(Exception):  # noqa: N818  # a path that no value takes
    """A fact does not hold on this path."""


@dataclass(frozen=True)
class Condition:
    """``poly`` is negative (``less``) or zero, or it is not."""

    poly: Poly
    less: bool
    holds: bool


Feasible = Callable[["Path"], bool]


@dataclass
class Path:
    """One sequence of decisions, the conditions they amount to, and the values under them.

    ``lowest``, ``highest``: nodes that may also be minus (plus) infinity.
    """

    lowest: Collection[Node]
    highest: Collection[Node]
    feasible: Feasible
    decisions: list[bool]
    taken: int = 0
    conditions: list[Condition] = field(default_factory=list)
    free: dict[tuple[str, Node], bool] = field(default_factory=dict)
    atoms: Atoms = field(default_factory=Atoms)
    done: dict[Node, Value] = field(default_factory=dict)
    forks: list[int] = field(default_factory=list)

    # Decisions ---------------------------------------------------------------------------

    def _decide(self) -> bool:
        if self.taken == len(self.decisions):
            self.decisions.append(True)
            self.forks.append(self.taken)
        self.taken += 1
        return self.decisions[self.taken - 1]

    def choice(self, what: str, node: Node) -> bool:
        """A truth value that nothing else determines."""
        if (what, node) not in self.free:
            self.free[what, node] = self._decide()
        return self.free[what, node]

    def compare(self, value: Poly, less: bool) -> bool:
        """Whether ``value`` is negative (or zero, if not ``less``)."""
        constant = value.constant
        if constant is not None:
            return constant < 0 if less else constant == 0
        for known in self.conditions:
            if known.poly == value and known.less == less:
                return known.holds
        if self.taken < len(self.decisions):
            held = self._decide()
        else:
            held = self._fork(value, less)
        self.conditions.append(Condition(value, less, held))
        return held

    def _fork(self, value: Poly, less: bool) -> bool:
        """Both ways if both are possible."""
        for held in (True, False):
            self.conditions.append(Condition(value, less, held))
            possible = self.feasible(self)
            self.conditions.pop()
            if not possible:
                self.decisions.append(not held)
                self.taken += 1
                return not held
        return self._decide()

    def negative(self, value: Ratio) -> bool:
        return self.compare(value.sign, less=True)

    def zero(self, value: Ratio) -> bool:
        return self.compare(_monic(value.top.cleared()), less=False)

    # Values ------------------------------------------------------------------------------

    def value(self, node: Node) -> Value:
        """The value on this path."""
        if node not in self.done:
            self.done[node] = self._value(node)
        return self.done[node]

    def _value(self, node: Node) -> Value:
        match node:
            case Const(value=value):
                if isinstance(value, Fraction):
                    return Ratio(number(value))
                return PLUS if value == INF else MINUS
            case Named(name=Constant.LN2):
                return self.atoms.log2e(-1)
            case Named(name=name):
                return self.atoms.value(Irrational(name))
            case Map(fn=Fn.WHERE, args=(test, then, otherwise)):
                held = self.value(test)
                if held is UNDEFINED:
                    return UNDEFINED
                return self.value(then if held is True else otherwise)
            case Map(fn=fn, args=args):
                values = [self.value(a) for a in args]
                if UNDEFINED in values:
                    return UNDEFINED
                return self.apply(fn, values)
            case _:
                return self._leaf(node)

    def _leaf(self, node: Node) -> Value:
        if node.kind is Kind.BOOL:
            return self.choice("is true", node)
        unit = node.fn.unit if isinstance(node, Reduce) else 0
        if (node in self.lowest or unit == -INF) and self.choice("is -inf", node):
            return MINUS
        if (node in self.highest or unit == INF) and self.choice("is inf", node):
            return PLUS
        return self.atoms.value(Leaf(node))

    def apply(self, fn: Fn, args: list[Value]) -> Value:
        """``fn`` of decided, defined values."""
        match fn, args:
            case Fn.NOT, [bool() as a]:
                return not a
            case Fn.AND, [bool() as a, bool() as b]:
                return a and b
            case Fn.OR, [bool() as a, bool() as b]:
                return a or b
            case Fn.SUB, [a, b]:
                return self.plus(a, self.times(b, Ratio(number(-1))))
            case Fn.ADD, [a, b]:
                return self.plus(a, b)
            case Fn.MUL, [a, b]:
                return self.times(a, b)
            case Fn.DIV, [a, b]:
                return self.over(a, b)
            case Fn.LT, [a, b]:
                return self.less(a, b)
            case Fn.LE, [a, b]:
                return not self.less(b, a)
            case Fn.EQ, [a, b]:
                return self.equal(a, b)
            case Fn.MAX, [a, b]:
                return b if self.less(a, b) else a
            case Fn.MIN, [a, b]:
                return a if self.less(a, b) else b
            case _, [a] if not isinstance(a, bool):
                return self._unary(fn, a)
            case _:
                raise TypeError(f"{fn.symbol} of {args}")

    def _unary(self, fn: Fn, a: Ratio | Special) -> Value:
        if isinstance(a, Special):
            return _AT_INFINITY[fn].get(a, UNDEFINED)
        one = Ratio(number(1))
        match fn:
            case Fn.ABS:
                return self.times(a, Ratio(number(-1))) if self.negative(a) else a
            case Fn.EXP:
                return self.atoms.power(a * self.atoms.log2e())
            case Fn.EXP2:
                return self.atoms.power(a)
            case Fn.LOG | Fn.LOG2:
                if self.negative(a):
                    return UNDEFINED
                if self.zero(a):
                    return MINUS
                binary = self.atoms.logarithm(a)
                return binary if fn is Fn.LOG2 else binary * self.atoms.log2e(-1)
            case Fn.SQRT:
                return UNDEFINED if self.negative(a) else self.atoms.value(Root(a))
            case Fn.RSQRT:
                if self.negative(a) or self.zero(a):
                    return UNDEFINED
                return one.over(self.atoms.value(Root(a)), frozenset(self.atoms.positive))
            case Fn.SIGMOID:
                return self.over(one, one + self._natural(a * Ratio(number(-1))))
            case Fn.TANH:
                small = self._natural(a * Ratio(number(-2)))
                return self.over(one - small, one + small)
            case _:
                return self.atoms.value(Opaque(fn, a))

    def _natural(self, a: Ratio) -> Ratio:
        return self.atoms.power(a * self.atoms.log2e())

    # Arithmetic with infinities ----------------------------------------------------------

    def plus(self, a: Value, b: Value) -> Value:
        if isinstance(a, Special) or isinstance(b, Special):
            found = [x for x in (a, b) if isinstance(x, Special)]
            return found[0] if all(x is found[0] for x in found) else UNDEFINED
        return _real(a) + _real(b)

    def sign(self, a: Value) -> int:
        if isinstance(a, Special):
            return 1 if a is PLUS else -1
        if self.zero(_real(a)):
            return 0
        return -1 if self.negative(_real(a)) else 1

    def times(self, a: Value, b: Value) -> Value:
        if isinstance(a, Special) or isinstance(b, Special):
            sign = self.sign(a) * self.sign(b)
            return UNDEFINED if sign == 0 else PLUS if sign > 0 else MINUS
        return _real(a) * _real(b)

    def over(self, a: Value, b: Value) -> Value:
        if isinstance(b, Special):
            return UNDEFINED if isinstance(a, Special) else Ratio(number(0))
        if self.zero(_real(b)):
            return UNDEFINED
        if isinstance(a, Special):
            return self.times(a, b)
        return _real(a).over(_real(b), frozenset(self.atoms.positive))

    def less(self, a: Value, b: Value) -> bool:
        if isinstance(a, Special) or isinstance(b, Special):
            return a is not b and (a is MINUS or b is PLUS)
        return self.negative(_real(a) - _real(b))

    def equal(self, a: Value, b: Value) -> bool:
        if isinstance(a, Special) or isinstance(b, Special):
            return a is b
        return self.zero(_real(a) - _real(b))


def explore(
    start: Callable[[list[bool]], Path], run: Callable[[Path], None], most: int = MOST_PATHS
) -> Iterator[Path]:
    """Every path on which ``run`` is possible, after ``run``.

    Raises:
        TooManyPaths: there are more than ``most``.
    """
    waiting: list[list[bool]] = [[]]
    count = 0
    while waiting:
        path = start(waiting.pop())
        possible = True
        try:
            run(path)
        except Infeasible:
            possible = False
        waiting += [[*path.decisions[:i], False] for i in path.forks]
        if possible:
            yield path
        count += 1
        if count > most:
            raise TooManyPaths(f"more than {most} cases")


def _real(value: Value) -> Ratio:
    if not isinstance(value, Ratio):
        raise TypeError(f"{value} is no finite real")
    return value


def _monic(value: Poly) -> Poly:
    """Scaled so that equal conditions look equal."""
    return value.scaled(1 / value.terms[0][1]) if value.terms else value


_ZERO, _ONE, _MINUS_ONE = (Ratio(number(n)) for n in (0, 1, -1))
_AT_INFINITY: dict[Fn, dict[Special, Value]] = {
    Fn.ABS: {PLUS: PLUS, MINUS: PLUS},
    Fn.EXP: {PLUS: PLUS, MINUS: _ZERO},
    Fn.EXP2: {PLUS: PLUS, MINUS: _ZERO},
    Fn.LOG: {PLUS: PLUS},
    Fn.LOG2: {PLUS: PLUS},
    Fn.SQRT: {PLUS: PLUS},
    Fn.RSQRT: {PLUS: _ZERO},
    Fn.TANH: {PLUS: _ONE, MINUS: _MINUS_ONE},
    Fn.SIGMOID: {PLUS: _ONE, MINUS: _ZERO},
    Fn.ERF: {PLUS: _ONE, MINUS: _MINUS_ONE},
}
