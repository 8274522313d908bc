"""How many independent square roots stand in an element, and how many hidden signs they bring.

Roots of independent arguments behave like variables. A root of a square, or a product of roots
that is a root of a square, is an absolute value in disguise: its sign is a coin. Whether
arguments are squares is multiplicative, so dependences are those of bit vectors: which of many
random points make an argument a square.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from superopt.verify.field import primes
from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.polynomial import ONE
from superopt.verify.field.polynomial import Poly
from superopt.verify.field.scalarpoint import PRIME
from superopt.verify.field.scalarpoint import ScalarPoint
from superopt.verify.field.toohard import TooHardError

POINTS = 96  # independent arguments look dependent with a chance of 2^-96 times their subsets


def roots_of(
    polys: Polynomials, cone: Sequence[int], signs: dict[int, int | None]
) -> tuple[int, int]:
    """Distinct roots of data in ``cone``, and coins among them.

    ``signs`` keeps the bit vectors by root, between calls for elements of one table of terms.
    """
    terms = polys.terms
    found: dict[object, int] = {}
    for x in cone:
        if terms.all[x].op == "sqrt" and (key := _key(polys, x)) is not None:
            found.setdefault(key, x)
    vectors: list[int] = []
    unknown = 0
    for x in found.values():
        if x not in signs:
            signs[x] = signs_of(polys, terms.all[x].args[0])
        vector = signs[x]
        if vector is None:
            unknown += 1
        else:
            vectors.append(vector)
    return len(found), unknown + len(vectors) - rank(vectors)


def _key(polys: Polynomials, root: int) -> object | None:
    """What identifies the argument up to a constant whose root is known; None for a constant."""
    try:
        poly = polys.of(polys.terms.all[root].args[0])
    except (TooHardError, KeyError):  # it stands in an exponent only
        return root
    rest = dict(poly)
    lead = next((c for _, c in sorted(poly.items()) if primes.has_root(c)), Fraction(1))
    key: Poly = {m: c / lead for m, c in rest.items()}
    if set(key) == {ONE} and key[ONE] == 1:
        return None
    return tuple(sorted(key.items()))


def signs_of(polys: Polynomials, argument: int) -> int | None:
    """At which points an argument is no square, as bits; None if it cannot be evaluated here."""
    bits = 0
    try:
        for seed in range(POINTS):
            value = ScalarPoint(polys, seed, squares=True).term(argument, "", 0)
            bits = bits << 1 | (pow(value, (PRIME - 1) // 2, PRIME) != 1)
    except (TooHardError, KeyError):
        return None
    return bits


def rank(vectors: Sequence[int]) -> int:
    """The rank over the field of two elements."""
    basis: list[int] = []
    for vector in vectors:
        for b in basis:
            vector = min(vector, vector ^ b)
        if vector:
            basis.append(vector)
    return len(basis)
