"""Functions that a field cannot compute and that are therefore drawn: opaque ones, roundings.

A drawn value is a random function of what it depends on, so it is the same in the spec and in
the kernel exactly if they apply the same function to the same arguments. What holds for random
values holds for the true ones; a difference between them shows nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from superopt.ugraph.scalar import Fn
from superopt.verify.field.array import FINITE
from superopt.verify.field.array import NEG
from superopt.verify.field.array import POS
from superopt.verify.field.array import UNDEFINED
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import Members
from superopt.verify.field.array import real
from superopt.verify.field.array import zero_of
from superopt.verify.field.extrema import extremum
from superopt.verify.field.residues import Residue
from superopt.verify.field.residues import Tower


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
    first = sets.levels[0]
    assert first is not None
    lost = NEG if sets.fn is Fn.MAX else POS
    tag = np.where(sets.there, np.int8(FINITE), np.int8(lost))
    value = np.where(sets.there, first.value, np.uint64(0))
    always = np.ones((1,) * tag.ndim, np.bool_)
    levels: list[Residue | None] = [Residue(value, always), *[None] * (tower.levels - 1)]
    each = rounding(tower, fn, real(tag, value == 0, levels, frozenset()))
    return extremum(tower, sets.fn, each, tag.ndim - 2)
