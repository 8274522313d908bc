"""Polynomials over letters at a point of a large prime field, with one variable moved."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from superopt.verify.field.exponents import Polynomials
    from superopt.verify.field.polynomial import Poly

PRIME = 2305843009213972799
SHIFTS = 5


class ScalarPoint:
    """Values of terms at one random point: a plain evaluator, independent of the array domain.

    ``seed``: which point. ``squares``: what a field reading draws or computes as a square
    (exponentials, constants, maybe maxima) is one here, too.
    """

    def __init__(self, polys: Polynomials, seed: int = 0, squares: bool = False) -> None:
        self.polys = polys
        self.seed = seed
        self.squares = squares
        self._values: dict[tuple[int, str, int], int] = {}
        self._inverses: dict[tuple[int, str, int], int] = {}  # by letter

    def varies(self, poly: Poly, variable: str) -> bool:
        """Whether the value differs at each of several values of a variable."""
        values = {self.value(poly, variable, shift) for shift in range(SHIFTS)}
        return len(values) == SHIFTS

    def value(self, poly: Poly, variable: str, shift: int) -> int:
        """The value of a polynomial with ``variable`` raised by ``shift``."""
        total = 0
        for monomial, c in poly.items():
            product = c.numerator * pow(c.denominator, -1, PRIME)
            for letter, power in monomial:
                product = product * pow(self._letter(letter, variable, shift), power, PRIME) % PRIME
            total += product
        return total % PRIME

    def letter(self, letter: int) -> int:
        """The value of a letter."""
        return self._letter(letter, "", 0)

    def _letter(self, letter: int, variable: str, shift: int) -> int:
        depends = self.polys.variables[letter]
        own = self.polys.own[letter]
        if own is not None:
            value = _drawn(f"{self.seed} {own}")
            if self.squares and not own.startswith("input"):
                value = value * value % PRIME
            return (value + (shift if own == variable else 0)) % PRIME
        moved = shift if variable in depends else 0
        if (poly := self.polys.inverses.get(letter)) is not None:
            key = (letter, variable, moved)
            if key not in self._inverses:
                self._inverses[key] = pow(self.value(poly, variable, moved), -1, PRIME)
            return self._inverses[key]
        return self.term(self.polys.term_of(letter), variable, moved)

    def term(self, term: int, variable: str, shift: int) -> int:
        """The value of a term."""
        key = (term, variable, shift)
        if key not in self._values:
            self._values[key] = self._compute(term, variable, shift)
        return self._values[key]

    def _compute(self, term: int, variable: str, shift: int) -> int:
        t = self.polys.terms.all[term]
        match t.op:
            case "num":
                assert isinstance(t.value, Fraction)
                return t.value.numerator * pow(t.value.denominator, -1, PRIME) % PRIME
            case "add":
                return sum(self.term(a, variable, shift) for a in t.args) % PRIME
            case "mul":
                a, b = (self.term(a, variable, shift) for a in t.args)
                return a * b % PRIME
            case "inv":
                return pow(self.term(t.args[0], variable, shift), -1, PRIME)
            case "sqrt":
                return pow(self.term(t.args[0], variable, shift), (PRIME + 1) // 4, PRIME)
            case "abs":
                value = self.term(t.args[0], variable, shift)
                return value if pow(value, (PRIME - 1) // 2, PRIME) == 1 else PRIME - value
            case _:
                return self.value(self.polys.of(term), variable, shift)


def _drawn(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=16).digest()) % PRIME
