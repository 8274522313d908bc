"""Values that a field cannot compute and that are therefore drawn: maxima and opaque functions.

A drawn value is a random function of what it depends on, so it is the same in the spec and in
the kernel exactly if they apply the same function to the same arguments. What holds for random
values holds for the true ones; a difference between them shows nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from superopt.ugraph.scalar import Fn
from superopt.verify.field.array import EMPTY
from superopt.verify.field.array import FINITE
from superopt.verify.field.array import NEG
from superopt.verify.field.array import POS
from superopt.verify.field.array import UNDEFINED
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import Members
from superopt.verify.field.array import real
from superopt.verify.field.array import zero_of
from superopt.verify.field.residues import U64
from superopt.verify.field.residues import Bools
from superopt.verify.field.residues import Residue
from superopt.verify.field.residues import Tower

_BITS = 8  # two a level: known, and square


def fingerprints(tower: Tower, a: FieldArray) -> tuple[U64, Bools]:
    """A word that identifies every finite element of a real array, and where it is known.

    It holds the residue at level 0 and the signs (is it a square?) at every level.
    """
    first = a.levels[0]
    if first is None:
        return np.zeros(a.tag.shape, np.uint64), np.zeros(a.tag.shape, np.bool_)
    word = first.value << np.uint64(_BITS)
    for level, residue in enumerate(a.levels):
        if residue is None:
            continue
        square = tower.is_square(level, residue.value) & residue.known
        word = word | (residue.known.astype(np.uint64) << np.uint64(2 * level))
        word = word | (square.astype(np.uint64) << np.uint64(2 * level + 1))
    word, known = np.broadcast_arrays(word, first.known)
    return word, known


def members(tower: Tower, a: FieldArray, fn: Fn) -> tuple[U64, Bools]:
    """The set behind every element, as sorted fingerprints, and where all of it is known."""
    first = a.levels[0]
    finite = a.finite
    if a.members is not None and a.members.fn is fn:
        known = np.zeros(a.tag.shape, np.bool_) if first is None else first.known
        return a.members.prints, known | ~finite
    word, known = fingerprints(tower, a)
    return np.where(finite, word, EMPTY)[..., None], known | ~finite


def extremum(tower: Tower, fn: Fn, a: FieldArray, dim: int) -> FieldArray:
    """A real array folded by MAX or MIN: a value drawn for the *set* of its finite elements.

    The extremum of one value is that value. It is positive (a square) if it must be: a
    maximum, if any member is; a minimum, if all are. Likewise for negative.
    """
    lost, wins = (NEG, POS) if fn is Fn.MAX else (POS, NEG)
    at = dim + 1
    tag = np.full(_without(a.tag, at).shape, lost, np.int8)
    tag = np.where(a.finite.any(at), np.int8(FINITE), tag)
    tag = np.where((a.tag == wins).any(at), np.int8(wins), tag)
    tag = np.where((a.tag == UNDEFINED).any(at), np.int8(UNDEFINED), tag)
    if a.tag.shape[at] == 0:
        return _drawn_nothing(tower, tag, a)
    prints, known = members(tower, a, fn)
    prints = np.moveaxis(prints, at, -2)
    *lead, rows, each = prints.shape  # spelled out, for another dimension may be empty
    prints = _distinct(prints.reshape(*lead, rows * each))
    known = np.asarray(known.all(at))
    one = (prints != EMPTY).sum(-1) == 1
    only = np.expand_dims(a.finite.argmax(at), at)
    levels: list[Residue | None] = []
    for level, residue in enumerate(a.levels):
        if not known.any():
            levels.append(None)
            continue
        drawn = _signed(tower, fn, level, prints)
        if residue is None:
            levels.append(Residue(drawn, known & ~one))
            continue
        single = Residue(*(_taken(x, only, at) for x in residue))
        levels.append(
            Residue(np.where(one, single.value, drawn), known & np.where(one, single.known, True))
        )
    assert a.zero is not None
    zero = _taken(a.zero, only, at) & one
    doubts = a.doubts if one.all() else a.doubts | {"the choice of a maximum"}
    return real(tag, zero, levels, doubts, members=Members(fn, prints))


def _drawn_nothing(tower: Tower, tag: np.ndarray, a: FieldArray) -> FieldArray:
    return real(tag, np.zeros(tag.shape, np.bool_), [None] * tower.levels, a.doubts)


def _without(x: np.ndarray, axis: int) -> np.ndarray:
    found: np.ndarray = x.max(axis, initial=0)
    return found


def _taken(x: np.ndarray, index: np.ndarray, axis: int) -> np.ndarray:
    """The elements that ``index`` picks along an axis (leading dimensions broadcast)."""
    lead = max(x.shape[0], index.shape[0])
    x = np.broadcast_to(x, (lead, *x.shape[1:]))
    index = np.broadcast_to(index, (lead, *index.shape[1:]))
    found: np.ndarray = np.take_along_axis(x, index, axis).squeeze(axis)
    return found


def _distinct(prints: U64) -> U64:
    """Sorted along the last dimension, every member once, at the front."""
    ordered = np.sort(prints, axis=-1)
    again = np.zeros(ordered.shape, np.bool_)
    again[..., 1:] = ordered[..., 1:] == ordered[..., :-1]
    ordered = np.sort(np.where(again, EMPTY, ordered), axis=-1)
    used = (ordered != EMPTY).any(tuple(range(ordered.ndim - 1)))
    return ordered[..., : max(1, int(used.sum()))]


def _signed(tower: Tower, fn: Fn, level: int, prints: U64) -> U64:
    """A residue drawn for every set, with the sign that the extremum must have."""
    there = prints != EMPTY
    mixed = np.where(there, tower.mixed(f"{fn.symbol} member", prints), np.uint64(0))
    drawn = tower.random(f"{fn.symbol} of a set", level, mixed.sum(-1, dtype=np.uint64))
    square = there & (prints >> np.uint64(2 * level + 1) & np.uint64(1) != 0)
    is_zero = there & (prints >> np.uint64(_BITS) == 0)
    negative = there & ~square & ~is_zero
    if fn is Fn.MAX:
        up, down = square.any(-1), (negative | ~there).all(-1)
    else:
        up, down = (square | ~there).all(-1), negative.any(-1)
    flip = np.where(tower.is_square(level, drawn), down & ~up, up)
    return np.where(flip, tower.negate(level, drawn), drawn)


def opaque(tower: Tower, label: str, a: FieldArray, limit: int) -> FieldArray:
    """An odd function that no field knows (``limit``: its value at +inf, minus that at -inf)."""
    first = a.levels[0]
    assert a.zero is not None
    levels: list[Residue | None] = [None] * tower.levels
    if first is not None:
        p = tower.p(0, first.value.ndim)
        flipped = first.value > p - first.value
        size = np.where(flipped, p - first.value, first.value)
        for i in range(tower.levels):
            drawn = tower.random(label, i, size)
            levels[i] = Residue(np.where(flipped, tower.negate(i, drawn), drawn), first.known)
    tag = np.where(a.tag == UNDEFINED, a.tag, np.int8(FINITE))
    found = real(tag, a.zero, levels, a.doubts | {label})
    for state, value in ((NEG, -limit), (POS, limit)):
        at = a.tag == state
        if at.any():
            settled = []
            for i, r in enumerate(found.levels):
                assert r is not None  # it is known at infinity
                p = tower.p(i, at.ndim)
                end = np.uint64(value) + p if value > 0 else p - np.uint64(-value)
                end = end % p
                settled.append(Residue(np.where(at, end, r.value), r.known | at))
            found = replace(found, levels=tuple(settled))
    return found


def rounding(tower: Tower, fn: Fn, a: FieldArray) -> FieldArray:
    """A rounding: drawn for its argument, but for infinities and an exact zero, which stay.

    It is monotone, so that of an extremum is the extremum of those of the members of its set.
    """
    first = a.levels[0]
    levels: list[Residue | None] = [None] * tower.levels
    if first is not None:
        for i in range(tower.levels):
            drawn = tower.random(fn.symbol, i, first.value)
            levels[i] = Residue(np.where(zero_of(a), np.uint64(0), drawn), first.known)
    found = real(a.tag, zero_of(a), levels, a.doubts | {fn.symbol})
    if a.members is None or first is None:
        return found
    sets = _each_rounded(tower, fn, a.members)
    kept = [None if r is None else Residue(r.value, r.known & first.known) for r in sets.levels]
    return replace(found, levels=tuple(kept), zero=zero_of(a), members=sets.members)


def _each_rounded(tower: Tower, fn: Fn, sets: Members) -> FieldArray:
    """The extremum of the roundings of the members of every set."""
    prints = sets.prints
    lost = NEG if sets.fn is Fn.MAX else POS
    tag = np.where(prints != EMPTY, np.int8(FINITE), np.int8(lost))
    value = np.where(prints != EMPTY, prints >> np.uint64(_BITS), np.uint64(0))
    always = np.ones((1,) * tag.ndim, np.bool_)
    levels: list[Residue | None] = [Residue(value, always), *[None] * (tower.levels - 1)]
    each = rounding(tower, fn, real(tag, value == 0, levels, frozenset()))
    return extremum(tower, sets.fn, each, tag.ndim - 2)
