"""What a spec computes with: tensors with named axes, under ordinary Python operators.

A ``Tensor`` only wraps a node of the algebra; an operator builds the next node. Whatever the
algebra cannot express is refused here, with the file and line of the spec.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from fractions import Fraction
from typing import NoReturn

from superopt.errors import IllTyped
from superopt.errors import SpecError
from superopt.foreign import instead
from superopt.location import user_location
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind

LARGEST_POWER = 16


class Tensor:
    """A tensor with named axes, while a spec is traced.

    ``node`` is its value in the algebra. Two tensors meet by the names of their axes: an axis
    that one of them lacks is broadcast, so there is no transpose, reshape or unsqueeze.
    """

    __slots__ = ("node",)
    __array_ufunc__ = None  # numpy numbers leave the operators to us

    def __init__(self, node: Node) -> None:
        self.node = node

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the axes (a set: sorted, without meaning in the order)."""
        return self.node.axes

    def __repr__(self) -> str:
        return f"Tensor({' '.join(self.axes)!r})"

    # Arithmetic.

    def __add__(self, other: Operand) -> Tensor:
        return apply(Fn.ADD, self, other)

    def __radd__(self, other: Operand) -> Tensor:
        return apply(Fn.ADD, other, self)

    def __sub__(self, other: Operand) -> Tensor:
        return apply(Fn.SUB, self, other)

    def __rsub__(self, other: Operand) -> Tensor:
        return apply(Fn.SUB, other, self)

    def __mul__(self, other: Operand) -> Tensor:
        return apply(Fn.MUL, self, other)

    def __rmul__(self, other: Operand) -> Tensor:
        return apply(Fn.MUL, other, self)

    def __truediv__(self, other: Operand) -> Tensor:
        return apply(Fn.DIV, self, other)

    def __rtruediv__(self, other: Operand) -> Tensor:
        return apply(Fn.DIV, other, self)

    def __neg__(self) -> Tensor:
        return apply(Fn.MUL, -1, self)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return apply(Fn.ABS, self)

    def __pow__(self, power: int | float | Fraction) -> Tensor:
        """A power with a constant exponent: a whole number but 0, 0.5 or -0.5."""
        if isinstance(power, Tensor):
            refuse("an exponent is a constant; write exp(y * log(x)) for x ** y")
        exact = number(power)
        if exact == Fraction(1, 2):
            return apply(Fn.SQRT, self)
        if exact == Fraction(-1, 2):
            return apply(Fn.RSQRT, self)
        if exact.denominator != 1 or not 0 < abs(exact) <= LARGEST_POWER:
            refuse(
                f"exponent {power} is not supported; whole numbers from -{LARGEST_POWER} to "
                f"{LARGEST_POWER} but 0, and 0.5 and -0.5 are"
            )
        positive = _power(self, abs(exact.numerator))
        return positive if exact > 0 else 1 / positive

    # Comparisons and truth values.

    def __lt__(self, other: Operand) -> Tensor:
        return apply(Fn.LT, self, other)

    def __le__(self, other: Operand) -> Tensor:
        return apply(Fn.LE, self, other)

    def __gt__(self, other: Operand) -> Tensor:
        return apply(Fn.LT, other, self)

    def __ge__(self, other: Operand) -> Tensor:
        return apply(Fn.LE, other, self)

    def __eq__(self, other: Operand) -> Tensor:  # type: ignore[override]
        return apply(Fn.EQ, self, other)

    def __ne__(self, other: Operand) -> Tensor:  # type: ignore[override]
        return apply(Fn.NOT, apply(Fn.EQ, self, other))

    __hash__ = None  # type: ignore[assignment]  # == builds a node, so it cannot find keys

    def __and__(self, other: Tensor) -> Tensor:
        return apply(Fn.AND, self, other)

    def __or__(self, other: Tensor) -> Tensor:
        return apply(Fn.OR, self, other)

    def __invert__(self) -> Tensor:
        return apply(Fn.NOT, self)

    # Folds.

    def sum(self, *axes: str, **options: object) -> Tensor:
        """The sum over the named axes; 0 over an empty one."""
        return self._fold(Fn.ADD, axes, options)

    def max(self, *axes: str, **options: object) -> Tensor:
        """The largest value over the named axes; -inf over an empty one."""
        return self._fold(Fn.MAX, axes, options)

    def min(self, *axes: str, **options: object) -> Tensor:
        """The smallest value over the named axes; +inf over an empty one."""
        return self._fold(Fn.MIN, axes, options)

    def prod(self, *axes: str, **options: object) -> Tensor:
        """The product of reals over the named axes; 1 over an empty one."""
        self._needs_reals("prod")
        return self._fold(Fn.MUL, axes, options)

    def any(self, *axes: str, **options: object) -> Tensor:
        """Whether the condition holds anywhere along the named axes; not along an empty one."""
        return self._ones("any")._fold(Fn.MAX, axes, options) > 0

    def all(self, *axes: str, **options: object) -> Tensor:
        """Whether the condition holds all along the named axes; it does along an empty one."""
        return self._ones("all")._fold(Fn.MIN, axes, options) > 0

    def mean(self, *axes: str, **options: object) -> Tensor:
        """The sum over the named axes divided by the number of its terms."""
        total = self.sum(*axes, **options)
        count = Tensor(Size(_split(axes)[0]))
        for axis in _split(axes)[1:]:
            count = count * Tensor(Size(axis))
        return total / count

    # Prefix folds, which keep the axis.

    def cumsum(self, axis: str) -> Tensor:
        """At each position of ``axis`` the sum up to it, itself included."""
        return self._scan(Fn.ADD, axis)

    def cummax(self, axis: str) -> Tensor:
        """At each position of ``axis`` the largest value up to it, itself included."""
        return self._scan(Fn.MAX, axis)

    def cummin(self, axis: str) -> Tensor:
        """At each position of ``axis`` the smallest value up to it, itself included."""
        return self._scan(Fn.MIN, axis)

    def cumprod(self, axis: str) -> Tensor:
        """At each position of ``axis`` the product of reals up to it, itself included."""
        self._needs_reals("cumprod")
        return self._scan(Fn.MUL, axis)

    def _scan(self, fn: Fn, axis: str) -> Tensor:
        names = _split((axis,))
        if len(names) != 1:
            refuse(f"prefixes are those along one axis, got {axis!r}")
        if self.node.kind is Kind.BOOL:
            refuse("a scan takes numbers, not truth values; write where(condition, 1, 0)")
        if names[0] not in self.axes:
            refuse(f"no axis {names[0]!r} to scan along; the tensor has {spoken(self.axes)}")
        return Tensor(Scan(fn, names[0], self.node))

    def _needs_reals(self, method: str) -> None:
        if self.node.kind is Kind.INT:
            refuse(
                "a product of whole numbers soon needs more than 32 bits; for the product as a "
                f"real, write (x / 1).{method}(...)"
            )

    def _ones(self, method: str) -> Tensor:
        """1 where the condition holds, else 0, of which a maximum is "or" and a minimum "and"."""
        if self.node.kind is not Kind.BOOL:
            refuse(f"{method} takes truth values, not numbers; write (x != 0).{method}(...)")
        return apply(Fn.WHERE, self, 1, 0)

    def _fold(self, fn: Fn, axes: tuple[str, ...], options: Mapping[str, object]) -> Tensor:
        """Folds nested in the order in which the axes are named, the first innermost."""
        node = self.node
        if options:
            refuse(
                f'a fold takes names of axes, as in x.sum("n"), and no {next(iter(options))}=; '
                f"what was folded meets other tensors by name"
            )
        names = _split(axes)
        if not names:
            refuse(f"name the axes to fold over; the tensor has {spoken(self.axes)}")
        if node.kind is Kind.BOOL:
            refuse(
                "this fold takes numbers, not truth values; write where(condition, 1, 0), "
                "or use any or all"
            )
        for i, axis in enumerate(names):
            if axis in names[:i]:
                refuse(f"axis {axis!r} is named twice in one fold")
            if axis not in node.axes:
                refuse(f"no axis {axis!r} to fold over; the tensor has {spoken(node.axes)}")
            node = Reduce(fn, axis, node)
        return Tensor(node)

    # Order statistics that are not there.

    def sort(self, *args: object, **options: object) -> NoReturn:
        """Refused: a whole sorted axis is no fold."""
        refuse('sorting is not supported; top_k(x, "n", k, into="t") lists the k largest in order')

    def median(self, *args: object, **options: object) -> NoReturn:
        """Refused: half of an axis would have to be kept."""
        refuse('the median is not supported; top_k(x, "n", k, into="t") lists the k largest')

    # What Python would otherwise do in silence, or refuse less clearly.

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or name in self.__slots__:  # asked by Python's protocols
            raise AttributeError(name)
        refuse(f"a tensor has no .{name}; {instead(name)}")

    @classmethod
    def __torch_function__(
        cls, function: object, types: object, args: object = (), kwargs: object = None
    ) -> NoReturn:
        name = getattr(function, "__name__", str(function))
        refuse(f"torch's {name} takes data, not a spec's tensor; {instead(name)}")

    def __bool__(self) -> bool:
        refuse(
            "a tensor has no truth value while a spec is traced; use where(condition, a, b) "
            "for if, and & | ~ for and, or, not (a < b < c is (a < b) & (b < c))"
        )

    def __iter__(self) -> Iterator[Tensor]:
        refuse("a tensor has no items; fold over a named axis instead of looping")

    def __len__(self) -> int:
        refuse('a tensor has no length; size("axis") is the number of positions on an axis')

    def __getitem__(self, key: object) -> Tensor:
        refuse('a tensor has no items; mask with where and index("axis") instead of slicing')

    def __float__(self) -> float:
        refuse("a tensor is no Python number; use superopt's functions (exp, sqrt, ...)")

    def __int__(self) -> int:
        refuse("a tensor is no Python number")

    __index__ = __int__

    def __matmul__(self, other: object) -> Tensor:
        refuse('there is no @: a matrix product is (a * b).sum("axis")')

    __rmatmul__ = __matmul__

    def __floordiv__(self, other: object) -> Tensor:
        refuse("there is no //: / divides reals; pass whole quotients as an integer tensor")

    __rfloordiv__ = __floordiv__

    def __mod__(self, other: object) -> Tensor:
        refuse("there is no %: pass remainders as an integer tensor")

    __rmod__ = __mod__

    def __rpow__(self, other: object) -> Tensor:
        refuse("the exponent is a tensor; write exp(y * log(x)) for x ** y, or exp2(y) for 2 ** y")

    def __xor__(self, other: object) -> Tensor:
        refuse("^ is not supported; write (a & ~b) | (~a & b)")

    __rxor__ = __xor__


