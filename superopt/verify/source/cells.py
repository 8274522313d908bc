"""The values of elements, behind one interface: residues, terms that are written out, float64.

A reading executes a text once for each kind of cells; the text cannot tell them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from superopt.ugraph.domain import Domain
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import boolean
from superopt.verify.field.array import exact_of
from superopt.verify.field.array import integer
from superopt.verify.field.array import truth_of
from superopt.verify.field.array import zero_of
from superopt.verify.field.domain import FieldDomain
from superopt.verify.field.termdomain import TermArray
from superopt.verify.field.termdomain import TermDomain

A = TypeVar("A")
Plain = npt.NDArray[Any]  # integers and truth values that do not depend on data
ULPS = 8  # of a sum, that another order of it may differ by


def lifted(domain: Domain[Any], plain: Plain) -> Any:
    """Integers or truth values as values of a domain."""
    match domain:
        case FieldDomain():
            wide = np.asarray(plain)[None]
            tag = np.zeros(wide.shape, np.int8)
            if wide.dtype == np.bool_:
                return boolean(tag, wide, np.ones(wide.shape, np.bool_), frozenset())
            return integer(tag, wide.astype(np.int64), frozenset())
        case TermDomain():
            return domain.known(np.asarray(plain))
        case FloatDomain():
            return domain.array(plain)
    raise TypeError(f"a reading over {type(domain).__name__}")


def taken(domain: Domain[Any], value: Any, places: Plain) -> Any:
    """Elements of an array of one dimension, in the shape of ``places``."""
    match value:
        case FieldArray():
            return value.each(lambda a, extra: a[:, places])
        case TermArray():
            return TermArray(value.kind, np.asarray(value.terms[places]))
        case _:
            return np.asarray(value[places])


def whole_of(value: Any) -> Plain | None:
    """The whole numbers of an array behind a dimension of rounds; None if they are terms."""
    match value:
        case FieldArray():
            return exact_of(value)
        case TermArray():
            return None
        case _:
            return np.asarray(value)[None]


def is_nothing(domain: Domain[Any], value: Any) -> bool:
    """Whether all elements are zeros, whatever was drawn."""
    match value:
        case FieldArray(kind=Kind.INT):
            return not (exact_of(value).any() or value.tag.any())
        case FieldArray():
            return bool(zero_of(value).all())
        case TermArray():
            assert isinstance(domain, TermDomain)
            return all(domain.terms.number(t) == 0 for t in value.terms.ravel().tolist())
        case _:
            return not np.asarray(value).any()


def ends_of(value: Any) -> tuple[int, int] | None:
    """The least and the largest whole number of an array; None if there is none, or none known."""
    plain = whole_of(value)
    return None if plain is None or not plain.size else (int(plain.min()), int(plain.max()))


def state_of(value: Any) -> list[Plain]:
    """What reals of fields or floats are compared by, each behind a dimension of rounds."""
    if not isinstance(value, FieldArray):
        return [np.asarray(value)[None] + 0.0]  # no -0
    first = value.levels[0] if value.levels else None
    parts = [value.tag] if first is None else [value.tag, first.value, first.known]
    return [p.astype(np.int64) for p in (*parts, *([] if value.source is None else [value.source]))]


def settled(domain: Domain[Any], value: Any) -> bool | None:
    """A truth value without dimensions; None if it is not the same whatever was drawn."""
    match domain:
        case FieldDomain():
            truth, sure = truth_of(value)
            if value.doubts or not sure.all() or truth.min() != truth.max():
                return None
            return bool(truth.all())
        case TermDomain():
            term = domain.terms.all[int(value.terms)]
            return bool(term.value) if term.op == "bool" else None
        case _:
            return bool(value)


class OrderDomain(FloatDomain):
    """float64 with true comparisons.

    ``highest``: an exponential of a larger number is NaN here, so that a result which depends on
    one is NaN (None: no such rule). Differences of sums are rounded as their sums are: beside
    exponents of 1e12, one of 1e-4 is 0.
    """

    def __init__(self, highest: float | None = None) -> None:
        super().__init__(np.float64)
        self.highest = highest
        self.exponentials = 0  # how many tiles of them were taken
        self.above = 0  # and of how many some number was too large

    def apply(self, fn: Fn, args: Sequence[Plain]) -> Plain:
        """IEEE rules, apart from exponentials of numbers that are too large."""
        found = super().apply(fn, args)
        if self.highest is not None and fn in (Fn.EXP, Fn.EXP2):
            self.exponentials += 1
            with np.errstate(all="ignore"):
                above = np.asarray(args[0] > max(self.highest, _rounding(args[0])))
                found = np.where(above, np.nan, found)
            self.above += bool(above.any())
        return found


def _rounding(exponents: Plain) -> float:
    """What the largest of these numbers may have lost."""
    sizes = np.abs(np.asarray(exponents)[np.isfinite(exponents)])
    return ULPS * float(np.finfo(np.float64).eps * sizes.max(initial=0.0))


def literal(cells: Domain[A], value: float | int | str | Fraction | Constant) -> A:
    """A number of a text as a value without dimensions: what its digits say, exactly."""
    if isinstance(value, Constant):
        return cells.named(value)
    if isinstance(value, str) and value.strip("+-") in ("inf", "nan"):
        value = float(value)
    if isinstance(value, float):
        if value != value:
            return undefined(cells)
        if abs(value) == INF:
            return cells.constant(value)
        value = repr(value)
    return cells.constant(Fraction(value))


def undefined(cells: Domain[A]) -> A:
    """The value that nothing is known of: NaN."""
    infinity = cells.constant(INF)
    return cells.apply(Fn.SUB, (infinity, infinity))


def broadcast(cells: Domain[A], value: A, shape: tuple[int, ...]) -> A:
    """``value`` stretched to ``shape``; missing leading dimensions are inserted."""
    old = cells.shape(value)
    if old == shape:
        return value
    old = (1,) * (len(shape) - len(old)) + old
    count = int(np.prod(old, dtype=np.int64))
    index = np.broadcast_to(np.arange(count).reshape(old), shape)
    found: A = taken(cells, cells.reshape(value, (count,)), index)
    return found
