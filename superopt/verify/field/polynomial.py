"""Polynomials over letters, and what several of them have in common."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from math import lcm

from superopt.verify.field.primes import rooted

Monomial = tuple[tuple[int, int], ...]  # (letter, power), sorted; powers may be negative
Poly = dict[Monomial, Fraction]
PolyKey = tuple[tuple[Monomial, Fraction], ...]  # the sorted items of one

ONE: Monomial = ()
_ZERO = Fraction(0)


def added(a: Poly, b: Poly) -> Poly:
    """a + b."""
    found = dict(a)
    for monomial, c in b.items():
        if total := found.get(monomial, _ZERO) + c:
            found[monomial] = total
        else:
            del found[monomial]
    return found


def times(poly: Poly, factor: Fraction) -> Poly:
    """``poly`` times a number that is not 0."""
    return {m: c * factor for m, c in poly.items()}


def common_shift(polys: Sequence[Poly]) -> Poly:
    """Of every monomial the least coefficient: what is added to all is in it once."""
    monomials = dict.fromkeys(m for poly in polys for m in poly)
    least = {m: min(poly.get(m, _ZERO) for poly in polys) for m in monomials}
    return {m: c for m, c in least.items() if c}


def common_factor(polys: Sequence[Poly], positive: Callable[[int], bool]) -> Poly:
    """A monomial that divides all ``polys``, of ``positive`` letters and of a number that is a
    square in every field: what all are multiplied by is in it once. 1 if all are zero."""
    monomials = [dict(m) for poly in polys for m in poly]
    if not monomials:
        return {ONE: Fraction(1)}
    letters = sorted({x for m in monomials for x in m if positive(x)})
    powers = {x: min(m.get(x, 0) for m in monomials) for x in letters}
    numbers = [c for poly in polys for c in poly.values()]
    whole = Fraction(gcd(*(c.numerator for c in numbers)), lcm(*(c.denominator for c in numbers)))
    return {tuple((x, p) for x, p in powers.items() if p): rooted(whole)}
