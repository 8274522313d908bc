"""Maxima and minima: values drawn for the set of what they are taken over.

A plain reading draws a value for the *set*. An equivariant one draws it for the *shape* of the
set, its place and size taken away: then ``max(c x + b) = c max(x) + b`` for every square ``c``,
``min(x) = -max(-x)`` and ``|x| = max(x, -x)``, whatever is drawn. True maxima obey these laws,
so what follows from them holds for true maxima; signs of maxima are then unknown. A reading may
draw maxima alone so, or minima alone: of these laws the first is left then, and an extremum of two
values is no absolute value but as random as any.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence

import numpy as np

from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.field.array import EMPTY
from superopt.verify.field.array import FINITE
from superopt.verify.field.array import NEG
from superopt.verify.field.array import POS
from superopt.verify.field.array import UNDEFINED
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import Levels
from superopt.verify.field.array import Members
from superopt.verify.field.array import real
from superopt.verify.field.residues import U64
from superopt.verify.field.residues import Bools
from superopt.verify.field.residues import Residue
from superopt.verify.field.residues import Tower

CHOICE = "the choice of a maximum"
OPPOSITE = {Fn.MAX: Fn.MIN, Fn.MIN: Fn.MAX}
EITHER = frozenset(OPPOSITE)

_BITS = 8  # two a level: known, and square


def sets_of(a: FieldArray, fn: Fn) -> Members:
    """The set behind every element: of one value, where it is no extremum of this kind."""
    if a.members is not None and a.members.fn is fn:
        return a.members
    return Members(fn, a.finite[..., None], lifted(a.levels))


def lifted(levels: Levels) -> Levels:
    """Residues with an additional last dimension of 1."""
    return tuple(
        None if r is None else Residue(r.value[..., None], r.known[..., None]) for r in levels
    )


def extremum(tower: Tower, fn: Fn, a: FieldArray, dim: int) -> FieldArray:
    """A real array folded by MAX or MIN: a value drawn for the set of its finite elements.

    The extremum of one value is that value. In a plain reading it is positive (a square) if it
    must be: a maximum, if any member is; a minimum, if all are. Likewise for negative.
    """
    lost, wins = (NEG, POS) if fn is Fn.MAX else (POS, NEG)
    at = dim + 1
    tag = np.full(a.tag.max(at, initial=0).shape, lost, np.int8)
    tag = np.where(a.finite.any(at), np.int8(FINITE), tag)
    tag = np.where((a.tag == wins).any(at), np.int8(wins), tag)
    tag = np.where((a.tag == UNDEFINED).any(at), np.int8(UNDEFINED), tag)
    first = a.levels[0]
    if a.tag.shape[at] == 0 or first is None:
        blank: list[Residue | None] = [None] * tower.levels
        doubts = a.doubts if first is not None else a.doubts | {CHOICE}
        return real(tag, np.zeros(tag.shape, np.bool_), blank, doubts)
    known = np.asarray((first.known | ~a.finite).all(at))
    sets = _distinct(_merged(sets_of(a, fn), at))
    one = sets.there.sum(-1) == 1
    drawn = _equivariant(tower, sets) if fn in tower.equivariant else _signed(tower, sets)
    levels: list[Residue | None] = []
    for several, residue in zip(drawn, sets.levels, strict=True):
        if residue is None:
            levels.append(Residue(several.value, known & ~one & several.known))
            continue
        value = np.where(one, residue.value[..., 0], several.value)
        at_all = np.where(one, residue.known[..., 0], several.known)
        levels.append(Residue(value, known & at_all))
    assert a.zero is not None
    only = np.expand_dims(a.finite.argmax(at), at)
    zero = _taken(a.zero, only, at) & one
    doubts = a.doubts if one.all() else a.doubts | {CHOICE}
    return real(tag, zero, levels, doubts, members=sets)


def _taken(x: np.ndarray, index: np.ndarray, axis: int) -> np.ndarray:
    """The elements that ``index`` picks along an axis (leading dimensions broadcast)."""
    return _along(x, index, axis).squeeze(axis)


def _along(x: np.ndarray, index: np.ndarray, axis: int) -> np.ndarray:
    lead = max(x.shape[0], index.shape[0])
    x = np.broadcast_to(x, (lead, *x.shape[1:]))
    index = np.broadcast_to(index, (lead, *index.shape[1:]))
    found: np.ndarray = np.take_along_axis(x, index, axis)
    return found


def _merged(sets: Members, at: int) -> Members:
    """The union of the sets along a dimension."""

    def union(x: np.ndarray, extra: int) -> np.ndarray:
        x = np.moveaxis(x, at, -2)
        *lead, rows, each = x.shape  # spelled out, for another dimension may be empty
        return x.reshape(*lead, rows * each)

    return sets.each(union)


def _distinct(sets: Members) -> Members:
    """Every member once, in the order of residues, at the front of the last dimension."""
    first = sets.levels[0]
    assert first is not None
    word = np.where(sets.there, first.value, EMPTY)
    order = np.argsort(word, axis=-1, kind="stable")
    ordered = np.take_along_axis(word, order, -1)
    again = np.zeros(ordered.shape, np.bool_)
    again[..., 1:] = ordered[..., 1:] == ordered[..., :-1]
    ordered = np.where(again, EMPTY, ordered)
    front = np.argsort(ordered, axis=-1, kind="stable")
    there = np.take_along_axis(ordered, front, -1) != EMPTY
    most = max(1, int(there.sum(-1).max(initial=0)))
    order = np.take_along_axis(order, front, -1)[..., :most]
    placed = sets.each(lambda x, extra: _along(x, order, x.ndim - 1))
    return Members(sets.fn, there[..., :most], placed.levels)


def fingerprints(tower: Tower, levels: Levels) -> U64:
    """A word a value: its residue at level 0, and at every level whether it is a square."""
    first = levels[0]
    assert first is not None
    word = first.value << np.uint64(_BITS)
    for level, residue in enumerate(levels):
        if residue is None:
            continue
        square = tower.is_square(level, residue.value) & residue.known
        word = word | (residue.known.astype(np.uint64) << np.uint64(2 * level))
        word = word | (square.astype(np.uint64) << np.uint64(2 * level + 1))
    return word


def _signed(tower: Tower, sets: Members) -> list[Residue]:
    """Residues drawn for every set, with the sign that the extremum must have."""
    fn, there = sets.fn, sets.there
    prints = np.where(there, fingerprints(tower, sets.levels), EMPTY)
    mixed = np.where(there, tower.mixed(f"{fn.symbol} member", prints), np.uint64(0))
    word = mixed.sum(-1, dtype=np.uint64)
    known = np.ones(word.shape, np.bool_)
    found: list[Residue] = []
    for level in range(tower.levels):
        drawn = tower.random(f"{fn.symbol} of a set", level, word)
        square = there & (prints >> np.uint64(2 * level + 1) & np.uint64(1) != 0)
        is_zero = there & (prints >> np.uint64(_BITS) == 0)
        negative = there & ~square & ~is_zero
        if fn is Fn.MAX:
            up, down = square.any(-1), (negative | ~there).all(-1)
        else:
            up, down = (square | ~there).all(-1), negative.any(-1)
        flip = np.where(tower.is_square(level, drawn), down & ~up, up)
        found.append(Residue(np.where(flip, tower.negate(level, drawn), drawn), known))
    return found


def _equivariant(tower: Tower, sets: Members) -> list[Residue]:
    """``mean + size * phi(shape)`` for every set of several members.

    ``size`` is the absolute deviation of one member, which is picked by what neither place nor
    size changes; ``shape`` are the deviations over it. ``phi`` is a square, for a maximum is no
    less than the mean, and 1 for two members (``|x| = max(x, -x)``). A level knows the value if
    it knows all members.
    """
    if sets.fn is Fn.MIN:
        upside = _equivariant(tower, opposite(tower, sets))
        return [Residue(tower.negate(i, r.value), r.known) for i, r in enumerate(upside)]
    there, zero = sets.there, np.uint64(0)
    count = there.sum(-1).astype(np.uint64)[..., None]
    means, offs = [], []
    for level, r in enumerate(sets.levels):
        value = np.where(there, zero if r is None else r.value, zero)
        total = value.sum(-1, keepdims=True, dtype=np.uint64) % tower.p(level, value.ndim)
        mean = tower.mul(level, total, tower.fixed_power(level, count, "inverse"))
        means.append(mean[..., 0])
        offs.append(np.where(there, tower.add(level, value, tower.negate(level, mean)), zero))
    square = tower.mul(0, offs[0], offs[0])
    scale = square.sum(-1, keepdims=True, dtype=np.uint64) % tower.p(0, square.ndim)
    relative = tower.mul(0, square, tower.fixed_power(0, scale, "inverse"))
    pick = np.where(offs[0] != 0, tower.mixed("pick", relative), EMPTY).argmin(-1)[..., None]
    sizes = [_absolute(tower, level, _along(x, pick, x.ndim - 1)) for level, x in enumerate(offs)]
    shape = tower.mul(0, offs[0], tower.fixed_power(0, sizes[0], "inverse"))
    if tower.equivariant != EITHER:  # all pairs have one shape: they are told apart by their size
        shape = np.where(count == 2, offs[0], shape)
    letter = np.where(there, tower.mixed("member of a shape", shape), zero).sum(-1, dtype=np.uint64)
    found: list[Residue] = []
    for level, r in enumerate(sets.levels):
        root = tower.random("max of a shape", level, letter)
        phi = tower.mul(level, root, root)
        if tower.equivariant == EITHER:
            phi = np.where(count[..., 0] == 2, np.uint64(1), phi)
        value = tower.add(level, means[level], tower.mul(level, sizes[level][..., 0], phi))
        complete = np.zeros(value.shape, np.bool_)
        if r is not None:
            complete = np.asarray((r.known | ~there).all(-1))
        found.append(Residue(value, complete))
    return found


def _absolute(tower: Tower, level: int, x: U64) -> U64:
    return np.where(tower.is_square(level, x), x, tower.negate(level, x))


def opposite(tower: Tower, sets: Members) -> Members:
    """The negated members: their maximum is that of the others' minimum, negated."""
    levels = [
        None if r is None else Residue(tower.negate(level, r.value), r.known)
        for level, r in enumerate(sets.levels)
    ]
    return Members(OPPOSITE[sets.fn], sets.there, tuple(levels))


