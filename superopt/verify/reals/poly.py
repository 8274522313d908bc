"""Polynomials and their quotients over numbered atoms: the normal form of the solver's terms.

A monomial is a sorted tuple of (atom, exponent). Negative exponents are only used for atoms
that are known to be positive (exponentials, ``LOG2E``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

Monomial = tuple[tuple[int, int], ...]
MOST_TERMS = 400


class TooLarge(Exception):  # noqa: N818  # an answer (Unknown), not an error
    """A normal form has too many terms to be worth having."""


@dataclass(frozen=True)
class Poly:
    """A sum of ``coefficient * monomial``, sorted, without zeros."""

    terms: tuple[tuple[Monomial, Fraction], ...]

    def __add__(self, other: Poly) -> Poly:
        return poly([*self.terms, *other.terms])

    def __sub__(self, other: Poly) -> Poly:
        return self + other.scaled(Fraction(-1))

    def __mul__(self, other: Poly) -> Poly:
        if len(self.terms) * len(other.terms) > MOST_TERMS:
            raise TooLarge("a product has too many terms")
        return poly((times(m, n), c * d) for m, c in self.terms for n, d in other.terms)

    def scaled(self, factor: Fraction) -> Poly:
        """Times a number."""
        return Poly(tuple((m, c * factor) for m, c in self.terms)) if factor else ZERO

    def shifted(self, by: Monomial) -> Poly:
        """Times a monomial."""
        return poly((times(m, by), c) for m, c in self.terms)

    @property
    def constant(self) -> Fraction | None:
        """The value, if it is a number."""
        match self.terms:
            case ():
                return Fraction(0)
            case (((), value),):
                return value
            case _:
                return None

    @property
    def atoms(self) -> list[int]:
        """The atoms that occur, in order."""
        return sorted({a for m, _ in self.terms for a, _ in m})

    def cleared(self) -> Poly:
        """Times the positive monomial that leaves no negative exponent."""
        least: dict[int, int] = {}
        for monomial, _ in self.terms:
            for atom, power in monomial:
                least[atom] = min(least.get(atom, 0), power)
        return self.shifted(tuple((a, -p) for a, p in sorted(least.items()) if p < 0))


def poly(terms: Iterable[tuple[Monomial, Fraction]]) -> Poly:
    """A polynomial from terms in any order; equal monomials are added."""
    found: dict[Monomial, Fraction] = {}
    for monomial, coefficient in terms:
        found[monomial] = found.get(monomial, Fraction(0)) + coefficient
    kept = tuple(sorted((m, c) for m, c in found.items() if c))
    if len(kept) > MOST_TERMS:
        raise TooLarge("a sum has too many terms")
    return Poly(kept)


def times(a: Monomial, b: Monomial) -> Monomial:
    """The product of monomials."""
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((x, p) for x, p in powers.items() if p))


def inverse(a: Monomial) -> Monomial:
    """The monomial with all exponents negated."""
    return tuple((x, -p) for x, p in a)


def number(value: Fraction | int) -> Poly:
    """A constant polynomial."""
    return poly([((), Fraction(value))])


def atom(index: int, power: int = 1) -> Poly:
    """One atom to a power."""
    return poly([(((index, power),), Fraction(1))])


ZERO = Poly(())
ONE = Poly((((), Fraction(1)),))


@dataclass(frozen=True)
class Ratio:
    """``top / bottom``; the bottom is not zero wherever the ratio is used."""

    top: Poly
    bottom: Poly = ONE

    def __add__(self, other: Ratio) -> Ratio:
        if self.bottom == other.bottom:
            return Ratio(self.top + other.top, self.bottom)
        return Ratio(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    def __sub__(self, other: Ratio) -> Ratio:
        return self + Ratio(other.top.scaled(Fraction(-1)), other.bottom)

    def __mul__(self, other: Ratio) -> Ratio:
        return Ratio(self.top * other.top, self.bottom * other.bottom)

    def over(self, other: Ratio, positive: frozenset[int]) -> Ratio:
        """The quotient; monomials of ``positive`` atoms below the line become powers."""
        top, bottom = self.top * other.bottom, self.bottom * other.top
        match bottom.terms:
            case ((monomial, coefficient),) if all(a in positive for a, _ in monomial):
                return Ratio(top.scaled(1 / coefficient).shifted(inverse(monomial)))
            case _:
                return Ratio(top, bottom)

    @property
    def sign(self) -> Poly:
        """A polynomial of the same sign, without negative exponents."""
        if self.bottom == ONE:
            return self.top.cleared()
        return (self.top * self.bottom).cleared()

    @property
    def constant(self) -> Fraction | None:
        """The value, if it is a number."""
        return self.top.constant if self.bottom == ONE else None
