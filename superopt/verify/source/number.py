"""Numbers of the launcher: the doubles that it computes, and the exact values they stand for."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from superopt.ugraph.domain import Domain
from superopt.ugraph.floats import CONSTANTS
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.verify.source.cells import literal
from superopt.verify.source.cells import undefined
from superopt.verify.source.choices import Truth
from superopt.verify.source.faults import OutsideVocabularyError


class Real:
    """A float of the launcher.

    ``approximate`` decides comparisons, as it does when the launcher runs with these sizes and
    scalars. ``data`` is the value in the domain, which kernels get. ``exact``: the rational
    number that it is, if it is known to be one.
    """

    def __init__(
        self, cells: Domain[Any], approximate: float, data: Any, exact: Fraction | None = None
    ) -> None:
        self.cells = cells
        self.approximate = approximate
        self.data = data
        self.exact = exact

    def _mapped(self, fn: Fn, approximate: float, *others: Any) -> Real:
        args = [real(self.cells, o) for o in others]
        data = self.cells.apply(fn, tuple(a.data for a in args))
        return Real(self.cells, approximate, data)

    def _two(self, fn: Fn, left: Any, right: Any) -> Real:
        a, b = real(self.cells, left), real(self.cells, right)
        if a.exact is not None and b.exact is not None:
            return rational(self.cells, _EXACT[fn](a.exact, b.exact))
        approximate = _APPROXIMATE[fn](a.approximate, b.approximate)
        return Real(self.cells, approximate, self.cells.apply(fn, (a.data, b.data)))

    def __add__(self, other: Any) -> Any:
        return self._two(Fn.ADD, self, other) if _host(other) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return self._two(Fn.ADD, other, self) if _host(other) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return self._two(Fn.SUB, self, other) if _host(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return self._two(Fn.SUB, other, self) if _host(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return self._two(Fn.MUL, self, other) if _host(other) else NotImplemented

    def __rmul__(self, other: Any) -> Any:
        return self._two(Fn.MUL, other, self) if _host(other) else NotImplemented

    def __truediv__(self, other: Any) -> Any:
        if not _host(other):
            return NotImplemented
        if approximate(other) == 0:
            raise ZeroDivisionError("a float is divided by zero")
        return self._two(Fn.DIV, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return real(self.cells, other) / self if _host(other) else NotImplemented

    def __neg__(self) -> Real:
        return self._two(Fn.SUB, 0, self)

    def __abs__(self) -> Real:
        return point(Fn.ABS, self)

    def __rpow__(self, base: Any) -> Real:
        if approximate(base) != 2.0:
            raise OutsideVocabularyError(f"a power of {base!r}")
        return power_of_two(self)

    def __pow__(self, exponent: Any) -> Real:
        if self.exact == 2:
            return power_of_two(real(self.cells, exponent))
        raise OutsideVocabularyError("a power of another number than 2")

    def __float__(self) -> float:
        return self.approximate

    def __bool__(self) -> bool:
        return self.approximate != 0

    def _compared(self, fn: Fn, left: Any, right: Any) -> Any:
        if not (_host(left) and _host(right)):
            return NotImplemented
        a, b = approximate(left), approximate(right)
        found = {Fn.LT: a < b, Fn.LE: a <= b, Fn.EQ: a == b}[fn]
        x, y = real(self.cells, left), real(self.cells, right)
        if x.exact is not None and y.exact is not None:
            return found
        return Truth(self.cells, found, self.cells.apply(fn, (x.data, y.data)))

    def __lt__(self, other: Any) -> Any:
        return self._compared(Fn.LT, self, other)

    def __le__(self, other: Any) -> Any:
        return self._compared(Fn.LE, self, other)

    def __gt__(self, other: Any) -> Any:
        return self._compared(Fn.LT, other, self)

    def __ge__(self, other: Any) -> Any:
        return self._compared(Fn.LE, other, self)

    def __eq__(self, other: object) -> Any:
        return self._compared(Fn.EQ, self, other)

    def __hash__(self) -> int:
        return hash(self.approximate)

    def __round__(self) -> Real:
        raise OutsideVocabularyError("round()")


_EXACT: dict[Fn, Callable[[Fraction, Fraction], Fraction]] = {
    Fn.ADD: lambda a, b: a + b,
    Fn.SUB: lambda a, b: a - b,
    Fn.MUL: lambda a, b: a * b,
    Fn.DIV: lambda a, b: a / b,
}
_APPROXIMATE: dict[Fn, Callable[[float, float], float]] = {
    Fn.ADD: lambda a, b: a + b,
    Fn.SUB: lambda a, b: a - b,
    Fn.MUL: lambda a, b: a * b,
    Fn.DIV: lambda a, b: a / b,
}
_COMPARED: dict[Fn, Callable[..., Fraction]] = {Fn.MAX: max, Fn.MIN: min, Fn.ABS: abs}


def _host(value: Any) -> bool:
    """Whether it is a number of the launcher, and no tile of a kernel."""
    return isinstance(value, Real | int | float)


def approximate(value: Any) -> float:
    """The double of a number."""
    return value.approximate if isinstance(value, Real) else float(value)


def rational(cells: Domain[Any], value: Fraction) -> Real:
    """An exact rational."""
    return Real(cells, value.numerator / value.denominator, literal(cells, value), value)


def real(cells: Domain[Any], value: Any) -> Real:
    """A number of Python as one that is exact."""
    if isinstance(value, Real):
        return value
    if isinstance(value, Constant):
        return Real(cells, CONSTANTS[value], cells.named(value))
    if isinstance(value, bool | int):
        return rational(cells, Fraction(int(value)))
    if isinstance(value, str):
        value = value if value.strip("+-") not in ("inf", "nan") else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return Real(cells, value, literal(cells, value))
    if isinstance(value, float | str):
        return rational(cells, Fraction(value if isinstance(value, str) else repr(value)))
    raise OutsideVocabularyError(f"{type(value).__name__} {value!r} as a float")


def divided(a: Any, b: Any, cells: Domain[Any]) -> Any:
    """``/``: of two whole numbers it is the rational number, of tiles a tile."""
    if isinstance(a, int) and isinstance(b, int):
        return rational(cells, Fraction(a, b))
    return a / b


def power_of_two(a: Real) -> Real:
    """2 ** a."""
    if a.exact is not None and a.exact.denominator == 1 and abs(a.exact) < 2**10:
        return rational(a.cells, Fraction(2) ** int(a.exact))
    value = 2.0**a.approximate if a.approximate < 1024 else math.inf
    return a._mapped(Fn.EXP2, value, a)


def point(fn: Fn, *args: Real) -> Real:
    """A function of numbers: exact ones are compared here, all others by the domain.

    A comparison of doubles would choose one of them for every value that they stand for.
    """
    cells = args[0].cells
    exact = [a.exact for a in args if a.exact is not None]
    if fn in _COMPARED and len(exact) == len(args):
        return rational(cells, _COMPARED[fn](*exact))
    doubles = tuple(np.asarray(a.approximate) for a in args)
    found = FloatDomain().apply(fn, doubles)
    return Real(cells, float(found), cells.apply(fn, tuple(a.data for a in args)))


def extreme(cells: Domain[Any], fn: Fn, args: tuple[Any, ...]) -> Any:
    """``max`` or ``min`` of whole numbers, or of floats of the launcher."""
    items = args if len(args) > 1 else tuple(args[0])
    if not any(isinstance(item, Real | float) for item in items):
        return max(items) if fn is Fn.MAX else min(items)
    return reduce(lambda a, b: point(fn, a, b), (real(cells, item) for item in items))


def selected(condition: Truth, first: Any, second: Any) -> Real:
    """One of two numbers, by a condition on numbers of the caller."""
    cells = condition.cells
    a, b = real(cells, first), real(cells, second)
    taken = (a if condition else b).approximate
    return Real(cells, taken, cells.apply(Fn.WHERE, (condition.data, a.data, b.data)))


class Mathematics:
    """What the launcher uses of ``math``."""

    def __init__(self, cells: Domain[Any]) -> None:
        self._cells = cells
        self.inf = Real(cells, math.inf, literal(cells, math.inf))
        self.nan = Real(cells, math.nan, undefined(cells))
        self.pi = real(cells, Constant.PI)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        functions = {"sqrt": Fn.SQRT, "log2": Fn.LOG2, "tanh": Fn.TANH, "erf": Fn.ERF}
        if name not in functions:
            raise OutsideVocabularyError(f"math.{name}")

        def apply(value: Any) -> Real:
            number = real(self._cells, value)
            found = getattr(math, name)(number.approximate)
            return number._mapped(functions[name], found, number)

        return apply

    def copysign(self, size: Any, sign: Any) -> Real:
        """A number with the sign of another one, as the doubles have it."""
        number = real(self._cells, size)
        flipped = math.copysign(1.0, approximate(sign)) != math.copysign(1.0, number.approximate)
        return -number if flipped else number

    def isfinite(self, value: Any) -> bool:
        """As the double is."""
        return math.isfinite(approximate(value))

    def prod(self, counts: Any) -> int:
        """Of whole numbers."""
        return math.prod(map(int, counts))
