"""Arrays of terms: the evaluator's domain in which every element is written out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.scalar import Number
from superopt.verify.field.ranking import best_terms
from superopt.verify.field.terms import Term
from superopt.verify.field.terms import Terms


@dataclass(frozen=True)
class TermArray:
    """An array of term numbers of one kind."""

    kind: Kind
    terms: npt.NDArray[np.int64]


class TermDomain:
    """Arrays of scalar expressions; implements ``ugraph.domain.Domain``."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    def constant(self, value: Number) -> TermArray:
        """A number."""
        real = isinstance(value, Fraction) and value.denominator != 1
        kind = Kind.REAL if real else Kind.INT
        return TermArray(kind, np.array(self.terms.num(value), np.int64))

    def named(self, name: Constant) -> TermArray:
        """An irrational constant."""
        return TermArray(Kind.REAL, np.array(self.terms.named(name), np.int64))

    def integers(self, first: int, stop: int) -> TermArray:
        """Integer constants."""
        numbers = [self.terms.num(Fraction(i)) for i in range(first, stop)]
        return TermArray(Kind.INT, np.array(numbers, np.int64))

    def letters(self, name: str, shape: tuple[int, ...]) -> TermArray:
        """The elements of a real parameter."""
        found = np.zeros(shape, np.int64)
        for where in product(*map(range, shape)):
            label = name + "".join(f"[{i}]" for i in where)
            found[where] = self.terms.term(Term("input", (), label))
        return TermArray(Kind.REAL, found)

    def known(self, values: npt.NDArray[np.generic]) -> TermArray:
        """Integer or boolean parameters with given values."""
        if values.dtype == np.bool_:
            found = [self.terms.truth(bool(v)) for v in values.ravel()]
        else:
            found = [self.terms.num(Fraction(int(v))) for v in values.ravel()]
        kind = Kind.BOOL if values.dtype == np.bool_ else Kind.INT
        return TermArray(kind, np.array(found, np.int64).reshape(values.shape))

    def apply(self, fn: Fn, args: Sequence[TermArray]) -> TermArray:
        """``fn`` point by point."""
        exact = all(a.kind is Kind.INT for a in args)
        wide = np.broadcast_arrays(*(a.terms for a in args))
        rows = zip(*(w.ravel().tolist() for w in wide), strict=True)
        found = [self.terms.map(fn, row, exact) for row in rows]
        return TermArray(_kind(fn, args), np.array(found, np.int64).reshape(wide[0].shape))

    def fold(self, fn: Fn, value: TermArray, dim: int) -> TermArray:
        """Element by element, in order."""
        rest = value.terms.shape[:dim] + value.terms.shape[dim + 1 :]
        found = TermArray(Kind.INT, np.full(rest, self.terms.num(fn.unit), np.int64))
        for position in range(value.terms.shape[dim]):
            part = TermArray(value.kind, np.take(value.terms, position, dim))
            found = self.apply(fn, (found, part)) if position else part
        return found

    def best(
        self,
        values: TermArray,
        places: TermArray,
        count: int,
        end: int,
        at: bool,
        taken: TermArray | None = None,
    ) -> TermArray:
        """Row by row: one of the candidates, by their order."""
        kind = Kind.INT if at else Kind.REAL if taken is None else taken.kind
        three = np.broadcast_arrays(values.terms, places.terms, (taken or values).terms)
        *lead, length = three[0].shape
        sides = [side.reshape(prod(lead), length).tolist() for side in three]
        found = [
            best_terms(self.terms, v, p, count, end, at, g if taken else None, kind is Kind.INT)
            for v, p, g in zip(*sides, strict=True)
        ]
        return TermArray(kind, np.array(found, np.int64).reshape(*lead, count))

    def shape(self, value: TermArray) -> tuple[int, ...]:
        """The length of every dimension."""
        return value.terms.shape

    def reshape(self, value: TermArray, shape: tuple[int, ...]) -> TermArray:
        """The same elements in a new shape."""
        return TermArray(value.kind, value.terms.reshape(shape))

    def transpose(self, value: TermArray, order: tuple[int, ...]) -> TermArray:
        """A view with permuted dimensions."""
        return TermArray(value.kind, value.terms.transpose(order))

    def slice(self, value: TermArray, dim: int, first: int, stop: int) -> TermArray:
        """A view of some positions."""
        return TermArray(value.kind, value.terms[(slice(None),) * dim + (slice(first, stop),)])

    def join(self, values: Sequence[TermArray], dim: int) -> TermArray:
        """Concatenation."""
        kinds = {v.kind for v in values}
        kind = Kind.REAL if len(kinds) > 1 else kinds.pop()
        return TermArray(kind, np.concatenate([v.terms for v in values], axis=dim))

    def full(self, shape: tuple[int, ...], value: Number) -> TermArray:
        """One number everywhere."""
        scalar = self.constant(value)
        return TermArray(scalar.kind, np.full(shape, scalar.terms, np.int64))

    def integer(self, value: TermArray) -> int:
        """The value of a constant."""
        number = self.terms.number(int(value.terms))
        if not isinstance(number, Fraction) or number.denominator != 1:
            raise ValueError("this term is no integer")
        return int(number)

    def contract(self, left: TermArray, right: TermArray, dim: int) -> TermArray:
        """The fold of the products."""
        return self.fold(Fn.ADD, self.apply(Fn.MUL, (left, right)), dim)


def _kind(fn: Fn, args: Sequence[TermArray]) -> Kind:
    if fn.value.result is not None:
        return fn.value.result
    kinds = {a.kind for a in (args[1:] if fn is Fn.WHERE else args)}
    return kinds.pop() if len(kinds) == 1 else Kind.REAL
