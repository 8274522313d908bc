"""What each scalar function is on values of the field reading."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.fieldarray import FINITE
from superopt.verify.fieldarray import NEG
from superopt.verify.fieldarray import POS
from superopt.verify.fieldarray import UNDEFINED
from superopt.verify.fieldarray import FieldArray
from superopt.verify.fieldarray import Levels
from superopt.verify.fieldarray import Tags
from superopt.verify.fieldarray import boolean
from superopt.verify.fieldarray import integer
from superopt.verify.fieldarray import promoted
from superopt.verify.fieldarray import real
from superopt.verify.fieldarray import same_rank
from superopt.verify.opaque import extremum
from superopt.verify.opaque import fingerprints
from superopt.verify.opaque import opaque
from superopt.verify.residues import Residue
from superopt.verify.residues import Tower
from superopt.verify.residues import U64

LOG = "a logarithm"
SIGN = "the sign of a factor of infinity"
ORDER = "a comparison of data"
_SAFE = 2**61


class Functions:
    """The scalar functions over one tower (and its random constants)."""

    def __init__(self, tower: Tower, constants: dict[Constant, FieldArray]) -> None:
        self.tower = tower
        self.constants = constants

    # -- helpers ------------------------------------------------------------------------------

    def number(self, value: int, ndim: int) -> FieldArray:
        ones = (1,) * ndim
        tag, exact = np.zeros(ones, np.int8), np.full(ones, value, np.int64)
        return integer(tag, exact, frozenset())

    def named(self, name: Constant, ndim: int) -> FieldArray:
        return self.constants[name].each(
            lambda a, extra: a.reshape(a.shape[:1] + (1,) * (ndim - 1) + a.shape[a.ndim - extra :])
        )

    def expo(self, a: FieldArray) -> Levels:
        """The residues of the exponential of ``a``."""
        if a.expo is not None:
            return a.expo
        a = promoted(self.tower, a)
        found: list[Residue | None] = []
        for level in range(self.tower.levels):
            below = a.levels[level + 1] if level + 1 < self.tower.levels else None
            if below is None:
                found.append(None)
                continue
            value = self.tower.exp(level, below.value)
            found.append(Residue(np.where(a.finite, value, np.uint64(0)), below.known))
        return tuple(found)

    def held(self, tag: Tags, zero: np.ndarray, expo: Levels, doubts: frozenset[str]) -> FieldArray:
        """A value known by its exponential only."""
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

    def _zip(self, a: Levels, b: Levels, op: Callable[[int, U64, U64], U64]) -> list[Residue | None]:
        """``op`` level by level, where both sides are known."""
        return [
            None if x is None or y is None else Residue(op(i, x.value, y.value), x.known & y.known)
            for i, (x, y) in enumerate(zip(a, b, strict=True))
        ]

    # -- arithmetic ---------------------------------------------------------------------------

    def add(self, *args: FieldArray) -> FieldArray:
        doubts = args[0].doubts | args[1].doubts
        tag = _sum_tag(args[0].tag, args[1].tag)
        if all(x.kind is Kind.INT for x in args):
            return integer(tag, _exact(args[0]) + _exact(args[1]), doubts)
        a, b = self._pair(args)
        zero = _zero(a) & _zero(b)
        if a.expo is not None or b.expo is not None:
            expo = self._zip(self.expo(a), self.expo(b), self.tower.mul)
            return self.held(tag, zero, tuple(expo), doubts)
        return real(tag, zero, self._zip(a.levels, b.levels, self.tower.add), doubts)

    def negate(self, a: FieldArray) -> FieldArray:
        tag = np.where(a.tag == NEG, POS, np.where(a.tag == POS, NEG, a.tag)).astype(np.int8)
        if a.kind is Kind.INT:
            return integer(tag, -_exact(a), a.doubts)
        if a.expo is not None:
            inverse = [
                None if r is None else self._inverse_residue(i, r) for i, r in enumerate(a.expo)
            ]
            return self.held(tag, _zero(a), tuple(inverse), a.doubts)
        levels = [
            None if r is None else Residue(self.tower.negate(i, r.value), r.known)
            for i, r in enumerate(a.levels)
        ]
        return real(tag, _zero(a), levels, a.doubts)

    def sub(self, *args: FieldArray) -> FieldArray:
        return self.add(args[0], self.negate(args[1]))

    def mul(self, *args: FieldArray) -> FieldArray:
        x, y = args
        tag, more = self._product_tag(x, y)
        doubts = x.doubts | y.doubts | more
        if all(v.kind is Kind.INT for v in args) and _largest(x) * _largest(y) < _SAFE:
            return integer(tag, _exact(x) * _exact(y), doubts)
        a, b = self._pair(args)
        zero = (_zero(a) | _zero(b)) & (tag == FINITE)
        if (a.expo is None) != (b.expo is None):
            expo = self._power(a, y) if a.expo is not None else self._power(b, x)
            return self.held(tag, zero, expo, doubts)
        return real(tag, zero, self._zip(a.levels, b.levels, self.tower.mul), doubts)

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
                exponent = (_exact(factor) % order).astype(np.uint64)
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
        return Residue(
            self.tower.fixed_power(level, r.value, "inverse"), r.known & (r.value != 0)
        )

    def inverse(self, a: FieldArray) -> FieldArray:
        """1 / a: undefined at an exact zero, unknown at an accidental one."""
        a = promoted(self.tower, a)
        infinite = (a.tag == NEG) | (a.tag == POS)
        tag = np.where(_zero(a) | (a.tag == UNDEFINED), UNDEFINED, FINITE).astype(np.int8)
        levels = [None if r is None else self._inverse_residue(i, r) for i, r in enumerate(a.levels)]
        return real(tag, infinite, levels, a.doubts)

    def div(self, *args: FieldArray) -> FieldArray:
        return self.mul(args[0], self.inverse(args[1]))

    def _product_tag(self, a: FieldArray, b: FieldArray) -> tuple[Tags, frozenset[str]]:
        """The state of a product; an infinity times a factor takes the factor's sign."""
        tag = np.maximum(a.tag, b.tag)
        if not ((a.tag != FINITE).any() or (b.tag != FINITE).any()):
            return tag, frozenset()
        infinite = (tag == NEG) | (tag == POS)
        if not infinite.any():
            return tag, frozenset()
        (sign_a, known_a), (sign_b, known_b) = self._sign(a), self._sign(b)
        sign, known = sign_a * sign_b, known_a & known_b
        both = (a.tag == UNDEFINED) | (b.tag == UNDEFINED)
        tag = np.where(infinite, np.where(sign > 0, POS, NEG), tag)
        tag = np.where((infinite & ((sign == 0) | ~known)) | both, UNDEFINED, tag)
        guessed = any(((x.tag == FINITE) & infinite).any() and x.kind is not Kind.INT for x in (a, b))
        return tag.astype(np.int8), frozenset({SIGN} if guessed else ())

    def _sign(self, a: FieldArray) -> tuple[np.ndarray, np.ndarray]:
        """-1, 0 or 1 for every element, and where that is known."""
        if a.kind is Kind.INT:
            sign, known = np.sign(_exact(a)), np.ones((1,) * a.tag.ndim, np.bool_)
        else:
            first = a.levels[0]
            if first is None:
                sign, known = np.zeros(a.tag.shape, np.int64), ~a.finite
            else:
                square = self.tower.is_square(0, first.value)
                sign = np.where(_zero(a), 0, np.where(square, 1, -1))
                known = first.known
        return np.where(a.tag == NEG, -1, np.where(a.tag == POS, 1, sign)), known | ~a.finite

    # -- roots, exponentials, logarithms ---------------------------------------------------------

    def absolute(self, a: FieldArray) -> FieldArray:
        tag = np.where(a.tag == NEG, POS, a.tag).astype(np.int8)
        if a.kind is Kind.INT:
            return integer(tag, np.abs(_exact(a)), a.doubts)
        levels: list[Residue | None] = []
        for i, r in enumerate(a.levels):
            if r is not None:
                square = self.tower.is_square(i, r.value)
                r = Residue(np.where(square, r.value, self.tower.negate(i, r.value)), r.known)
            levels.append(r)
        return real(tag, _zero(a), levels, a.doubts)

    def sqrt(self, a: FieldArray) -> FieldArray:
        a = promoted(self.tower, a)
        levels: list[Residue | None] = []
        for i, r in enumerate(a.levels):
            if r is not None:
                known = r.known & self.tower.is_square(i, r.value)
                r = Residue(self.tower.fixed_power(i, r.value, "root"), known)
            levels.append(r)
        tag = np.where(a.tag == NEG, UNDEFINED, a.tag).astype(np.int8)
        return real(tag, _zero(a), levels, a.doubts)

    def rsqrt(self, a: FieldArray) -> FieldArray:
        return self.inverse(self.sqrt(a))

    def exp(self, a: FieldArray) -> FieldArray:
        a = promoted(self.tower, a)
        tag = np.where(a.tag == NEG, FINITE, a.tag).astype(np.int8)
        return real(tag, a.tag == NEG, self.expo(a), a.doubts - {LOG} if a.expo else a.doubts)

    def exp2(self, a: FieldArray) -> FieldArray:
        return self.exp(self.mul(a, self.named(Constant.LN2, a.tag.ndim)))

    def log(self, a: FieldArray) -> FieldArray:
        one = _exact(a) == 1 if a.kind is Kind.INT else np.zeros((1,) * a.tag.ndim, np.bool_)
        a = promoted(self.tower, a)
        tag = np.where(a.tag == NEG, UNDEFINED, a.tag)
        tag = np.where(_zero(a), NEG, tag).astype(np.int8)
        return self.held(tag, one, a.levels, a.doubts)

    def log2(self, a: FieldArray) -> FieldArray:
        return self.mul(self.log(a), self.named(Constant.LOG2E, a.tag.ndim))

    def sigmoid(self, a: FieldArray) -> FieldArray:
        a = promoted(self.tower, a)
        shifted = self.add(self.number(1, a.tag.ndim), self.exp(self.negate(a)))
        return self.inverse(shifted)  # 1 / (1 + inf) = 0 and 1 / (1 + 0) = 1

    # -- comparisons and truth -------------------------------------------------------------------

    def _compared(self, fn: Fn, a: FieldArray, b: FieldArray) -> FieldArray:
        doubts = a.doubts | b.doubts
        undefined = (a.tag == UNDEFINED) | (b.tag == UNDEFINED)
        tag = np.where(undefined, UNDEFINED, FINITE).astype(np.int8)
        rank_a, rank_b = _RANK[a.tag], _RANK[b.tag]
        finite = a.finite & b.finite
        less, equal = rank_a < rank_b, (rank_a == rank_b) & ~finite
        if a.kind is Kind.INT and b.kind is Kind.INT:
            less = less | (finite & (_exact(a) < _exact(b)))
            equal = equal | (finite & (_exact(a) == _exact(b)))
        elif finite.any():
            below, same, guessed = self._ordered(a, b)
            less, equal = less | (finite & below), equal | (finite & same)
            if (finite & guessed).any():
                doubts = doubts | {ORDER}
        truth = {Fn.LT: less, Fn.LE: less | equal, Fn.EQ: equal}[fn]
        return boolean(tag, truth, doubts)

    def _ordered(
        self, x: FieldArray, y: FieldArray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Below, equal, and whether that is a guess, for finite elements that are not integers.

        Equal residues are equal values. An exact zero equals no other value. Everything else is
        decided by a coin that knows the pair: it falls the same way in spec and kernel.
        """
        a, b = self._pair((x, y))
        (word_a, known_a), (word_b, known_b) = (fingerprints(self.tower, v) for v in (a, b))
        known = known_a & known_b
        same = (word_a == word_b) & known
        low, high = np.minimum(word_a, word_b), np.maximum(word_a, word_b)
        coin = self.tower.mixed("order", self.tower.mixed("low", low) ^ high) & np.uint64(1) == 1
        return (coin ^ (word_a > word_b)) & ~same, same, ~same

    def equal(self, *args: FieldArray) -> FieldArray:
        found = self._compared(Fn.EQ, *args)
        a, b = args
        if ORDER in found.doubts and any(x.kind is Kind.INT and _always_zero(x) for x in args):
            other = b if a.kind is Kind.INT else a
            # Against a literal 0: a nonzero value differs from it, and that is no guess.
            first = other.levels[0]
            settled = first is not None and bool((first.value != 0)[_plain(other)].all())
            if settled:
                return boolean(found.tag, _of(found), a.doubts | b.doubts)
        return found

    def select(self, *args: FieldArray) -> FieldArray:
        c, a, b = args
        assert c.truth is not None
        tag = np.where(c.tag == UNDEFINED, UNDEFINED, np.where(c.truth, a.tag, b.tag))
        tag = tag.astype(np.int8)
        doubts = c.doubts | a.doubts | b.doubts
        if a.kind is Kind.BOOL:
            return boolean(tag, np.where(c.truth, _of(a), _of(b)), doubts)
        if a.kind is Kind.INT and b.kind is Kind.INT:
            return integer(tag, np.where(c.truth, _exact(a), _exact(b)), doubts)
        a, b = self._pair((a, b))
        zero = np.where(c.truth, _zero(a), _zero(b))
        levels = _chosen(c.truth, a.levels, b.levels)
        expo = None
        if a.expo is not None or b.expo is not None:
            expo = _chosen(c.truth, self.expo(a), self.expo(b))
        return real(tag, zero, levels, doubts, expo)

    def connective(self, fn: Fn, args: Sequence[FieldArray]) -> FieldArray:
        tag = args[0].tag if len(args) == 1 else np.maximum(args[0].tag, args[1].tag)
        doubts = frozenset[str]().union(*(a.doubts for a in args))
        ufunc = {Fn.AND: np.logical_and, Fn.OR: np.logical_or, Fn.NOT: np.logical_not}[fn]
        return boolean(tag, ufunc(*map(_of, args)), doubts)

    def extreme(self, fn: Fn, args: Sequence[FieldArray]) -> FieldArray:
        if all(a.kind is Kind.INT for a in args):
            return integer_extreme(fn, stacked(args), len(args[0].shape))
        pair = stacked(self._pair(args))
        return extremum(self.tower, fn, pair, len(args[0].shape))


def stacked(args: Sequence[FieldArray]) -> FieldArray:
    """Two arrays side by side along a new last dimension."""
    return joined([_broadcast(a, args) for a in args], len(args[0].shape))


def _broadcast(a: FieldArray, others: Sequence[FieldArray]) -> FieldArray:
    shape = np.broadcast_shapes(*(o.shape for o in others))

    def change(x: np.ndarray, extra: int) -> np.ndarray:
        tail = x.shape[x.ndim - extra :]
        wide = np.broadcast_to(x, (x.shape[0], *shape, *tail))
        return np.expand_dims(wide, 1 + len(shape))

    return a.each(change)


def integer_extreme(fn: Fn, a: FieldArray, dim: int) -> FieldArray:
    """Exact integers folded by MAX or MIN."""
    lost, wins = (NEG, POS) if fn is Fn.MAX else (POS, NEG)
    at, limits = dim + 1, np.iinfo(np.int64)
    least = limits.min if fn is Fn.MAX else limits.max
    values = np.where(a.finite, _exact(a), least)
    ufunc = np.maximum if fn is Fn.MAX else np.minimum
    exact = ufunc.reduce(values, axis=at, initial=least)
    tag = np.where(a.finite.any(at), FINITE, lost)
    tag = np.where((a.tag == wins).any(at), wins, tag)
    tag = np.where((a.tag == UNDEFINED).any(at), UNDEFINED, tag).astype(np.int8)
    return integer(tag, np.where(tag == FINITE, exact, 0), a.doubts)


def joined(values: Sequence[FieldArray], dim: int) -> FieldArray:
    """Concatenation of arrays of one kind along ``dim``."""
    first = values[0]

    def glue(parts: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate(same_rank(parts), axis=dim + 1)

    def levels(parts: Sequence[Levels]) -> list[Residue | None]:
        return [_glued(rs, values, glue) for rs in zip(*parts, strict=True)]

    tag = glue([v.tag for v in values])
    doubts = frozenset[str]().union(*(v.doubts for v in values))
    if first.kind is Kind.INT:
        return integer(tag, glue([_exact(v) for v in values]), doubts)
    if first.kind is Kind.BOOL:
        return boolean(tag, glue([_of(v) for v in values]), doubts)
    expo = None
    if all(v.expo is not None for v in values):
        expo = levels([v.expo for v in values if v.expo is not None])
    zero = glue([_zero(v) for v in values])
    return real(tag, zero, levels([v.levels for v in values]), doubts, expo)


def _glued(
    parts: Sequence[Residue | None],
    values: Sequence[FieldArray],
    glue: Callable[[Sequence[np.ndarray]], np.ndarray],
) -> Residue | None:
    if all(r is None for r in parts):
        return None
    full = [
        Residue(np.zeros(v.tag.shape, np.uint64), np.zeros(v.tag.shape, np.bool_))
        if r is None
        else r
        for r, v in zip(parts, values, strict=True)
    ]
    return Residue(glue([r.value for r in full]), glue([r.known for r in full]))


def _sum_tag(a: Tags, b: Tags) -> Tags:
    tag = np.maximum(a, b)
    clash = ((a == NEG) & (b == POS)) | ((a == POS) & (b == NEG))
    return np.where(clash, UNDEFINED, tag).astype(np.int8)


def _chosen(truth: np.ndarray, a: Levels, b: Levels) -> list[Residue | None]:
    found: list[Residue | None] = []
    for x, y in zip(a, b, strict=True):
        if x is None and y is None:
            found.append(None)
            continue
        nothing = np.zeros((1,) * truth.ndim, np.uint64)
        blank = Residue(nothing, nothing != 0)
        x, y = x or blank, y or blank
        found.append(
            Residue(np.where(truth, x.value, y.value), np.where(truth, x.known, y.known))
        )
    return found


_RANK = np.array([1, 0, 2, 1])  # by state: -inf < finite < +inf


def _exact(a: FieldArray) -> np.ndarray:
    assert a.exact is not None
    return a.exact


def _of(a: FieldArray) -> np.ndarray:
    assert a.truth is not None
    return a.truth


def _zero(a: FieldArray) -> np.ndarray:
    assert a.zero is not None
    return a.zero


def _largest(a: FieldArray) -> int:
    return int(np.abs(_exact(a)).max(initial=0))


def _always_zero(a: FieldArray) -> bool:
    return not _exact(a).any() and bool(a.finite.all())


def _plain(a: FieldArray) -> np.ndarray:
    first = a.levels[0]
    assert first is not None
    wide = np.broadcast_to(a.finite & ~_zero(a), first.value.shape)
    return wide & first.known


_UNARY = {
    Fn.ABS: Functions.absolute,
    Fn.EXP: Functions.exp,
    Fn.EXP2: Functions.exp2,
    Fn.LOG: Functions.log,
    Fn.LOG2: Functions.log2,
    Fn.SQRT: Functions.sqrt,
    Fn.RSQRT: Functions.rsqrt,
    Fn.SIGMOID: Functions.sigmoid,
}

# One entry a scalar function: (functions of a tower, arguments) -> value.
MEANING: dict[Fn, Callable[[Functions, Sequence[FieldArray]], FieldArray]] = {
    Fn.ADD: lambda f, a: f.add(*a),
    Fn.SUB: lambda f, a: f.sub(*a),
    Fn.MUL: lambda f, a: f.mul(*a),
    Fn.DIV: lambda f, a: f.div(*a),
    Fn.MAX: lambda f, a: f.extreme(Fn.MAX, a),
    Fn.MIN: lambda f, a: f.extreme(Fn.MIN, a),
    **{fn: (lambda f, a, g=g: g(f, a[0])) for fn, g in _UNARY.items()},
    Fn.TANH: lambda f, a: opaque(f.tower, "tanh", promoted(f.tower, a[0]), 1),
    Fn.ERF: lambda f, a: opaque(f.tower, "erf", promoted(f.tower, a[0]), 1),
    Fn.LT: lambda f, a: f._compared(Fn.LT, *a),
    Fn.LE: lambda f, a: f._compared(Fn.LE, *a),
    Fn.EQ: lambda f, a: f.equal(*a),
    Fn.AND: lambda f, a: f.connective(Fn.AND, a),
    Fn.OR: lambda f, a: f.connective(Fn.OR, a),
    Fn.NOT: lambda f, a: f.connective(Fn.NOT, a),
    Fn.WHERE: lambda f, a: f.select(*a),
}


def fraction_levels(tower: Tower, value: Fraction) -> list[Residue | None]:
    """A rational number at every level (unknown where its denominator is 0)."""
    levels: list[Residue | None] = []
    for i in range(tower.levels):
        words = []
        for chain in tower.chains:
            p = chain[i]
            words.append(value.numerator * pow(value.denominator, p - 2, p) % p)
        known = np.array([value.denominator % c[i] != 0 for c in tower.chains])
        levels.append(Residue(np.array(words, np.uint64), known))
    return levels
