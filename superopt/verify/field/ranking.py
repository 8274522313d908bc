"""Lists of the best in a field, where numbers have no order: a random one is drawn for them.

Every number gets a random place in one order, the same wherever it occurs; infinities and equal
numbers are ranked as they are. What stands in a list is a random function of the candidate that
it is, so that it is independent of all else (of several candidates; one alone is known). A graph
that agrees with the spec under every order agrees under the true one. Which order of the
candidates is drawn is a choice with as many outcomes as they have orders, and is counted as such
(``choices``): a fault that shows under one of them only is seen in one of so many rounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from fractions import Fraction
from math import lgamma
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Kind
from superopt.verify.field.array import FINITE
from superopt.verify.field.array import NEG
from superopt.verify.field.array import UNDEFINED
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import Tags
from superopt.verify.field.array import exact_of
from superopt.verify.field.array import integer
from superopt.verify.field.array import promoted
from superopt.verify.field.array import real
from superopt.verify.field.array import zero_of
from superopt.verify.field.choice import joined
from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.residues import U64
from superopt.verify.field.residues import Bools
from superopt.verify.field.residues import Residue
from superopt.verify.field.residues import Tower
from superopt.verify.field.terms import Term
from superopt.verify.field.terms import Terms
from superopt.verify.field.toohard import TooHardError

ORDER = "the order of candidates"
TAKEN = "taken"  # what goes with a candidate
_CLASS = np.array([1, 2, 0, 3], np.int8)  # by state: +inf before finite before -inf


def best(
    tower: Tower,
    values: FieldArray,
    places: FieldArray,
    count: int,
    end: int,
    at: bool,
    goes: FieldArray | None = None,
) -> FieldArray:
    """``Domain.best`` on residues; ``goes``: what goes with the candidates, if that is asked for.

    What goes with one of several is a random function of itself, as a value is.
    """
    values = promoted(tower, values)
    missing = (1, *values.shape[:-1], max(0, count - values.shape[-1]))
    rank = len(values.shape) - 1
    nothing = integer(np.full(missing, NEG, np.int8), np.zeros(missing, np.int64), frozenset())
    nowhere = integer(np.zeros(missing, np.int8), np.full(missing, end), frozenset())
    values = joined(tower, [values, promoted(tower, nothing)], rank)
    places = joined(tower, [places, nowhere], rank)
    finite = values.finite
    known, source = _sources(values)
    mixed = np.where(finite, tower.mixed("rank", source), np.uint64(0))
    where = exact_of(places)
    keys = np.broadcast_arrays(where, mixed, _CLASS[values.tag])
    row = _Row(
        tower,
        np.lexsort(keys, axis=-1)[..., :count],
        sure=np.asarray((known | ~finite).all(-1, keepdims=True)),
        lost=(values.tag == UNDEFINED).any(-1, keepdims=True),
    )
    chosen = finite.sum(-1).max(initial=0) > 1
    doubts = values.doubts | places.doubts | ({ORDER} if chosen else set())
    one = (finite.sum(-1, keepdims=True) == 1) & ~row.lost
    if goes is not None:
        missing = (1, *goes.shape[:-1], missing[-1])
        blank = integer(np.zeros(missing, np.int8), np.zeros(missing, np.int64), frozenset())
        goes = joined(tower, [goes, blank], rank)
        # What is not finite stands where no draw decides.
        return row.payloads(goes, one | (row.taken(values.tag) != FINITE), doubts | goes.doubts)
    if at:
        return row.whole(np.where(row.lost, end, row.taken(where)), doubts)
    tag = np.where(row.lost, np.int8(UNDEFINED), row.taken(values.tag))
    return row.read(values, one, tag, row.taken(zero_of(values)) & one, doubts)


@dataclass(frozen=True)
class _Row:
    """Which candidates stand in lists: ``order`` by rank. ``sure``: where that is known. ``lost``:
    where a candidate is undefined."""

    tower: Tower
    order: npt.NDArray[np.intp]
    sure: Bools
    lost: Bools

    def taken(self, a: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A component of the candidates, of those that stand there."""
        rest = np.broadcast_shapes(a.shape[:-1], self.order.shape[:-1])
        wide = np.broadcast_to(a, (*rest, a.shape[-1]))
        return np.take_along_axis(
            wide, np.broadcast_to(self.order, (*rest, self.order.shape[-1])), -1
        )

    def whole(self, found: npt.NDArray[np.int64], doubts: frozenset[str]) -> FieldArray:
        """Whole numbers that the order tells."""
        tag = np.where(self.sure, np.int8(FINITE), np.int8(UNDEFINED))
        return integer(np.broadcast_to(tag, found.shape), found, doubts)

    def payloads(self, of: FieldArray, alone: Bools, doubts: frozenset[str]) -> FieldArray:
        """What goes with those that stand there, 0 where all is lost. ``alone``: see ``read``."""
        if of.kind is Kind.INT:
            return self.whole(np.where(self.lost, 0, self.taken(exact_of(of))), doubts)
        tag = np.where(self.lost, np.int8(FINITE), self.taken(of.tag))
        same = self.sure | (of.tag == FINITE).all(-1, keepdims=True)
        zero: Bools = self.lost | (self.taken(zero_of(of)) & alone)
        return self.read(of, alone, np.where(same, tag, np.int8(UNDEFINED)), zero, doubts)

    def read(
        self, of: FieldArray, alone: Bools, tag: Tags, zero: Bools, doubts: frozenset[str]
    ) -> FieldArray:
        """Those of ``of`` that stand there: a random function of each, or, where it is ``alone``,
        itself."""
        known, source = map(self.taken, _sources(of))
        levels: list[Residue | None] = []
        for level, residue in enumerate(of.levels):
            drawn = self.tower.random("candidate", level, source)
            if residue is None:
                levels.append(Residue(drawn, self.sure & ~alone & known))
                continue
            value, there = self.taken(residue.value), self.taken(residue.known)
            there = self.sure & np.where(alone, there, known)
            levels.append(Residue(np.where(alone, value, drawn), there))
        return replace(real(tag, zero, levels, doubts), source=source)


