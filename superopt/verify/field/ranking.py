"""Lists of the best in a field, where numbers have no order: a random one is drawn for them.

Every number gets a random place in one order, the same wherever it occurs; infinities and equal
numbers are ranked as they are. What stands in a list is a random function of the candidate that
it is, so that it is independent of all else (of several candidates; one alone is known). A graph
that agrees with the spec under every order agrees under the true one. Which order of the
candidates is drawn is a choice with as many outcomes as they have orders, and is counted as such
(``orders``): a fault that shows under one of them only is seen in one of so many rounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import lgamma
from math import log

import numpy as np

from superopt.ugraph.scalar import INF
from superopt.verify.field.array import FINITE
from superopt.verify.field.array import NEG
from superopt.verify.field.array import UNDEFINED
from superopt.verify.field.array import FieldArray
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
_CLASS = np.array([1, 2, 0, 3], np.int8)  # by state: +inf before finite before -inf


def best(
    tower: Tower, values: FieldArray, places: FieldArray, count: int, end: int, at: bool
) -> FieldArray:
    """``Domain.best`` on residues."""
    values = promoted(tower, values)
    missing = (1, *values.shape[:-1], max(0, count - values.shape[-1]))
    rank = len(values.shape) - 1
    nothing = integer(np.full(missing, NEG, np.int8), np.zeros(missing, np.int64), frozenset())
    nowhere = integer(np.zeros(missing, np.int8), np.full(missing, end), frozenset())
    values = joined(tower, [values, promoted(tower, nothing)], rank)
    places = joined(tower, [places, nowhere], rank)
    first = values.levels[0]
    finite = values.finite
    known: Bools = np.zeros(values.tag.shape, np.bool_)
    source: U64 = np.zeros(values.tag.shape, np.uint64)
    if first is not None:
        known, source = first.known, first.value if values.source is None else values.source
    mixed = np.where(finite, tower.mixed("rank", source), np.uint64(0))
    where = exact_of(places)
    keys = np.broadcast_arrays(where, mixed, _CLASS[values.tag])
    order = np.lexsort(keys, axis=-1)[..., :count]
    sure = (known | ~finite).all(-1, keepdims=True)
    lost = (values.tag == UNDEFINED).any(-1, keepdims=True)
    chosen = finite.sum(-1).max(initial=0) > 1
    doubts = values.doubts | places.doubts | ({ORDER} if chosen else set())

    def taken(a: np.ndarray, extra: int) -> np.ndarray:
        assert not extra
        lead = max(a.shape[0], order.shape[0])
        wide = np.broadcast_to(a, (lead, *a.shape[1:]))
        return np.take_along_axis(wide, np.broadcast_to(order, (lead, *order.shape[1:])), -1)

    if at:
        found = np.where(lost, end, taken(where, 0))
        tag = np.where(sure, np.int8(FINITE), np.int8(UNDEFINED))
        return integer(np.broadcast_to(tag, found.shape), found, doubts)
    tag = np.where(lost, np.int8(UNDEFINED), taken(values.tag, 0))
    source, one = taken(source, 0), (finite.sum(-1, keepdims=True) == 1) & ~lost
    levels: list[Residue | None] = []
    for level, residue in enumerate(values.levels):
        drawn = tower.random("candidate", level, source)
        if residue is None:
            levels.append(Residue(drawn, sure & ~one))
            continue
        value, there = taken(residue.value, 0), taken(residue.known, 0)
        levels.append(Residue(np.where(one, value, drawn), sure & np.where(one, there, True)))
    zero = taken(zero_of(values), 0) & one
    return replace(real(tag, zero, levels, doubts), source=source)


def best_terms(
    terms: Terms, values: Sequence[int], places: Sequence[int], count: int, end: int, at: bool
) -> list[int]:
    """``Domain.best`` of one row of terms.

    What is finite stands there as one of all finite candidates; which one is up to the order.
    """
    for term in values:
        if terms.all[term].op == "undecided":
            return [term] * count
    if terms.undefined in values:
        return [terms.num(Fraction(end)) if at else terms.undefined] * count
    found: list[int] = []
    pairs = list(zip(values, places, strict=True))
    for infinity in (INF, 0.0, -INF):
        here = [(v, p) for v, p in pairs if terms.infinite(v) == infinity]
        if infinity:
            here.sort(key=lambda pair: terms.number(pair[1]) or 0)
            found += [p if at else v for v, p in here]
        elif len(here) == 1:
            found.append(here[0][at])
        else:
            args = tuple(t for half in zip(*here, strict=True) for t in half)
            what = "place" if at else "value"
            found += [terms.term(Term("best", args, f"{what} {r}")) for r in range(len(here))]
    found += [terms.num(Fraction(end) if at else -INF)] * count
    return found[:count]


def candidates(terms: Terms, cone: Iterable[int]) -> set[int]:
    """The numbers that are ranked against each other somewhere in ``cone``."""
    found: set[int] = set()
    for x in cone:
        t = terms.all[x]
        if t.op == "best":
            found |= {a for a in t.args[: len(t.args) // 2] if terms.all[a].op != "best"}
    return found


def different(polys: Polynomials, found: Iterable[int]) -> int:
    """How many of the candidates are different as polynomials, and so have places of their own."""
    seen: set[object] = set()
    for x in sorted(found):
        try:
            seen.add(tuple(sorted(polys.of(x).items())))
        except (TooHardError, KeyError):  # it stands in an exponent only
            seen.add(x)
    return len(seen)


def orders(ranked: int) -> float:
    """Binary logarithm of the number of orders of so many candidates."""
    return lgamma(ranked + 1) / log(2)
