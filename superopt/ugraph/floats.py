"""Real numbers as machine floats: the domain in which references and tolerances are computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from superopt.ugraph.grids import GRIDS
from superopt.ugraph.grids import Grid
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number

Array = npt.NDArray[Any]

CONSTANTS: dict[Constant, float] = {
    Constant.LOG2E: 1.4426950408889634,
    Constant.LN2: 0.6931471805599453,
    Constant.PI: math.pi,
}

_erf = np.frompyfunc(math.erf, 1, 1)


def _sigmoid(x: Array) -> Array:
    # exp of a nonpositive number only, so that neither tail overflows.
    small = np.exp(-np.abs(x))
    result: Array = np.where(x >= 0, 1 / (1 + small), small / (1 + small))
    return result


def _erf_array(x: Array) -> Array:
    return np.asarray(_erf(x)).astype(x.dtype)


def nearest(value: Array, grid: Grid) -> Array:
    """Each number of ``value`` rounded to ``grid``, in the float dtype it came in."""
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(value), value, 0)
        exponent = np.maximum(np.frexp(finite)[1] - 1, grid.least)
        step = np.ldexp(np.ones_like(finite), exponent - grid.bits)
        near = np.clip(np.rint(finite / step) * step, float(grid.lowest), float(grid.largest))
    return np.where(np.isfinite(value), near, value).astype(value.dtype)


# What each scalar function is on floats (integers and truth values where it has them).
MEANING: dict[Fn, Callable[..., Any]] = {
    Fn.ADD: np.add,
    Fn.SUB: np.subtract,
    Fn.MUL: np.multiply,
    Fn.DIV: np.divide,
    Fn.MAX: np.maximum,
    Fn.MIN: np.minimum,
    Fn.ABS: np.abs,
    Fn.EXP: np.exp,
    Fn.EXP2: np.exp2,
    Fn.LOG: np.log,
    Fn.LOG2: np.log2,
    Fn.SQRT: np.sqrt,
    Fn.RSQRT: lambda x: 1 / np.sqrt(x),
    Fn.TANH: np.tanh,
    Fn.SIGMOID: _sigmoid,
    Fn.ERF: _erf_array,
    **{fn: partial(nearest, grid=grid) for fn, grid in GRIDS.items()},
    Fn.LT: np.less,
    Fn.LE: np.less_equal,
    Fn.EQ: np.equal,
    Fn.AND: np.logical_and,
    Fn.OR: np.logical_or,
    Fn.NOT: np.logical_not,
    Fn.WHERE: np.where,
}

_INTEGRAL = (Fn.ADD, Fn.SUB, Fn.MUL, Fn.MAX, Fn.MIN, Fn.ABS, Fn.WHERE)
_BOOLEAN = (Fn.LT, Fn.LE, Fn.EQ, Fn.AND, Fn.OR, Fn.NOT)


class FloatDomain:
    """Arrays of one float dtype, beside int64 and bool ones, with IEEE rules.

    Integers stay integers under the functions that keep them, so that masks are exact. Max and
    min, as functions and as folds, propagate NaN. No warning is raised for an overflow, a NaN
    or a division by zero: they are values here.
    """

    def __init__(self, dtype: npt.DTypeLike = np.float64) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    def array(self, value: npt.ArrayLike) -> Array:
        """Any array as one of this domain: floats of ``dtype``, int64 or bool."""
        given = np.asarray(value)
        if given.dtype == np.bool_:
            return given
        return given.astype(np.int64 if given.dtype.kind in "iu" else self.dtype)

    def constant(self, value: Number) -> Array:
        """An int64 if the number is integral, else the nearest float."""
        if isinstance(value, Fraction) and value.denominator == 1 and abs(value) < 2**62:
            return np.asarray(int(value), np.int64)
        return np.asarray(_nearest(value), self.dtype)

    def named(self, name: Constant) -> Array:
        """The nearest float."""
        return np.asarray(CONSTANTS[name], self.dtype)

    def integers(self, first: int, stop: int) -> Array:
        """An int64 range."""
        return np.arange(first, stop, dtype=np.int64)

    def apply(self, fn: Fn, args: Sequence[Array]) -> Array:
        """IEEE rules for floats; exact for integers and truth values."""
        with np.errstate(all="ignore"):
            value = np.asarray(MEANING[fn](*self._promoted(fn, args)))
        # Arrays without dimensions are promoted by other rules, which may widen them.
        return self._float(value) if value.dtype.kind == "f" else value

    def _promoted(self, fn: Fn, args: Sequence[Array]) -> list[Array]:
        """The arguments in one kind: integers if all are and the function keeps them."""
        values = args[1:] if fn is Fn.WHERE else args
        real = any(a.dtype.kind == "f" for a in values)
        if all(a.dtype.kind == "b" for a in values):
            real = False
        elif not real and fn not in _INTEGRAL and fn not in _BOOLEAN:
            real = True
        return [a if a.dtype.kind == "b" or not real else self._float(a) for a in args]

    def _float(self, value: Array) -> Array:
        return value.astype(self.dtype, copy=False)

    def fold(self, fn: Fn, value: Array, dim: int) -> Array:
        """Pairwise sums; max and min propagate NaN."""
        ufunc = MEANING[fn]
        assert isinstance(ufunc, np.ufunc)
        with np.errstate(all="ignore"):
            if value.shape[dim] == 0:
                shape = value.shape[:dim] + value.shape[dim + 1 :]
                return self.full(shape, fn.unit)
            if fn is Fn.ADD:
                # np.sum adds pairwise along any axis that is moved to the end.
                return np.asarray(np.sum(np.moveaxis(value, dim, -1), axis=-1))
            return np.asarray(ufunc.reduce(value, axis=dim))

    def best(
        self,
        values: Array,
        places: Array,
        count: int,
        end: int,
        at: bool,
        taken: Array | None = None,
    ) -> Array:
        """Ranked exactly; a NaN is in all values."""
        lost = np.isnan(values).any(-1, keepdims=True)
        shape = (*values.shape[:-1], max(0, count - values.shape[-1]))
        values = np.concatenate([self._float(values), self.full(shape, -INF)], -1)
        places = np.concatenate([places, np.full(shape, end, np.int64)], -1)
        order = np.lexsort((places, -values), axis=-1)[..., :count]
        if taken is not None:
            shape = (*taken.shape[:-1], shape[-1])
            taken = np.concatenate([taken, np.zeros(shape, taken.dtype)], -1)
            rest = np.broadcast_shapes(taken.shape[:-1], order.shape[:-1])
            goes, which = (np.broadcast_to(a, (*rest, a.shape[-1])) for a in (taken, order))
            return np.where(lost, 0, np.take_along_axis(goes, which, -1)).astype(taken.dtype)
        if at:
            return np.where(lost, end, np.take_along_axis(places, order, -1))
        return np.where(lost, np.nan, np.take_along_axis(values, order, -1)).astype(self.dtype)

    def shape(self, value: Array) -> tuple[int, ...]:
        """The length of every dimension."""
        return value.shape

    def reshape(self, value: Array, shape: tuple[int, ...]) -> Array:
        """The same elements in a new shape."""
        return value.reshape(shape)

    def transpose(self, value: Array, order: tuple[int, ...]) -> Array:
        """A view with permuted dimensions."""
        return value.transpose(order)

    def slice(self, value: Array, dim: int, first: int, stop: int) -> Array:
        """A view of some positions."""
        return value[(slice(None),) * dim + (slice(first, stop),)]

    def join(self, values: Sequence[Array], dim: int) -> Array:
        """Concatenation."""
        return np.concatenate(values, axis=dim)

    def full(self, shape: tuple[int, ...], value: Number) -> Array:
        """Floats, all of them the one nearest to ``value``."""
        return np.full(shape, _nearest(value), self.dtype)

    def integer(self, value: Array) -> int:
        """The integer itself."""
        return int(value)

    def contract(self, left: Array, right: Array, dim: int) -> Array:
        """One batched matrix product (subclasses may round the operands first)."""
        if left.dtype.kind == "i" and right.dtype.kind == "i":
            return self.fold(Fn.ADD, left * right, dim)
        with np.errstate(all="ignore"):
            return _contracted(self._float(left), self._float(right), dim)


def _nearest(value: Number) -> float:
    """The float nearest to an exact number."""
    return value.numerator / value.denominator if isinstance(value, Fraction) else value


def _contracted(left: Array, right: Array, dim: int) -> Array:
    """A sum of products as one batched matrix product; dimensions of 1 broadcast."""
    rank = left.ndim
    if left.shape[dim] != right.shape[dim]:  # one of them does not vary over the axis
        if left.shape[dim] == 1:
            left = left.repeat(right.shape[dim], axis=dim)
        else:
            right = right.repeat(left.shape[dim], axis=dim)
    both: list[int] = []
    rows: list[int] = []
    columns: list[int] = []
    for d in range(rank):
        if d == dim:
            continue
        if left.shape[d] == right.shape[d]:
            both.append(d)
        else:
            (columns if left.shape[d] == 1 else rows).append(d)
    a = left.transpose([*both, *rows, dim, *columns])
    b = right.transpose([*both, dim, *columns, *rows])
    batch = tuple(left.shape[d] for d in both)
    height = tuple(left.shape[d] for d in rows)
    width = tuple(right.shape[d] for d in columns)
    a = a.reshape(*batch, math.prod(height), left.shape[dim])
    b = b.reshape(*batch, left.shape[dim], math.prod(width))
    product = np.matmul(a, b).reshape((*batch, *height, *width))
    back = [*both, *rows, *columns]
    ordered: Array = product.transpose([back.index(d) for d in range(rank) if d != dim])
    return ordered
