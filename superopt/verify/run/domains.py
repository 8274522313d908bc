"""The machine arithmetic that a spec is entitled to, from which the tolerance is computed.

``StorageDomain`` is fp32 inside and rounds the operands of matrix products to the storage dtype.
``ShakenDomain`` is the same with every rounding at random up or down (stochastic arithmetic, after
Vignes' CESTAC and Parker's Monte Carlo arithmetic): it shows the size of the error that such an
evaluation may have, where the error of one evaluation can be small by luck (sums of few bits,
constant rows).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from superopt.ugraph.floats import Array
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.scalar import Fn
from superopt.verify.run.rounding import UNIT_ROUNDOFF
from superopt.verify.run.rounding import rounded

_U = UNIT_ROUNDOFF["fp32"]
EXACT = (Fn.MAX, Fn.MIN, Fn.ABS, Fn.LT, Fn.LE, Fn.EQ, Fn.AND, Fn.OR, Fn.NOT, Fn.WHERE, *GRIDS)
NEAR = 16 * _U  # how far from a tie the argument of a rounding may be pushed across it
SPECIAL_ULPS = 2  # the documented error of CUDA's exp2f, tanhf, erff, rsqrtf, ...


def is_matrix_product(left: Array, right: Array, dim: int) -> bool:
    """Whether a contraction can be a matrix product: each side varies over an axis of its own.

    An axis of one position cannot be told from a missing one, and counts as either.
    """
    pairs = [
        (a, b) for d, (a, b) in enumerate(zip(left.shape, right.shape, strict=True)) if d != dim
    ]
    rows: int = sum(b == 1 and a > 1 for a, b in pairs)
    columns: int = sum(a == 1 and b > 1 for a, b in pairs)
    either: int = sum(a == 1 and b == 1 for a, b in pairs)
    return min(rows, columns) + either >= 1 and rows + columns + either >= 2


class StorageDomain(FloatDomain):
    """fp32 inside; operands of matrix products are rounded to ``operand`` (bf16, tf32, ...)."""

    def __init__(self, operand: str) -> None:
        super().__init__(np.float32)
        self.operand = operand

    def contract(self, left: Array, right: Array, dim: int) -> Array:
        """A matrix product of rounded operands, accumulated in fp32."""
        if is_matrix_product(left, right, dim):
            left, right = rounded(left, self.operand), rounded(right, self.operand)
        return super().contract(left, right, dim)


class ShakenDomain(FloatDomain):
    """As ``StorageDomain``, computed in float64 with each fp32 rounding up or down at random.

    Sums and products are given the error of a sequential accumulation in fp32, which no
    specification of the order excludes; special functions have an error of two units in the last
    place.
    """

    def __init__(self, operand: str, seed: int) -> None:
        super().__init__(np.float64)
        self.operand = operand
        self._random = np.random.default_rng(seed)
        self._up = seed % 2 == 0

    def apply(self, fn: Fn, args: Sequence[Array]) -> Array:
        """The function of float64, then a rounding to fp32."""
        value = super().apply(fn, args)
        if fn in GRIDS:
            return self._either_side(fn, args[0], value)
        if value.dtype.kind != "f" or fn in EXACT:
            return value
        if fn.value.special and fn is not Fn.DIV:
            value = self._off(value, 2 * SPECIAL_ULPS * _U)
        return self._shaken(value)

    def _either_side(self, fn: Fn, given: Array, near: Array) -> Array:
        """A rounding of what is almost a tie goes up in one run and down in the next, as it may
        in a kernel; a tie itself is none of the kernel's making, and is held."""
        low, high = (super(ShakenDomain, self).apply(fn, (given * (1 + e),)) for e in (-NEAR, NEAR))
        with np.errstate(all="ignore"):
            tie = (low + high) / 2 == given
        return np.where(tie | ~np.isfinite(near), near, high if self._up else low)

    def fold(self, fn: Fn, value: Array, dim: int) -> Array:
        """A sum or product with the error of a sequential one; extrema are exact."""
        total = super().fold(fn, value, dim)
        if fn in (Fn.MAX, Fn.MIN) or value.dtype.kind != "f":
            return total
        if fn is Fn.MUL:  # n - 1 relative errors, which add like a random walk
            walk = _U * math.sqrt(max(0, value.shape[dim] - 1))
            return self._shaken(self._off(total, walk))
        with np.errstate(all="ignore"):
            squares = np.sum(value * value, axis=dim)
        return self._summed(total, squares, value.shape[dim])

    def contract(self, left: Array, right: Array, dim: int) -> Array:
        """A product of rounded operands with the error of a sequential sum in fp32."""
        if left.dtype.kind != "f" and right.dtype.kind != "f":
            return super().contract(left, right, dim)
        a, b = self._float(left), self._float(right)
        if is_matrix_product(a, b, dim):
            a, b = self._operand(a), self._operand(b)
        total = super().contract(a, b, dim)
        with np.errstate(all="ignore"):
            squares = super().contract(a * a, b * b, dim)
        return self._summed(total, squares, max(a.shape[dim], b.shape[dim]))

    def _operand(self, value: Array) -> Array:
        """An operand with an error of at most the unit roundoff, unless it is held exactly."""
        exact = rounded(value, self.operand)
        error = UNIT_ROUNDOFF[self.operand] * self._random.uniform(-1, 1, value.shape)
        with np.errstate(all="ignore"):
            keep = (exact == value) | ~np.isfinite(exact)
            return np.where(keep, exact, value * (1 + error))

    def _summed(self, total: Array, squares: Array, terms: int) -> Array:
        # The partial sums of n terms of size t are near t sqrt(k) if signs alternate and t k
        # if they agree; each is rounded once, and the errors add like a random walk.
        with np.errstate(all="ignore"):
            walk = np.sqrt(squares * terms / 2) + np.abs(total) * np.sqrt(terms / 3)
            error = np.where(np.isfinite(walk), walk, 0) * _U if terms > 1 else 0.0
            return self._shaken(total + error * self._random.uniform(-1, 1, total.shape))

    def _off(self, value: Array, relative: float) -> Array:
        """``value`` with a random relative error, except where it is a number like 0 or 1."""
        exact = value == np.rint(value)
        error = 1 + relative * self._random.uniform(-1, 1, value.shape)
        with np.errstate(all="ignore"):
            return np.where(exact, value, value * error)

    def _shaken(self, value: Array) -> Array:
        """fp32's neighbour above or below, at random; a number of fp32 is kept."""
        with np.errstate(all="ignore"):
            near = value.astype(np.float32)
            other = np.nextafter(near, np.where(value > near, np.inf, -np.inf).astype(np.float32))
            keep = (near == value) | ~np.isfinite(near)
            choice = self._random.random(value.shape) < 0.5
            return np.where(keep | choice, near, other).astype(np.float64)