Op = Callable[[int, U64, U64], U64]


def moved(
    a: FieldArray, b: FieldArray, op: Op, fair: Bools, levels: Sequence[Residue | None]
) -> Members | None:
    """The sets of ``op(a, b)``: those of ``a`` with ``op`` on every member, where that is
    ``fair``; elsewhere the value alone, which has the residues ``levels``."""
    if a.members is None:
        return None
    there = a.members.there & (a.finite & b.finite)[..., None]
    found: list[Residue | None] = []
    for level, (x, y, z) in enumerate(
        zip(a.members.levels, lifted(b.levels), lifted(tuple(levels)), strict=True)
    ):
        if x is None or y is None or z is None:
            found.append(None)
            continue
        each = Residue(op(level, x.value, y.value), x.known & y.known)
        ok = fair[..., None]
        found.append(Residue(np.where(ok, each.value, z.value), np.where(ok, each.known, z.known)))
    alone = np.arange(there.shape[-1]) == 0
    finite = (a.finite & b.finite)[..., None]
    there = np.where(fair[..., None], there, finite & alone)
    return Members(a.members.fn, there, tuple(found))


def positive(tower: Tower, a: FieldArray) -> Bools:
    """Where a value is a square at every level at which it is known."""
    found: Bools = np.ones(a.tag.shape, np.bool_)
    for level, r in enumerate(a.levels):
        if r is not None:
            found = found & (tower.is_square(level, r.value) | ~r.known)
    return found


def both_signs(tower: Tower, a: FieldArray) -> Members | None:
    """``|a|`` as the maximum of ``a`` and ``-a``."""
    if a.kind is Kind.INT:
        return None
    levels: list[Residue | None] = []
    for level, r in enumerate(lifted(a.levels)):
        if r is not None:
            value = np.concatenate([r.value, tower.negate(level, r.value)], -1)
            r = Residue(value, np.concatenate([r.known, r.known], -1))
        levels.append(r)
    there = np.repeat(a.finite[..., None], 2, -1)
    return Members(Fn.MAX, there, tuple(levels))


def padded(sets: Sequence[Members]) -> list[Members]:
    """Sets with room for equally many members."""
    most = max(s.there.shape[-1] for s in sets)

    def wide(x: np.ndarray, extra: int) -> np.ndarray:
        return np.pad(x, [(0, 0)] * (x.ndim - extra) + [(0, most - x.shape[-1])])

    return [s.each(wide) for s in sets]
