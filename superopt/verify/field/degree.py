"""Degrees and sizes of coefficients of terms, as quotients of polynomials.

A term is a numerator over a product of known factors: what was divided by, and exponentials of
atoms with negative coefficients. Sums take the least common multiple of their factors.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import log2

from superopt.verify.field.exponents import Exponent
from superopt.verify.field.exponents import Polynomials

Factor = tuple[str, int]


@dataclass(frozen=True)
class Quotient:
    """Degree and height (log2 of the sum of coefficients) above; factors with powers below."""

    degree: int
    height: float
    below: tuple[tuple[Factor, int], ...] = ()


class Degrees:
    """Degrees of the terms of one pair of elements."""

    def __init__(
        self,
        polys: Polynomials,
        exponents: Mapping[int, Exponent],
        determined: frozenset[int] = frozenset(),
    ) -> None:
        self.determined = determined  # extrema that are made of their members (``shapes.py``)
        self.terms = polys.terms
        self.exponents = exponents
        self.sizes: dict[Factor, tuple[int, float]] = {}  # degree and height of a factor
        self._known: dict[int, Quotient] = {}

    def difference(self, a: int, b: int) -> tuple[int, float]:
        """Degree and height of ``a - b``, cleared of denominators, preconditions included."""
        total = self._sum(self.of(a), self.of(b))
        atoms = {atom for e in self.exponents.values() for atom, _ in e.atoms}
        # An atom that is constant in its private variable at this point counts as a miss, too.
        return total.degree + sum(atom.degree for atom in atoms), total.height

    def collisions(self, terms: Sequence[int]) -> int:
        """A degree that counts every pair of different ``terms`` that may have equal residues."""
        each = [self._cleared(self.of(x))[0] for x in terms]
        return sum(max(1, a) for a in each) * len(each)

    def shapes(self, sets: Sequence[Sequence[int]]) -> int:
        """The same for the members of different sets, less their mean, over a size."""
        each = [2 * sum(self._cleared(self.of(x))[0] for x in members) for members in sets]
        counts = [len(members) for members in sets]
        return sum(n * max(1, d) for n, d in zip(counts, each, strict=True)) * sum(counts)

    def of(self, term: int) -> Quotient:
        """The quotient of a term."""
        stack = [term]
        while stack:
            top = stack[-1]
            if top in self._known:
                stack.pop()
                continue
            needed = self._needed(top)
            if missing := [a for a in needed if a not in self._known]:
                stack.extend(missing)
                continue
            self._known[top] = self._make(top, [self._known[a] for a in needed])
            stack.pop()
        return self._known[term]

    def _needed(self, term: int) -> list[int]:
        t = self.terms.all[term]
        match t.op:
            case "add" | "mul" | "inv" | "sqrt" | "abs":
                return list(t.args)
            case "where":
                return list(t.args[1:])
            case "exp":
                return [x for x, _ in self.exponents[t.args[0]].logs]
            case "max" | "min" if term in self.determined:
                return list(t.args)
            case _:
                return []

    def _make(self, term: int, args: list[Quotient]) -> Quotient:
        t = self.terms.all[term]
        match t.op:
            case "num":
                value = t.value
                assert isinstance(value, Fraction | float)
                return self._number(value)
            case "add":
                return self._sum(*args)
            case "mul":
                return self._product(*args)
            case "inv":
                return self._inverse(args[0], ("inv", t.args[0]))
            case "sqrt":
                degree, height = self._cleared(args[0])
                return Quotient(max(1, degree), max(1.0, height))
            case "abs":
                return args[0]
            case "where":
                total = self._sum(*args)
                return Quotient(total.degree, total.height, total.below)
            case "exp":
                return self._exponential(self.exponents[t.args[0]], args)
            case "max" | "min" if term in self.determined:
                total = reduce(self._sum, args)
                height = total.height + log2(4 * len(args))
                return Quotient(total.degree + 1, height, total.below)
            case _:
                return Quotient(1, 0.0)

    def _number(self, value: Fraction | float) -> Quotient:
        if isinstance(value, float):  # states are compared exactly
            return Quotient(0, 0.0)
        below: tuple[tuple[Factor, int], ...] = ()
        if value.denominator != 1:
            factor = ("num", value.denominator)
            self.sizes[factor] = (0, log2(value.denominator))
            below = ((factor, 1),)
        return Quotient(0, log2(max(1, abs(value.numerator))), below)

    def _exponential(self, exponent: Exponent, logs: list[Quotient]) -> Quotient:
        found = Quotient(0, 0.0)
        for atom, coefficient in exponent.atoms:
            if coefficient > 0:
                found = Quotient(found.degree + coefficient * atom.degree, 0.0, found.below)
            else:
                factor = ("exp", atom.number)
                self.sizes[factor] = (atom.degree, 0.0)
                found = Quotient(found.degree, 0.0, (*found.below, (factor, -coefficient)))
        for (x, power), quotient in zip(exponent.logs, logs, strict=True):
            one = quotient if power > 0 else self._inverse(quotient, ("inv", x))
            for _ in range(abs(power)):
                found = self._product(found, one)
        return found

    def _size(self, below: Mapping[Factor, int]) -> tuple[int, float]:
        degree = sum(self.sizes[f][0] * power for f, power in below.items())
        height = sum(self.sizes[f][1] * power for f, power in below.items())
        return degree, height

    def _cleared(self, q: Quotient) -> tuple[int, float]:
        degree, height = self._size(dict(q.below))
        return q.degree + degree, q.height + height

    def _inverse(self, q: Quotient, factor: Factor) -> Quotient:
        self.sizes[factor] = (q.degree, q.height)
        return Quotient(*self._size(dict(q.below)), ((factor, 1),))

    def _product(self, a: Quotient, b: Quotient) -> Quotient:
        below = dict(a.below)
        for factor, power in b.below:
            below[factor] = below.get(factor, 0) + power
        return Quotient(a.degree + b.degree, a.height + b.height, tuple(below.items()))

    def _sum(self, a: Quotient, b: Quotient) -> Quotient:
        left, right = dict(a.below), dict(b.below)
        common = {f: max(left.get(f, 0), right.get(f, 0)) for f in {**left, **right}}
        extra_a, extra_b = (
            self._size({f: n - side.get(f, 0) for f, n in common.items()}) for side in (left, right)
        )
        high, low = a.height + extra_a[1], b.height + extra_b[1]
        high, low = max(high, low), min(high, low)
        height = high + log2(1 + 2.0 ** (low - high))
        degree = max(a.degree + extra_a[0], b.degree + extra_b[0])
        return Quotient(degree, height, tuple(common.items()))
