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

from superopt.ugraph.grids import GRIDS
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.reals.atoms import Atoms
from superopt.verify.reals.atoms import Irrational
from superopt.verify.reals.atoms import Leaf
from superopt.verify.reals.atoms import Opaque
from superopt.verify.reals.atoms import Root
from superopt.verify.reals.poly import Poly
from superopt.verify.reals.poly import Ratio
from superopt.verify.reals.poly import number

MOST_PATHS = 2048


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

    ``lowest``, ``highest``, ``undefined``: nodes that may also be minus (plus) infinity, or
    have no value.
    """

    lowest: Collection[Node]
    highest: Collection[Node]
    undefined: Collection[Node]
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
        known_already = self.taken < len(self.decisions)
        held = self._decide() if known_already else self._fork(value, less)
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
        """Whether a value is less than zero."""
        return self.compare(value.sign, less=True)

    def zero(self, value: Ratio) -> bool:
        """Whether a value is zero."""
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
        if node in self.undefined and self.choice("is undefined", node):
            return UNDEFINED
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
        if fn is Fn.NOT:
            return args[0] is False
        if len(args) == 2:
            return _BINARY[fn](self, *args)
        (a,) = args
        if isinstance(a, Special):
            return _AT_INFINITY[fn].get(a, UNDEFINED)
        return _UNARY[fn](self, _real(a))

    def _abs(self, a: Ratio) -> Value:
        return a * _MINUS_ONE if self.negative(a) else a

    def _log2(self, a: Ratio) -> Value:
        if self.negative(a):
            return UNDEFINED
        return MINUS if self.zero(a) else self.atoms.logarithm(a)

    def _log(self, a: Ratio) -> Value:
        binary = self._log2(a)
        return binary * self.atoms.log2e(-1) if isinstance(binary, Ratio) else binary

    def _sqrt(self, a: Ratio) -> Value:
        return UNDEFINED if self.negative(a) else self.atoms.value(Root(a))

    def _rsqrt(self, a: Ratio) -> Value:
        if self.negative(a) or self.zero(a):
            return UNDEFINED
        return _ONE.over(self.atoms.value(Root(a)), frozenset(self.atoms.positive))

    def _sigmoid(self, a: Ratio) -> Value:
        return self.over(_ONE, _ONE + self._natural(a * _MINUS_ONE))

    def _tanh(self, a: Ratio) -> Value:
        small = self._natural(a * Ratio(number(-2)))
        return self.over(_ONE - small, _ONE + small)

    def _natural(self, a: Ratio) -> Ratio:
        return self.atoms.power(a * self.atoms.log2e())

    # Arithmetic with infinities ----------------------------------------------------------

    def plus(self, a: Value, b: Value) -> Value:
        """The sum; infinities of different sign have none."""
        if isinstance(a, Special) or isinstance(b, Special):
            found = [x for x in (a, b) if isinstance(x, Special)]
            return found[0] if all(x is found[0] for x in found) else UNDEFINED
        return _real(a) + _real(b)

    def sign(self, a: Value) -> int:
        """-1, 0 or 1."""
        if isinstance(a, Special):
            return 1 if a is PLUS else -1
        if self.zero(_real(a)):
            return 0
        return -1 if self.negative(_real(a)) else 1

    def times(self, a: Value, b: Value) -> Value:
        """The product; zero times an infinity has none."""
        if isinstance(a, Special) or isinstance(b, Special):
            sign = self.sign(a) * self.sign(b)
            return UNDEFINED if sign == 0 else PLUS if sign > 0 else MINUS
        return _real(a) * _real(b)

    def over(self, a: Value, b: Value) -> Value:
        """The quotient; there is none by zero, or of infinities."""
        if isinstance(b, Special):
            return UNDEFINED if isinstance(a, Special) else Ratio(number(0))
        if self.zero(_real(b)):
            return UNDEFINED
        if isinstance(a, Special):
            return self.times(a, b)
        return _real(a).over(_real(b), frozenset(self.atoms.positive))

    def less(self, a: Value, b: Value) -> bool:
        """Whether ``a < b``."""
        if isinstance(a, Special) or isinstance(b, Special):
            return a is not b and (a is MINUS or b is PLUS)
        return self.negative(_real(a) - _real(b))

    def equal(self, a: Value, b: Value) -> bool:
        """Whether ``a == b``."""
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


def _opaque(fn: Fn) -> Callable[[Path, Ratio], Value]:
    return lambda path, a: path.atoms.value(Opaque(fn, a))


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
    **{fn: {PLUS: PLUS, MINUS: MINUS} for fn in GRIDS},
}
_BINARY: dict[Fn, Callable[[Path, Value, Value], Value]] = {
    Fn.AND: lambda p, a, b: a is True and b is True,
    Fn.OR: lambda p, a, b: a is True or b is True,
    Fn.ADD: Path.plus,
    Fn.SUB: lambda p, a, b: p.plus(a, p.times(b, _MINUS_ONE)),
    Fn.MUL: Path.times,
    Fn.DIV: Path.over,
    Fn.LT: Path.less,
    Fn.LE: lambda p, a, b: not p.less(b, a),
    Fn.EQ: Path.equal,
    Fn.MAX: lambda p, a, b: b if p.less(a, b) else a,
    Fn.MIN: lambda p, a, b: a if p.less(a, b) else b,
}
_UNARY: dict[Fn, Callable[[Path, Ratio], Value]] = {
    Fn.ABS: Path._abs,
    Fn.EXP: Path._natural,
    Fn.EXP2: lambda p, a: p.atoms.power(a),
    Fn.LOG: Path._log,
    Fn.LOG2: Path._log2,
    Fn.SQRT: Path._sqrt,
    Fn.RSQRT: Path._rsqrt,
    Fn.SIGMOID: Path._sigmoid,
    Fn.TANH: Path._tanh,
    Fn.ERF: _opaque(Fn.ERF),
    **{fn: _opaque(fn) for fn in GRIDS},
}
# Functions with a meaning here; ``WHERE`` and ``NOT`` are decided by the path itself.
MEANING = frozenset({*_BINARY, *_UNARY, Fn.WHERE, Fn.NOT})
