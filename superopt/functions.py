"""The functions of the language: one for each scalar function of the table that has no operator."""

from __future__ import annotations

from functools import reduce

from superopt.axes import known_axis
from superopt.tensor import Operand
from superopt.tensor import Tensor
from superopt.tensor import apply
from superopt.tensor import refuse
from superopt.ugraph.grids import BY_NAME
from superopt.ugraph.node import Index
from superopt.ugraph.node import Named
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn

inf = INF
"""Infinity, a literal: ``-inf`` masks a score."""

pi = Tensor(Named(Constant.PI))
"""The number pi, exactly."""


def exp(x: Operand) -> Tensor:
    """e to the power x; 0 at -inf."""
    return apply(Fn.EXP, x)


def exp2(x: Operand) -> Tensor:
    """2 to the power x; 0 at -inf."""
    return apply(Fn.EXP2, x)


def log(x: Operand) -> Tensor:
    """The natural logarithm of a positive number."""
    return apply(Fn.LOG, x)


def log2(x: Operand) -> Tensor:
    """The binary logarithm of a positive number."""
    return apply(Fn.LOG2, x)


def sqrt(x: Operand) -> Tensor:
    """The square root."""
    return apply(Fn.SQRT, x)


def rsqrt(x: Operand) -> Tensor:
    """One over the square root."""
    return apply(Fn.RSQRT, x)


def tanh(x: Operand) -> Tensor:
    """The hyperbolic tangent."""
    return apply(Fn.TANH, x)


def sigmoid(x: Operand) -> Tensor:
    """The logistic function 1 / (1 + exp(-x))."""
    return apply(Fn.SIGMOID, x)


def erf(x: Operand) -> Tensor:
    """The error function."""
    return apply(Fn.ERF, x)


def round_to(x: Operand, dtype: str) -> Tensor:
    """The nearest number that ``dtype`` (fp16, bf16, e4m3, e5m2, int8) holds, ties to even.

    Beyond its largest number it is that one; infinities stay. It is part of what is computed:
    no form drops, merges or moves it, except past a maximum or minimum.
    """
    if not isinstance(dtype, str) or dtype not in BY_NAME:
        refuse(f"no rounding to {dtype!r}; to {', '.join(BY_NAME)} there is, named by a string")
    return apply(BY_NAME[dtype], x)


def abs(x: Operand) -> Tensor:  # noqa: A001  # the name that users of tensors expect
    """The absolute value."""
    return apply(Fn.ABS, x)


def maximum(first: Operand, second: Operand, *more: Operand) -> Tensor:
    """The largest of its arguments, point by point."""
    return reduce(lambda a, b: apply(Fn.MAX, a, b), more, apply(Fn.MAX, first, second))


def minimum(first: Operand, second: Operand, *more: Operand) -> Tensor:
    """The smallest of its arguments, point by point."""
    return reduce(lambda a, b: apply(Fn.MIN, a, b), more, apply(Fn.MIN, first, second))


def where(condition: Tensor, then: Operand, otherwise: Operand) -> Tensor:
    """``then`` where the condition holds, else ``otherwise``; the other arm does not matter."""
    return apply(Fn.WHERE, condition, then, otherwise)


def index(axis: str) -> Tensor:
    """The position on an axis, from 0 to ``size(axis) - 1``: masks, biases by distance."""
    return Tensor(Index(known_axis(axis)))


def size(axis: str) -> Tensor:
    """The number of positions on an axis."""
    return Tensor(Size(known_axis(axis)))
