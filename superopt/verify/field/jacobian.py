"""Whether several combinations of monomials are independent together, as functions.

They are if their derivatives by as many variables are linearly independent at one point. Then
they take given values together at no more regular points than the product of their degrees
(Bezout), so that values at random points are spread as those of as many variables are.
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.polynomial import Monomial
from superopt.verify.field.polynomial import Poly
from superopt.verify.field.scalarpoint import PRIME
from superopt.verify.field.scalarpoint import ScalarPoint


def independent_together(polys: Polynomials, members: Sequence[Poly]) -> bool:
    """Whether the derivatives of ``members`` have full rank at a random point."""
    at = _Slopes(polys)
    variables = sorted(frozenset[str]().union(*(polys.depends(m) for m in members)))
    rows = [[at.poly(m, v) for v in variables] for m in members]
    for number, row in enumerate(rows):
        column = next((c for c, x in enumerate(row) if x), None)
        if column is None:
            return False
        scale = pow(row[column], -1, PRIME)
        for other in rows[number + 1 :]:
            factor = other[column] * scale
            other[:] = [(x - factor * y) % PRIME for x, y in zip(other, row, strict=True)]
    return True


class _Slopes:
    """Derivatives at one point, by the name of a variable."""

    def __init__(self, polys: Polynomials) -> None:
        self.polys = polys
        self.point = ScalarPoint(polys, seed=1)
        self._known: dict[tuple[int, str], int] = {}

    def poly(self, poly: Poly, variable: str) -> int:
        total = 0
        for monomial, c in poly.items():
            slope = self._monomial(monomial, variable)
            total += c.numerator * pow(c.denominator, -1, PRIME) * slope
        return total % PRIME

    def _monomial(self, monomial: Monomial, variable: str) -> int:
        """A product times the sum of the relative slopes of its factors."""
        value, relative = 1, 0
        for letter, power in monomial:
            at = self.point.letter(letter)
            value = value * pow(at, power, PRIME) % PRIME
            relative += power * self._letter(letter, variable) * pow(at, -1, PRIME)
        return value * relative % PRIME

    def _letter(self, letter: int, variable: str) -> int:
        key = (letter, variable)
        if key not in self._known:
            self._known[key] = self._slope(letter, variable)
        return self._known[key]

    def _slope(self, letter: int, variable: str) -> int:
        polys = self.polys
        if polys.own[letter] is not None:
            return int(polys.own[letter] == variable)
        if variable not in polys.variables[letter]:
            return 0
        value = self.point.letter(letter)
        if (below := polys.inverses.get(letter)) is not None:
            return -value * value * self.poly(below, variable) % PRIME
        t = polys.terms.all[polys.term_of(letter)]  # a root or an absolute value
        inner = polys.of(t.args[0])
        slope = self.poly(inner, variable) * pow(self.point.value(inner, "", 0), -1, PRIME)
        half = pow(2, -1, PRIME) if t.op == "sqrt" else 1
        return value * slope * half % PRIME