def _sources(of: FieldArray) -> tuple[Bools, U64]:
    """Where it is known which candidates these are, and by what."""
    first = of.levels[0]
    if first is None:
        return np.zeros(of.tag.shape, np.bool_), np.zeros(of.tag.shape, np.uint64)
    return first.known, first.value if of.source is None else of.source


def best_terms(
    terms: Terms,
    values: Sequence[int],
    places: Sequence[int],
    count: int,
    end: int,
    at: bool,
    goes: Sequence[int] | None = None,
    whole: bool = False,
) -> list[int]:
    """``Domain.best`` of one row of terms. ``whole``: what goes with them are whole numbers.

    What is finite stands there as one of all finite candidates; which one is up to the order.
    """
    side = goes if goes is not None else places if at else values
    nothing = Fraction(0) if goes is not None else Fraction(end) if at else -INF
    for term in values:
        if terms.all[term].op == "undecided":
            return [term] * count
    if terms.undefined in values:
        return [terms.undefined if side is values else terms.num(nothing)] * count
    found: list[int] = []
    rows = list(zip(values, places, side, strict=True))
    for infinity in (INF, 0.0, -INF):
        here = [row for row in rows if terms.infinite(row[0]) == infinity]
        if infinity:
            here.sort(key=lambda row: terms.number(row[1]) or 0)
            found += [s for _, _, s in here]
        elif len(here) == 1:
            found.append(here[0][2])
        else:
            ranked, which, seen = zip(*here, strict=True) if here else ((), (), ())
            odd = [s for s in seen if side is goes and not terms.finite(s)]
            if odd:
                found += [terms.undecided("the order of candidates decides what is infinite")]
                found *= len(here)
                continue
            what = "place" if at or whole else "value" if side is values else TAKEN
            args = (*ranked, *(which if side is values else seen))
            found += [terms.term(Term("best", args, f"{what} {r}")) for r in range(len(here))]
    found += [terms.num(nothing)] * count
    return found[:count]


def candidates(terms: Terms, cone: Iterable[int]) -> list[set[int]]:
    """The numbers that are ranked against each other in ``cone`` (ascending), by list; with those
    of the lists that these depend on."""
    below: dict[int, set[int]] = {}
    lists: list[set[int]] = []
    for x in cone:
        t = terms.all[x]
        found = set[int]().union(*(below[a] for a in t.args if a in below))
        if t.op == "best":
            found |= {a for a in t.args[: len(t.args) // 2] if terms.all[a].op != "best"}
            lists.append(found)
        if found:
            below[x] = found
    return lists


def choices(polys: Polynomials, lists: Iterable[set[int]]) -> float:
    """Binary logarithm of the number of orders of the candidates of ``lists``, as far as they
    matter.

    Numbers that are equal as polynomials have one place. Those that no list brings together are
    in independent orders.
    """
    apart: list[set[object]] = []
    for found in lists:
        mine = {_number(polys, x) for x in found}
        met = [other for other in apart if not mine.isdisjoint(other)]
        apart = [other for other in apart if other not in met] + [mine.union(*met)]
    return sum(lgamma(len(one) + 1) for one in apart) / log(2)


def _number(polys: Polynomials, x: int) -> object:
    """What is the same for terms that are equal as polynomials."""
    try:
        return tuple(sorted(polys.of(x).items()))
    except (TooHardError, KeyError):  # it stands in an exponent only
        return x
