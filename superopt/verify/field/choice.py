"""Comparisons, choices and extrema on values of the field reading.

Integers and infinities compare exactly. Equal residues are equal values, and an exact zero
equals no other value. Any other comparison of data, equality too, is decided by a coin that knows
the pair: it falls the same way in the spec and in the kernel, so equality is sound and a
difference refutes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from superopt.ugraph.grids import ROUNDINGS
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.field.array import FINITE
from superopt.verify.field.array import NEG
from superopt.verify.field.array import POS
from superopt.verify.field.array import UNDEFINED
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import Levels
from superopt.verify.field.array import Members
from superopt.verify.field.array import boolean
from superopt.verify.field.array import exact_of
from superopt.verify.field.array import integer
from superopt.verify.field.array import promoted
from superopt.verify.field.array import real
from superopt.verify.field.array import same_rank
from superopt.verify.field.array import truth_of
from superopt.verify.field.array import zero_of
from superopt.verify.field.extrema import extremum
from superopt.verify.field.extrema import padded
from superopt.verify.field.extrema import sets_of
from superopt.verify.field.functions import Functions
from superopt.verify.field.residues import U64
from superopt.verify.field.residues import Bools
from superopt.verify.field.residues import Residue
from superopt.verify.field.residues import Tower

ORDER = "a comparison of data"

_RANK = np.array([1, 0, 2, 1])  # by state: -inf < finite < +inf


def compare(tower: Tower, fn: Fn, args: Sequence[FieldArray]) -> FieldArray:
    """LT, LE or EQ."""
    a, b = args
    doubts = a.doubts | b.doubts
    undefined = (a.tag == UNDEFINED) | (b.tag == UNDEFINED)
    tag = np.where(undefined, UNDEFINED, FINITE).astype(np.int8)
    rank_a, rank_b = _RANK[a.tag], _RANK[b.tag]
    finite = a.finite & b.finite
    less, equal = rank_a < rank_b, (rank_a == rank_b) & ~finite
    sure = np.ones((1,) * tag.ndim, np.bool_)
    if a.kind is Kind.INT and b.kind is Kind.INT:
        less = less | (finite & (exact_of(a) < exact_of(b)))
        equal = equal | (finite & (exact_of(a) == exact_of(b)))
    elif finite.any():
        # Where a rounding takes part, values of different arguments may well be equal.
        stepped = not doubts.isdisjoint(ROUNDINGS)
        below, same, known, guessed = _ordered(tower, a, b, stepped or tower.ties)
        if fn is Fn.EQ and not stepped:
            zero = _one_zero(tower, a, b)
            same = same & ~(guessed & zero)
            guessed = guessed & ~zero
            if not tower.ties:
                same = same | (guessed & _even(tower, a, b))
        less, equal, sure = less | (finite & below), equal | (finite & same), known | ~finite
        if (finite & guessed).any():
            doubts = doubts | {ORDER}
    truth = {Fn.LT: less, Fn.LE: less | equal, Fn.EQ: equal}[fn]
    return boolean(tag, truth, sure, doubts)


def _ordered(
    tower: Tower, x: FieldArray, y: FieldArray, stepped: bool
) -> tuple[Bools, Bools, Bools, Bools]:
    """Below, equal, known, guessed, for finite elements that are not both integers.

    ``stepped``: different residues are equal for some pairs, by a coin, too.
    """
    a, b = promoted(tower, x), promoted(tower, y)
    first_a, first_b = a.levels[0], b.levels[0]
    if first_a is None or first_b is None:
        never = np.zeros((1,) * a.tag.ndim, np.bool_)
        return never, never, never, never
    known = first_a.known & first_b.known
    left, right = np.broadcast_arrays(first_a.value, first_b.value)
    low, high = np.minimum(left, right), np.maximum(left, right)
    coin = tower.mixed("order", (low << np.uint64(32)) ^ high) & np.uint64(1) == 1
    same = sure = left == right
    if stepped:
        tie = tower.mixed("tie", (low << np.uint64(32)) ^ high) & np.uint64(3) == 0
        same = same | tie
    return (coin ^ (left > right)) & ~same, same, known, ~sure


def _even(tower: Tower, x: FieldArray, y: FieldArray) -> Bools:
    """A coin for each pair: numbers may be equal, though residues of two hardly ever are."""
    first_a, first_b = promoted(tower, x).levels[0], promoted(tower, y).levels[0]
    if first_a is None or first_b is None:
        return np.zeros((1,) * x.tag.ndim, np.bool_)
    left, right = np.broadcast_arrays(first_a.value, first_b.value)
    low, high = np.minimum(left, right), np.maximum(left, right)
    found: Bools = tower.mixed("equal", (low << np.uint64(32)) ^ high) & np.uint64(1) == 1
    return found


def _one_zero(tower: Tower, x: FieldArray, y: FieldArray) -> Bools:
    result: Bools = zero_of(promoted(tower, x)) | zero_of(promoted(tower, y))
    return result


def select(functions: Functions, args: Sequence[FieldArray]) -> FieldArray:
    """WHERE: the arm that is not chosen does not matter, undefined or not."""
    c, a, b = args
    tower = functions.tower
    truth, sure = truth_of(c)
    chosen = np.where(truth, a.tag, b.tag)
    tag = np.where(c.tag == UNDEFINED, UNDEFINED, chosen).astype(np.int8)
    doubts = c.doubts | a.doubts | b.doubts
    if a.kind is Kind.BOOL:
        (truth_a, sure_a), (truth_b, sure_b) = truth_of(a), truth_of(b)
        known = sure & np.where(truth, sure_a, sure_b)
        return boolean(tag, np.where(truth, truth_a, truth_b), known, doubts)
    if a.kind is Kind.INT and b.kind is Kind.INT and sure.all():
        return integer(tag, np.where(truth, exact_of(a), exact_of(b)), doubts)
    a, b = promoted(tower, a), promoted(tower, b)
    zero = np.where(truth, zero_of(a), zero_of(b)) & sure
    expo = None
    if a.expo is not None or b.expo is not None:
        expo = _chosen(truth, sure, functions.expo(a), functions.expo(b))
    sets = _chosen_members(truth, a, b) if sure.all() else None
    found = real(tag, zero, _chosen(truth, sure, a.levels, b.levels), doubts, expo, sets)
    return found if sure.all() else _unsure(found, sure)


def _chosen_members(truth: Bools, a: FieldArray, b: FieldArray) -> Members | None:
    """The sets of a choice, if what is chosen from are extrema of one kind (or single values)."""
    fns = {v.members.fn for v in (a, b) if v.members is not None}
    if len(fns) != 1:
        return None
    x, y = padded([sets_of(v, *fns) for v in (a, b)])
    each = truth[..., None]
    levels = _chosen(each, np.ones((1,) * each.ndim, np.bool_), x.levels, y.levels)
    return Members(x.fn, np.where(each, x.there, y.there), tuple(levels))


def _unsure(a: FieldArray, sure: Bools) -> FieldArray:
    """A choice by an unknown condition is unknown, also where both arms are infinite."""
    levels = tuple(None if r is None else Residue(r.value, r.known & sure) for r in a.levels)
    tag = np.where(sure, a.tag, np.int8(FINITE))
    return real(tag, zero_of(a) & sure, levels, a.doubts, a.expo)


def _chosen(truth: Bools, sure: Bools, a: Levels, b: Levels) -> list[Residue | None]:
    blank = Residue(np.zeros((1,) * truth.ndim, np.uint64), np.zeros((1,) * truth.ndim, np.bool_))
    found: list[Residue | None] = []
    for left, right in zip(a, b, strict=True):
        if left is None and right is None:
            found.append(None)
            continue
        x, y = left or blank, right or blank
        known = np.where(truth, x.known, y.known) & sure
        found.append(Residue(np.where(truth, x.value, y.value), known))
    return found


def connective(fn: Fn, args: Sequence[FieldArray]) -> FieldArray:
    """AND, OR and NOT; what is known to decide, decides."""
    tag = args[0].tag if len(args) == 1 else np.maximum(args[0].tag, args[1].tag)
    doubts = frozenset[str]().union(*(a.doubts for a in args))
    truths, sures = zip(*map(truth_of, args), strict=True)
    if fn is Fn.NOT:
        return boolean(tag, ~truths[0], sures[0], doubts)
    (x, y), (sure_x, sure_y) = truths, sures
    decides = fn is Fn.OR  # True decides an OR, False decides an AND
    sure = (sure_x & sure_y) | (sure_x & (x == decides)) | (sure_y & (y == decides))
    x, y = np.where(sure_x, x, not decides), np.where(sure_y, y, not decides)
    return boolean(tag, (x | y) if decides else (x & y), sure, doubts)


def extreme(tower: Tower, fn: Fn, args: Sequence[FieldArray]) -> FieldArray:
    """MAX or MIN of two arrays: a fold over a new dimension."""
    rank = len(args[0].shape)
    if not all(a.kind is Kind.INT for a in args):
        args = [promoted(tower, a) for a in args]
    shape = np.broadcast_shapes(*(a.shape for a in args))

    def widened(x: np.ndarray, extra: int) -> np.ndarray:
        wide = np.broadcast_to(x, (x.shape[0], *shape, *x.shape[x.ndim - extra :]))
        return np.expand_dims(wide, 1 + rank)

    return fold_extreme(tower, fn, joined(tower, [a.each(widened) for a in args], rank), rank)


def fold_extreme(tower: Tower, fn: Fn, a: FieldArray, dim: int) -> FieldArray:
    """An array folded by MAX or MIN."""
    return _integer_extreme(fn, a, dim) if a.kind is Kind.INT else extremum(tower, fn, a, dim)


def _integer_extreme(fn: Fn, a: FieldArray, dim: int) -> FieldArray:
    lost, wins = (NEG, POS) if fn is Fn.MAX else (POS, NEG)
    at, limits = dim + 1, np.iinfo(np.int64)
    least = limits.min if fn is Fn.MAX else limits.max
    values = np.where(a.finite, exact_of(a), least)
    ufunc = np.maximum if fn is Fn.MAX else np.minimum
    exact = ufunc.reduce(values, axis=at, initial=least)
    tag = np.where(a.finite.any(at), FINITE, lost)
    tag = np.where((a.tag == wins).any(at), wins, tag)
    tag = np.where((a.tag == UNDEFINED).any(at), UNDEFINED, tag).astype(np.int8)
    return integer(tag, np.where(tag == FINITE, exact, 0), a.doubts)


def joined(tower: Tower, values: Sequence[FieldArray], dim: int) -> FieldArray:
    """Concatenation along ``dim``; integers beside reals become reals."""
    if any(v.kind is Kind.REAL for v in values):
        values = [promoted(tower, v) for v in values]

    def glue(parts: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate(same_rank(parts), axis=dim + 1)

    def levels(parts: Sequence[Levels]) -> list[Residue | None]:
        return [_glued(rs, values, glue) for rs in zip(*parts, strict=True)]

    tag = glue([v.tag for v in values])
    doubts = frozenset[str]().union(*(v.doubts for v in values))
    if values[0].kind is Kind.INT:
        return integer(tag, glue([exact_of(v) for v in values]), doubts)
    if values[0].kind is Kind.BOOL:
        truths, sures = zip(*map(truth_of, values), strict=True)
        return boolean(tag, glue(truths), glue(sures), doubts)
    expo = None
    if any(v.expo is not None for v in values):
        functions = Functions(tower, {})
        expo = levels([functions.expo(v) for v in values])
    zero = glue([zero_of(v) for v in values])
    sets = _joined_members(tower, values, glue)
    found = real(tag, zero, levels([v.levels for v in values]), doubts, expo, sets)
    if all(v.source is None for v in values):
        return found
    return replace(found, source=glue([_source(v) for v in values]))


def _source(a: FieldArray) -> U64:
    """What the elements of ``a`` are ranked by in lists: where they are of none, themselves."""
    if a.source is not None:
        return a.source
    first = a.levels[0]
    return np.zeros(a.tag.shape, np.uint64) if first is None else first.value


def _joined_members(
    tower: Tower,
    values: Sequence[FieldArray],
    glue: Callable[[Sequence[np.ndarray]], np.ndarray],
) -> Members | None:
    """The sets behind the elements, if all that have sets are extrema of one kind."""
    fns = {v.members.fn for v in values if v.members is not None}
    if len(fns) != 1:
        return None
    (fn,) = fns
    sets = padded([sets_of(v, fn) for v in values])
    there = glue([s.there for s in sets])
    levels: list[Residue | None] = []
    for parts in zip(*(s.levels for s in sets), strict=True):
        blanks = [np.zeros(s.there.shape, np.uint64) for s in sets]
        known = [np.zeros(s.there.shape, np.bool_) for s in sets]
        full = [
            Residue(b, k) if r is None else r for r, b, k in zip(parts, blanks, known, strict=True)
        ]
        empty = all(r is None for r in parts)
        joint = Residue(glue([r.value for r in full]), glue([r.known for r in full]))
        levels.append(None if empty else joint)
    return Members(fn, there, tuple(levels))


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