class Scalar(Tensor):
    """A number that the caller passes at run time: a tensor without axes.

    As an annotation: ``scale: Scalar`` (fp32) or ``Annotated[Scalar, "int32"]``.
    """

    __slots__ = ()


Operand = Tensor | int | float | Fraction


def refuse(message: str) -> NoReturn:
    """Raises a ``SpecError`` that names the line of the spec."""
    raise SpecError(message, user_location())


def number(value: object) -> Fraction:
    """A finite Python number as the exact value of its decimal text (0.1 is 1/10)."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, float) and value == value and abs(value) != INF:
        return Fraction(repr(float(value)))
    refuse(f"expected a finite number, got {value!r}")


def node_of(value: object) -> Node:
    """The node of a tensor, or the constant that a Python number stands for."""
    if isinstance(value, Tensor):
        return value.node
    if isinstance(value, float) and value in (INF, -INF):
        return Const(float(value))
    if isinstance(value, float) and value != value:
        refuse("NaN is no constant of the algebra")
    if isinstance(value, bool):
        refuse(f"{value} is no number; a condition comes from a comparison or a bool tensor")
    if isinstance(value, (int, float, Fraction)):
        return Const(number(value))
    kind = type(value)
    if kind.__module__ != "builtins":
        other = f"{kind.__module__}.{kind.__name__}"
        refuse(
            f"expected a spec's tensor or a Python number, got a {other}; write float(...) of a "
            f"number, and pass a tensor as a parameter"
        )
    refuse(f"expected a tensor or a number, got {kind.__name__} {value!r}")


def apply(fn: Fn, *args: object) -> Tensor:
    """``fn`` point by point, broadcasting by the names of the axes."""
    nodes = tuple(node_of(a) for a in args)
    try:
        return Tensor(Map(fn, nodes))
    except IllTyped as error:
        refuse(str(error))


def spoken(axes: tuple[str, ...]) -> str:
    """Axes as messages show them."""
    return ", ".join(map(repr, axes)) or "no axes"


def _split(axes: tuple[object, ...]) -> list[str]:
    for axis in axes:
        if not isinstance(axis, str):
            refuse(f"axes are named by strings, got {axis!r}")
    return [name for text in axes for name in str(text).split()]


def _power(base: Tensor, exponent: int) -> Tensor:
    if exponent == 1:
        return base
    half = _power(base, exponent // 2)
    return half * half * base if exponent % 2 else half * half
