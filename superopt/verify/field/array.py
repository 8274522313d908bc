"""What a value of the field reading consists of: states, exact integers, residues, companions."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.field.residues import U64
from superopt.verify.field.residues import Bools
from superopt.verify.field.residues import Residue
from superopt.verify.field.residues import Tower

# The state of an element. NEG and POS are the infinities.
FINITE, NEG, POS, UNDEFINED = 0, 1, 2, 3

Tags = npt.NDArray[np.int8]
Levels = tuple[Residue | None, ...]  # None: known nowhere
EMPTY = np.uint64(2**64 - 1)  # no member


@dataclass(frozen=True)
class Members:
    """The set of arguments that a maximum (or minimum) was taken over.

    Members lie along a last, additional dimension. ``there``: where there is one. ``levels``:
    their residues.
    """

    fn: Fn
    there: Bools
    levels: Levels

    def each(self, change: Callable[[Any, int], Any]) -> Members:
        """Every component changed alike; ``change`` gets it and 1, its extra dimension."""
        levels = tuple(
            None if r is None else Residue(change(r.value, 1), change(r.known, 1))
            for r in self.levels
        )
        return Members(self.fn, change(self.there, 1), levels)


@dataclass(frozen=True)
class FieldArray:
    """An array of the field domain.

    Every component has the array's shape behind a leading dimension of one element a round (or
    1: the same in all rounds).

    ``tag``: the state of every element. ``exact``: integers (kind INT). ``truth``: truth values
    (kind BOOL), and ``sure``, where they are known. For kind REAL: ``zero``, where a value is
    zero by construction and not by accident; ``levels``, its residues; ``expo``, the residues of
    its *exponential* if it contains a logarithm, whose own residues are then random functions of
    these; ``members``, the set behind a maximum. ``source``: of values in a list of the best, the
    residues of the candidates that they are. ``doubts``: what the value depends on that the
    field cannot know; a difference between values in doubt refutes nothing.
    """

    kind: Kind
    tag: Tags
    exact: npt.NDArray[np.int64] | None = None
    truth: Bools | None = None
    sure: Bools | None = None
    zero: Bools | None = None
    levels: Levels = ()
    expo: Levels | None = None
    members: Members | None = None
    source: U64 | None = None
    doubts: frozenset[str] = frozenset()

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions, rounds excluded."""
        return self.tag.shape[1:]

    @property
    def finite(self) -> Bools:
        """Where the value is a finite number."""
        result: Bools = self.tag == FINITE
        return result

    def each(self, change: Callable[[Any, int], Any]) -> FieldArray:
        """Every component changed alike; ``change`` gets it and its number of extra dimensions."""

        def residue(r: Residue | None) -> Residue | None:
            return None if r is None else Residue(change(r.value, 0), change(r.known, 0))

        members = None if self.members is None else self.members.each(change)
        return replace(
            self,
            tag=change(self.tag, 0),
            exact=None if self.exact is None else change(self.exact, 0),
            truth=None if self.truth is None else change(self.truth, 0),
            sure=None if self.sure is None else change(self.sure, 0),
            zero=None if self.zero is None else change(self.zero, 0),
            levels=tuple(map(residue, self.levels)),
            expo=None if self.expo is None else tuple(map(residue, self.expo)),
            members=members,
            source=None if self.source is None else change(self.source, 0),
        )


def integer(tag: Tags, exact: npt.NDArray[np.int64], doubts: frozenset[str]) -> FieldArray:
    """An array of exact integers and infinities."""
    tag, exact = np.broadcast_arrays(tag, exact)
    return FieldArray(Kind.INT, tag, exact=exact, doubts=doubts)


def boolean(tag: Tags, truth: Bools, sure: Bools, doubts: frozenset[str]) -> FieldArray:
    """An array of truth values."""
    tag, truth, sure = np.broadcast_arrays(tag, truth, sure | (tag != FINITE))
    return FieldArray(Kind.BOOL, tag, truth=truth, sure=sure, doubts=doubts)


def real(
    tag: Tags,
    zero: Bools,
    levels: Sequence[Residue | None],
    doubts: frozenset[str],
    expo: Sequence[Residue | None] | None = None,
    members: Members | None = None,
) -> FieldArray:
    """An array of reals; elements that are exactly zero or not finite get the residue 0."""
    shape = np.broadcast_shapes(tag.shape, zero.shape)
    for r in (*levels, *(expo or ())):
        if r is not None:
            shape = np.broadcast_shapes(shape, r.value.shape, r.known.shape)
    inner = shape[1:]

    def wide(a: Any, extra: int = 0) -> Any:
        return np.broadcast_to(a, (a.shape[0], *inner, *a.shape[a.ndim - extra :][:extra]))

    fixed = (tag != FINITE) | zero
    unit = tag != FINITE
    return FieldArray(
        Kind.REAL,
        wide(tag),
        zero=wide(zero & (tag == FINITE)),
        levels=tuple(_settled(r, fixed, wide, 0) for r in levels),
        expo=None if expo is None else tuple(_settled(r, unit, wide, 0) for r in expo),
        members=None if members is None else members.each(wide),
        doubts=doubts,
    )


def _settled(
    r: Residue | None, fixed: Bools, wide: Callable[[Any], Any], value: int
) -> Residue | None:
    """A residue whose ``fixed`` elements are known to be ``value``."""
    if r is None:
        if not fixed.any():
            return None
        r = Residue(np.zeros((1,) * fixed.ndim, np.uint64), np.zeros((1,) * fixed.ndim, np.bool_))
    if fixed.any():
        r = Residue(np.where(fixed, np.uint64(value), r.value), r.known | fixed)
    elif not r.known.any() and r.known.size:
        return None
    return Residue(wide(r.value), wide(r.known))


def promoted(tower: Tower, a: FieldArray) -> FieldArray:
    """An integer array as reals."""
    if a.kind is not Kind.INT:
        return a
    assert a.exact is not None
    known = np.ones((1,) * a.exact.ndim, np.bool_)
    levels = []
    for i in range(tower.levels):
        p = tower.p(i, a.exact.ndim).astype(np.int64)
        levels.append(Residue((a.exact % p).astype(np.uint64), known))
    return real(a.tag, a.exact == 0, levels, a.doubts)


def same_rank(arrays: Sequence[Any]) -> list[Any]:
    """Component arrays with equal leading dimensions, for concatenation."""
    lead = max(a.shape[0] for a in arrays)
    return [np.broadcast_to(a, (lead, *a.shape[1:])) for a in arrays]


def exact_of(a: FieldArray) -> npt.NDArray[np.int64]:
    """The integers of an integer array."""
    assert a.exact is not None
    return a.exact


def zero_of(a: FieldArray) -> Bools:
    """Where a real array is exactly zero."""
    assert a.zero is not None
    return a.zero


def truth_of(a: FieldArray) -> tuple[Bools, Bools]:
    """The truth values of a boolean array, and where they are known."""
    assert a.truth is not None
    assert a.sure is not None
    return a.truth, a.sure
