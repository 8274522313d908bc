"""Arithmetic, roots, exponentials and logarithms on values of the field reading."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Kind
from superopt.verify.field.array import FINITE
from superopt.verify.field.array import NEG
from superopt.verify.field.array import POS
from superopt.verify.field.array import UNDEFINED
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import Levels
from superopt.verify.field.array import Members
from superopt.verify.field.array import Tags
from superopt.verify.field.array import exact_of
from superopt.verify.field.array import integer
from superopt.verify.field.array import promoted
from superopt.verify.field.array import real
from superopt.verify.field.array import zero_of
from superopt.verify.field.extrema import EITHER
from superopt.verify.field.extrema import Op
from superopt.verify.field.extrema import both_signs
from superopt.verify.field.extrema import moved
from superopt.verify.field.extrema import opposite
from superopt.verify.field.extrema import positive
from superopt.verify.field.residues import U64
from superopt.verify.field.residues import Bools
from superopt.verify.field.residues import Residue
from superopt.verify.field.residues import Tower

LOG = "a logarithm"
POSITIVE = "the sign under a root or an absolute value"
SIGN = "the sign of a factor of infinity"
_SAFE = 2**61


class Functions:
    """The scalar functions over one tower (and its random constants).

    ``drawn_logs``: a logarithm is a random function of its argument, of which no law is known.
    It may then be multiplied by anything, as in an entropy; what is held by its exponential may
    be multiplied by integers and squares only.
    """

    def __init__(
        self, tower: Tower, constants: dict[Constant, FieldArray], drawn_logs: bool = False
    ) -> None:
        self.tower = tower
        self.drawn_logs = drawn_logs
        self.constants = constants

    # -- helpers ------------------------------------------------------------------------------

    def number(self, value: int, ndim: int) -> FieldArray:
        """An integer with ``ndim`` dimensions of 1."""
        ones = (1,) * ndim
        tag, exact = np.zeros(ones, np.int8), np.full(ones, value, np.int64)
        return integer(tag, exact, frozenset())

    def named(self, name: Constant, ndim: int) -> FieldArray:
        """A constant with ``ndim`` dimensions of 1."""
        return self.constants[name].each(
            lambda a, extra: a.reshape(a.shape[:1] + (1,) * (ndim - 1) + a.shape[a.ndim - extra :])
        )

    def expo(self, a: FieldArray) -> Levels:
        """The residues of the exponential of ``a``."""
        if a.expo is not None:
            return a.expo
        a = promoted(self.tower, a)
        one = zero_of(a)  # its exponential needs no residue at a next level
        found: list[Residue | None] = []
        for level in range(self.tower.levels):
            below = a.levels[level + 1] if level + 1 < self.tower.levels else None
            if below is None:
                found.append(Residue(one.astype(np.uint64), one) if one.any() else None)
                continue
            value = np.where(one, np.uint64(1), self.tower.exp(level, below.value))
            found.append(Residue(np.where(a.finite, value, np.uint64(0)), below.known | one))
        return tuple(found)

    def held(self, tag: Tags, zero: np.ndarray, expo: Levels, doubts: frozenset[str]) -> FieldArray:
        """A value known by its exponential only (which is 1 where it is exactly zero)."""
        if zero.any():
            blank = Residue(np.zeros(zero.shape, np.uint64), np.zeros(zero.shape, np.bool_))
            expo = tuple(
                Residue(np.where(zero, np.uint64(1), r.value), r.known | zero)
                for r in (r or blank for r in expo)
            )
        first = expo[0]
        levels: list[Residue | None] = [None] * self.tower.levels
        if first is not None:
            levels = [
                Residue(self.tower.random(LOG, i, first.value), first.known)
                for i in range(self.tower.levels)
            ]
        return real(tag, zero, levels, doubts | {LOG}, expo)

    def _pair(self, args: Sequence[FieldArray]) -> tuple[FieldArray, FieldArray]:
        a, b = (promoted(self.tower, x) for x in args)
        return a, b

    def _zip(
        self, a: Levels, b: Levels, op: Callable[[int, U64, U64], U64]
    ) -> list[Residue | None]:
        """``op`` level by level, where both sides are known."""
        return [
            None if x is None or y is None else Residue(op(i, x.value, y.value), x.known & y.known)
            for i, (x, y) in enumerate(zip(a, b, strict=True))
        ]

    # -- arithmetic ---------------------------------------------------------------------------

    def add(self, *args: FieldArray) -> FieldArray:
        """A sum; +inf and -inf have none."""
        doubts = args[0].doubts | args[1].doubts
        tag = _sum_tag(args[0].tag, args[1].tag)
        if all(x.kind is Kind.INT for x in args):
            return integer(tag, exact_of(args[0]) + exact_of(args[1]), doubts)
        a, b = self._pair(args)
        zero = zero_of(a) & zero_of(b)
        if a.expo is not None or b.expo is not None:
            expo = self._zip(self.expo(a), self.expo(b), self.tower.mul)
            return self.held(tag, zero, tuple(expo), doubts)
        levels = self._zip(a.levels, b.levels, self.tower.add)
        return real(tag, zero, levels, doubts, members=self._moved(a, b, self.tower.add, levels))

    def _moved(
        self, a: FieldArray, b: FieldArray, op: Op, levels: Sequence[Residue | None]
    ) -> Members | None:
        """The sets behind a sum or a product of an extremum and another value."""
        moving = [
            (x, y)
            for x, y in ((a, b), (b, a))
            if x.members is not None and x.members.fn in self.tower.equivariant
        ]
        if len(moving) != 1:  # of two extrema it is not known which one moves the other
            return None
        ((a, b),) = moving
        fair = b.finite
        if op == self.tower.mul:
            fair = fair & positive(self.tower, b)
        return moved(a, b, op, fair, levels)

    def negate(self, a: FieldArray) -> FieldArray:
        """-a."""
        tag = np.where(a.tag == NEG, POS, np.where(a.tag == POS, NEG, a.tag)).astype(np.int8)
        if a.kind is Kind.INT:
            return integer(tag, -exact_of(a), a.doubts)
        if a.expo is not None:
            inverse = [
                None if r is None else self._inverse_residue(i, r) for i, r in enumerate(a.expo)
            ]
            return self.held(tag, zero_of(a), tuple(inverse), a.doubts)
        levels = [
            None if r is None else Residue(self.tower.negate(i, r.value), r.known)
            for i, r in enumerate(a.levels)
        ]
        sets = a.members
        if sets is not None:
            sets = opposite(self.tower, sets) if self.tower.equivariant == EITHER else None
        return real(tag, zero_of(a), levels, a.doubts, members=sets)

    def sub(self, *args: FieldArray) -> FieldArray:
        """A difference."""
        return self.add(args[0], self.negate(args[1]))

    def mul(self, *args: FieldArray) -> FieldArray:
        """A product; 0 times an infinity or an undefined value is undefined."""
        x, y = args
        tag, sure, more = self._product_tag(x, y)
        doubts = x.doubts | y.doubts | more
        if all(v.kind is Kind.INT for v in args) and _largest(x) * _largest(y) < _SAFE:
            return integer(tag, exact_of(x) * exact_of(y), doubts)
        a, b = self._pair(args)
        zero = (zero_of(a) | zero_of(b)) & (tag == FINITE)
        if (a.expo is None) != (b.expo is None):
            expo = self._power(a, y) if a.expo is not None else self._power(b, x)
            return self.held(tag, zero, tuple(_where(sure, expo)), doubts)
        if self.tower.equivariant == EITHER and any(_negative(v) for v in args):
            return self.mul(self.negate(x), self.negate(y))  # maxima become minima
        levels = _where(sure, self._zip(a.levels, b.levels, self.tower.mul))
        return real(tag, zero, levels, doubts, members=self._moved(a, b, self.tower.mul, levels))

    def _power(self, a: FieldArray, factor: FieldArray) -> Levels:
        """The exponential of ``a * factor``: that of ``a`` to the power ``factor``."""
        assert a.expo is not None
        tower, found = self.tower, list[Residue | None]()
        real_factor = promoted(tower, factor)
        for level, base in enumerate(a.expo):
            if base is None:
                found.append(None)
                continue
            if factor.kind is Kind.INT:
                order = tower.p(level, base.value.ndim).astype(np.int64) - 1
                exponent = (exact_of(factor) % order).astype(np.uint64)
                found.append(Residue(tower.power(level, base.value, exponent), base.known))
                continue
            below = real_factor.levels[level + 1] if level + 1 < tower.levels else None
            if below is None:
                found.append(None)
                continue
            known = base.known & below.known & tower.is_square(level, base.value)
            found.append(Residue(tower.power(level, base.value, below.value), known))
        return tuple(found)

    def _inverse_residue(self, level: int, r: Residue) -> Residue:
        return Residue(self.tower.fixed_power(level, r.value, "inverse"), r.known & (r.value != 0))

    def inverse(self, a: FieldArray) -> FieldArray:
        """1 / a: undefined at an exact zero, unknown at an accidental one."""
        a = promoted(self.tower, a)
        infinite = (a.tag == NEG) | (a.tag == POS)
        tag = np.where(zero_of(a) | (a.tag == UNDEFINED), UNDEFINED, FINITE).astype(np.int8)
        levels = [
            None if r is None else self._inverse_residue(i, r) for i, r in enumerate(a.levels)
        ]
        return real(tag, infinite, levels, a.doubts)

    def div(self, *args: FieldArray) -> FieldArray:
        """A quotient."""
        return self.mul(args[0], self.inverse(args[1]))

    def _product_tag(self, a: FieldArray, b: FieldArray) -> tuple[Tags, Bools, frozenset[str]]:
        """The state of a product, and where it is known: an infinity times a factor takes the
        factor's sign."""
        tag = np.maximum(a.tag, b.tag)
        always = np.ones((1,) * tag.ndim, np.bool_)
        infinite = (tag == NEG) | (tag == POS)
        if not infinite.any():
            return tag, always, frozenset()
        (sign_a, known_a), (sign_b, known_b) = self._sign(a), self._sign(b)
        sign, known = sign_a * sign_b, known_a & known_b
        tag = np.where(infinite, np.where(sign > 0, POS, NEG), tag)
        tag = np.where(infinite & (sign == 0), UNDEFINED, tag)
        tag = np.where(infinite & ~known, FINITE, tag)
        guessed = any((x.finite & infinite).any() and x.kind is not Kind.INT for x in (a, b))
        return tag.astype(np.int8), known | ~infinite, frozenset({SIGN} if guessed else ())

    def _sign(self, a: FieldArray) -> tuple[np.ndarray, np.ndarray]:
        """-1, 0 or 1 for every element, and where that is known."""
        if a.kind is Kind.INT:
            sign, known = np.sign(exact_of(a)), np.ones((1,) * a.tag.ndim, np.bool_)
        else:
            first = a.levels[0]
            if first is None:
                sign, known = np.zeros(a.tag.shape, np.int64), ~a.finite
            else:
                square = self.tower.is_square(0, first.value)
                sign = np.where(zero_of(a), 0, np.where(square, 1, -1))
                known = first.known
        return np.where(a.tag == NEG, -1, np.where(a.tag == POS, 1, sign)), known | ~a.finite

    # -- roots, exponentials, logarithms ---------------------------------------------------------

    def absolute(self, a: FieldArray) -> FieldArray:
        """The one of a and -a that is a square."""
        tag = np.where(a.tag == NEG, POS, a.tag).astype(np.int8)
        if a.kind is Kind.INT:
            return integer(tag, np.abs(exact_of(a)), a.doubts)
        levels: list[Residue | None] = []
        for i, r in enumerate(a.levels):
            if r is not None:
                square = self.tower.is_square(i, r.value)
                r = Residue(np.where(square, r.value, self.tower.negate(i, r.value)), r.known)
            levels.append(r)
        sets = both_signs(self.tower, a) if self.tower.equivariant == EITHER else None
        return real(tag, zero_of(a), levels, a.doubts | {POSITIVE}, members=sets)

    def sqrt(self, a: FieldArray) -> FieldArray:
        """The root that is itself a square; unknown for a residue that is no square."""
        doubts = a.doubts if a.kind is Kind.INT else a.doubts | {POSITIVE}
        a = promoted(self.tower, a)
        levels: list[Residue | None] = []
        for i, r in enumerate(a.levels):
            if r is not None:
                known = r.known & self.tower.is_square(i, r.value)
                r = Residue(self.tower.fixed_power(i, r.value, "root"), known)
            levels.append(r)
        tag = np.where(a.tag == NEG, UNDEFINED, a.tag).astype(np.int8)
        return real(tag, zero_of(a), levels, doubts)

    def rsqrt(self, a: FieldArray) -> FieldArray:
        """1 / sqrt(a)."""
        return self.inverse(self.sqrt(a))

    def exp(self, a: FieldArray) -> FieldArray:
        """The exponential: one level less is known."""
        a = promoted(self.tower, a)
        tag = np.where(a.tag == NEG, FINITE, a.tag).astype(np.int8)
        return real(tag, a.tag == NEG, self.expo(a), a.doubts)

    def exp2(self, a: FieldArray) -> FieldArray:
        """exp(a * LN2)."""
        return self.exp(self.mul(a, self.named(Constant.LN2, a.tag.ndim)))

    def log(self, a: FieldArray) -> FieldArray:
        """The logarithm, held by its exponential or drawn."""
        one = exact_of(a) == 1 if a.kind is Kind.INT else np.zeros((1,) * a.tag.ndim, np.bool_)
        a = promoted(self.tower, a)
        tag = np.where(a.tag == NEG, UNDEFINED, a.tag)
        tag = np.where(zero_of(a), NEG, tag).astype(np.int8)
        found = self.held(tag, one, a.levels, a.doubts)
        return replace(found, expo=None) if self.drawn_logs else found

    def log2(self, a: FieldArray) -> FieldArray:
        """log(a) * LOG2E."""
        return self.mul(self.log(a), self.named(Constant.LOG2E, a.tag.ndim))

    def sigmoid(self, a: FieldArray) -> FieldArray:
        """1 / (1 + exp(-a))."""
        a = promoted(self.tower, a)
        shifted = self.add(self.number(1, a.tag.ndim), self.exp(self.negate(a)))
        return self.inverse(shifted)  # 1 / (1 + inf) = 0 and 1 / (1 + 0) = 1


def _sum_tag(a: Tags, b: Tags) -> Tags:
    tag = np.maximum(a, b)
    clash = ((a == NEG) & (b == POS)) | ((a == POS) & (b == NEG))
    return np.where(clash, UNDEFINED, tag).astype(np.int8)


def _where(sure: Bools, levels: Sequence[Residue | None]) -> list[Residue | None]:
    """Residues that are known where they are ``sure``."""
    return [None if r is None else Residue(r.value, r.known & sure) for r in levels]


def _negative(a: FieldArray) -> bool:
    return a.kind is Kind.INT and bool((exact_of(a) < 0).all()) and bool(a.finite.all())


def _largest(a: FieldArray) -> int:
    return int(np.abs(exact_of(a)).max(initial=0))
