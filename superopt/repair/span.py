"""What values a node can take: a hull, and whether zero, infinities and "undefined" are in it.

An abstract evaluation, sound and coarse: correlations between two occurrences of a value are
lost (but ``v * v`` is a square). Inputs are finite, sizes at least 1 (``contract.md``, Values:
where an axis is empty a walk never runs, and the epilogue is the spec's own).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from fractions import Fraction

from superopt.ugraph.grids import GRIDS
from superopt.ugraph.grids import Grid
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.ugraph.walk import children

ZERO = Fraction(0)
ONE = Fraction(1)


@dataclass(frozen=True)
class Span:
    """A set of values: within ``lo .. hi``, zero only if ``zero``, infinite only if ``inf`` or
    ``ninf``, undefined (0/0, inf - inf) only if ``nan``. Truth values are 0 and 1."""

    lo: Number
    hi: Number
    zero: bool = True
    inf: bool = False
    ninf: bool = False
    nan: bool = False

    @property
    def point(self) -> Number | None:
        """The only value there is, if there is only one."""
        if self.nan or self.lo != self.hi:
            return None
        return self.lo if self.zero or self.lo != 0 else None

    @property
    def positive(self) -> bool:
        """Greater than zero, infinity allowed."""
        return self.lo >= 0 and not self.zero and not self.nan

    @property
    def nonnegative(self) -> bool:
        """At least zero, infinity allowed."""
        return self.lo >= 0 and not self.nan

    @property
    def nonzero(self) -> bool:
        """Defined, and never zero."""
        return not self.nan and not (self.zero and self.lo <= 0 <= self.hi)

    @property
    def finite(self) -> bool:
        """Defined, and never infinite."""
        return not (self.inf or self.ninf or self.nan)


FINITE = Span(-INF, INF)
ANY = Span(-INF, INF, True, True, True, True)
POSITIVE = Span(ZERO, INF, zero=False)
TRUTH = Span(ZERO, ONE)


def at(value: Number) -> Span:
    """The span of one value."""
    return Span(value, value, value == 0, value == INF, value == -INF)


def join(a: Span, b: Span) -> Span:
    """Values of either."""
    return Span(
        min(a.lo, b.lo),
        max(a.hi, b.hi),
        a.zero or b.zero,
        a.inf or b.inf,
        a.ninf or b.ninf,
        a.nan or b.nan,
    )


def without(a: Span, value: Number) -> Span:
    """``a`` when it is known not to be ``value`` (zero or an infinity; else nothing is gained)."""
    if value == 0:
        return replace(a, zero=False)
    if value == -INF:
        return replace(a, ninf=False)
    return replace(a, inf=False) if value == INF else a


def span(node: Node, known: Mapping[Node, Span]) -> Span:
    """The values of ``node``, given those of some leaves or subterms. Unknown states: any."""
    return _Evaluation(known).of(node)


class _Evaluation:
    def __init__(self, known: Mapping[Node, Span]) -> None:
        self.done: dict[Node, Span] = dict(known)
        self.known = known

    def of(self, node: Node) -> Span:
        if node not in self.done:
            self.done[node] = self._of(node)
        return self.done[node]

    def _of(self, node: Node) -> Span:
        match node:
            case Const(value=value):
                return at(value)
            case Named():
                return POSITIVE
            case Size():
                return Span(ONE, INF, zero=False)
            case Index():
                return Span(ZERO, INF)
            case Input() | Scalar():
                return FINITE
            case Reduce(fn=fn, arg=arg) | Scan(fn=fn, arg=arg):
                return folded(fn, self.of(arg))
            case Recur() if all(self.of(a).finite for a in children(node)):
                return FINITE
            case Map(fn=Fn.WHERE, args=(condition, then, otherwise)):
                return self._where(condition, then, otherwise)
            case Map(fn=Fn.MUL, args=(a, b)) if a is b:
                return _square(self.of(a))
            case Map(fn=fn, args=args):
                return _apply(fn, [self.of(a) for a in args])
            case _:
                return ANY

    def _where(self, condition: Node, then: Node, otherwise: Node) -> Span:
        truth = self.of(condition).point
        if truth is not None:
            return self.of(then if truth else otherwise)
        match condition:
            case (
                Map(fn=Fn.EQ, args=(value, Const(value=c)))
                | Map(fn=Fn.EQ, args=(Const(value=c), value))
            ):
                known = {**self.known, value: without(self.of(value), c)}
                return join(self.of(then), _Evaluation(known).of(otherwise))
            case _:
                return join(self.of(then), self.of(otherwise))


def folded(fn: Fn, arg: Span) -> Span:
    """A fold of at least one value of ``arg``."""
    if fn in (Fn.MAX, Fn.MIN):
        return arg
    if fn is Fn.ADD:
        lo = arg.lo if arg.lo == 0 else (ZERO if arg.lo > 0 else -INF)
        hi = arg.hi if arg.hi == 0 else (ZERO if arg.hi < 0 else INF)
        signed = arg.lo >= 0 or arg.hi <= 0
        return Span(
            lo, hi, arg.zero or not signed, arg.inf, arg.ninf, arg.nan or (arg.inf and arg.ninf)
        )
    return ANY if not arg.finite else FINITE


def direction(fn: Fn, arg: Node) -> int:
    """Where a fold of finite values goes as it takes in more of ``arg``: 1 for never down, -1 for
    never up, 0 if that is not known."""
    values = span(arg, {})
    if fn is not Fn.ADD or not values.finite:
        return 0
    return 1 if values.lo >= 0 else -1 if values.hi <= 0 else 0


def _apply(fn: Fn, args: list[Span]) -> Span:  # noqa: C901  one row a function
    nan = any(a.nan for a in args)
    a = args[0]
    match fn:
        case Fn.ADD:
            return _add(a, args[1])
        case Fn.SUB:
            return _add(a, _negative(args[1]))
        case Fn.MUL:
            return _multiply(a, args[1])
        case Fn.DIV:
            return _multiply(a, _inverse(args[1]))
        case Fn.MAX | Fn.MIN:
            return _extremum(a, args[1], fn is Fn.MAX)
        case Fn.ABS:
            return _absolute(a)
        case Fn.EXP | Fn.EXP2:
            hi = ZERO if a.hi == -INF else (ONE if a.hi <= 0 else INF)
            return Span(ZERO if a.lo < 0 else ONE, hi, a.ninf, a.inf, False, nan)
        case Fn.LOG | Fn.LOG2:
            lo, hi = ZERO if a.lo >= 1 else -INF, ZERO if a.hi <= 1 else INF
            return Span(lo, hi, a.lo <= 1 <= a.hi, a.inf, a.zero and lo < 0, nan or a.lo < 0)
        case Fn.SQRT:
            return Span(ZERO, INF if a.hi > 0 else ZERO, a.zero, a.inf, False, nan or a.lo < 0)
        case Fn.RSQRT:  # loose bounds are enough; at zero it is infinite
            hi = INF if a.lo <= 0 else Fraction(1 / math.sqrt(a.lo)) + ONE
            known = a.hi != INF and a.hi > 0
            lo = Fraction(1 / math.sqrt(a.hi)) * Fraction(999, 1000) if known else ZERO
            return Span(lo, hi, a.inf, a.zero, False, nan or a.lo < 0)
        case Fn.SIGMOID:
            return Span(ZERO, ONE, a.ninf, False, False, nan)
        case Fn.TANH | Fn.ERF:
            return Span(-ONE, ONE, a.zero, False, False, nan)
        case Fn.EQ:
            return _equal(a, args[1])
        case Fn.LT | Fn.LE:
            return _less(a, args[1], fn is Fn.LE)
        case Fn.NOT:
            return TRUTH if a.point is None else at(ONE - Fraction(a.point))
        case Fn.AND | Fn.OR:
            decisive = ZERO if fn is Fn.AND else ONE
            if any(x.point == decisive for x in args):
                return at(decisive)
            both = all(x.point is not None for x in args)
            return at(ONE - decisive) if both else TRUTH
        case Fn.WHERE:
            return join(args[1], args[2])
        case _:
            return _rounded(a, GRIDS[fn])


def _rounded(a: Span, grid: Grid) -> Span:
    """A rounding keeps signs and infinities; a small number may become zero."""
    lo = ZERO if a.lo >= 0 else -INF if a.ninf else grid.lowest
    hi = ZERO if a.hi <= 0 else INF if a.inf else grid.largest
    return Span(lo, hi, True, a.inf, a.ninf, a.nan)


def _negative(a: Span) -> Span:
    return Span(-a.hi, -a.lo, a.zero, a.ninf, a.inf, a.nan)


def _add(a: Span, b: Span) -> Span:
    def end(x: Number, y: Number, worst: Number) -> Number:
        return worst if worst in (x, y) else x + y

    for x, y in ((a, b), (b, a)):
        if x.point in (INF, -INF) and y.finite:
            return x
    lo, hi = end(a.lo, b.lo, -INF), end(a.hi, b.hi, INF)
    nan = a.nan or b.nan or (a.inf and b.ninf) or (a.ninf and b.inf)
    same_sign = (a.lo >= 0 and b.lo >= 0) or (a.hi <= 0 and b.hi <= 0)
    zero = (a.zero and b.zero) if same_sign else lo <= 0 <= hi
    return Span(lo, hi, zero, a.inf or b.inf, a.ninf or b.ninf, nan)


def _multiply(a: Span, b: Span) -> Span:
    for x, y in ((a, b), (b, a)):
        if x.point in (INF, -INF) and y.nonzero and (y.lo >= 0 or y.hi <= 0):
            return x if y.lo >= 0 else _negative(x)
    infinite = (a.inf or a.ninf, b.inf or b.ninf)
    nan = a.nan or b.nan or (a.zero and infinite[1]) or (b.zero and infinite[0])
    corners = [ZERO if 0 in (x, y) else x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    pairs = ((a, b), (b, a))
    inf = any((x.inf and y.hi > 0) or (x.ninf and y.lo < 0) for x, y in pairs)
    ninf = any((x.inf and y.lo < 0) or (x.ninf and y.hi > 0) for x, y in pairs)
    return Span(min(corners), max(corners), a.zero or b.zero, inf, ninf, nan)


def _square(a: Span) -> Span:
    both = _absolute(a)
    return _multiply(both, both) if a.nonzero else replace(_multiply(both, both), nan=a.nan)


def _absolute(a: Span) -> Span:
    low, high = (-x if x < 0 else x for x in (a.lo, a.hi))
    lo = ZERO if a.lo <= 0 <= a.hi else min(low, high)
    return Span(lo, max(low, high), a.zero, a.inf or a.ninf, False, a.nan)


def _inverse(a: Span) -> Span:
    """Division by zero is undefined, whatever is divided."""
    nan = a.nan or (a.zero and a.lo <= 0 <= a.hi)
    if a.lo > 0 or a.hi < 0:
        lo, hi = (ZERO if x in (INF, -INF) else 1 / x for x in (a.hi, a.lo))
        return Span(lo, hi, a.inf or a.ninf, False, False, nan)
    lo = ZERO if a.lo >= 0 else -INF
    return Span(lo, ZERO if a.hi <= 0 else INF, a.inf or a.ninf, False, False, nan)


def _extremum(a: Span, b: Span, largest: bool) -> Span:
    if not largest:
        return _negative(_extremum(_negative(a), _negative(b), True))
    lo, hi = max(a.lo, b.lo), max(a.hi, b.hi)
    positive = (a.lo >= 0 and not a.zero) or (b.lo >= 0 and not b.zero)
    zero = (a.zero or b.zero) and not positive and lo <= 0
    return Span(lo, hi, zero, a.inf or b.inf, a.ninf and b.ninf, a.nan or b.nan)


def _equal(a: Span, b: Span) -> Span:
    if a.point is not None and b.point is not None:
        return at(ONE if a.point == b.point else ZERO)
    for x, y in ((a, b), (b, a)):
        c = x.point
        if c is None or y.nan:
            continue
        if c < y.lo or c > y.hi or _excluded(c, y):
            return at(ZERO)
    return TRUTH


def _excluded(c: Number, a: Span) -> bool:
    return (c == 0 and not a.zero) or (c == INF and not a.inf) or (c == -INF and not a.ninf)


def _less(a: Span, b: Span, or_equal: bool) -> Span:
    if a.nan or b.nan:
        return TRUTH
    if a.hi < b.lo or (or_equal and a.hi == b.lo):
        return at(ONE)
    if a.lo > b.hi or (not or_equal and a.lo == b.hi):
        return at(ZERO)
    return TRUTH
