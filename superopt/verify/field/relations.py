"""Linear relations between monomials that letters hide: probabilities add up to one, say.

A letter that stands for an inverse, a root or an absolute value is not independent of what it
was made of. The relations are those of the values at random points modulo a prime of 61 bits,
more points than monomials: a relation that is none would need a coincidence there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.polynomial import ONE
from superopt.verify.field.polynomial import Monomial
from superopt.verify.field.polynomial import Poly
from superopt.verify.field.scalarpoint import PRIME
from superopt.verify.field.scalarpoint import ScalarPoint
from superopt.verify.field.toohard import TooHardError

EXTRA = 4  # points beyond the number of monomials
MOST = 120  # monomials
LARGEST = 1 << 12  # numerators and denominators in relations


def independent(polys: Polynomials, rows: Sequence[Poly]) -> list[Poly]:
    """``rows`` over monomials that no linear relation connects.

    Raises:
        TooHardError: there are too many monomials, or a relation has other than small numbers.
    """
    monomials = list(dict.fromkeys([ONE, *(m for row in rows for m in row)]))
    if len(monomials) > MOST:
        raise TooHardError(f"exponents of more than {MOST} monomials depend on one another")
    points = [ScalarPoint(polys, seed) for seed in range(len(monomials) + EXTRA)]
    values = [[p.value({m: Fraction(1)}, "", 0) for m in monomials] for p in points]
    basis = _reduced(values)
    kept = {pivot: monomials[pivot] for pivot, _ in basis}
    written: dict[Monomial, Poly] = {m: {m: Fraction(1)} for m in kept.values()}
    for column, monomial in enumerate(monomials):
        if column not in kept:
            parts = {kept[pivot]: _small(row[column]) for pivot, row in basis}
            written[monomial] = {m: c for m, c in parts.items() if c}
    return [_combined(row, written) for row in rows]


def _combined(row: Poly, written: dict[Monomial, Poly]) -> Poly:
    found: Poly = {}
    for monomial, c in row.items():
        for part, factor in written[monomial].items():
            found[part] = found.get(part, Fraction(0)) + c * factor
    return {m: c for m, c in found.items() if c}


def _reduced(rows: list[list[int]]) -> list[tuple[int, list[int]]]:
    """The reduced echelon form modulo the prime: pivot columns with their rows."""
    found: list[tuple[int, list[int]]] = []
    left = [row[:] for row in rows]
    for column in range(len(rows[0]) if rows else 0):
        lead = next((row for row in left if row[column]), None)
        if lead is None:
            continue
        left.remove(lead)
        scale = pow(lead[column], -1, PRIME)
        lead = [x * scale % PRIME for x in lead]
        left = [_less(row, lead, column) for row in left]
        found = [(pivot, _less(row, lead, column)) for pivot, row in found]
        found.append((column, lead))
    return found


def _less(row: list[int], lead: list[int], column: int) -> list[int]:
    factor = row[column]
    return [(x - factor * y) % PRIME for x, y in zip(row, lead, strict=True)] if factor else row


def _small(residue: int) -> Fraction:
    """The rational number of small numerator and denominator that a residue stands for."""
    above, below = (PRIME, residue), (0, 1)
    while above[1] > LARGEST:
        times = above[0] // above[1]
        above = (above[1], above[0] - times * above[1])
        below = (below[1], below[0] - times * below[1])
    if abs(below[1]) > LARGEST or not below[1]:
        raise TooHardError("the exponents depend on one another by large numbers")
    return Fraction(above[1], below[1])
