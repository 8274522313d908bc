"""Integer polynomials over named atoms: what the whole numbers of a text are, symbolically."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

Monomial = tuple[str, ...]  # atoms in order, each as often as it is a factor; () is 1


@dataclass(frozen=True)
class Poly:
    """A sum of ``coefficient * monomial``, sorted, without zero coefficients."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    @cached_property
    def atoms(self) -> tuple[str, ...]:
        """The atoms that occur, each once, in order."""
        return tuple(dict.fromkeys(a for m, _ in self.terms for a in m))

    @property
    def constant(self) -> int | None:
        """The number, if it is one."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    @property
    def first(self) -> int:
        """The term without atoms."""
        return self.terms[0][1] if self.terms and not self.terms[0][0] else 0

    @property
    def varying(self) -> tuple[tuple[Monomial, int], ...]:
        """The terms with atoms."""
        return self.terms[1:] if self.terms and not self.terms[0][0] else self.terms

    @property
    def atom(self) -> str | None:
        """The atom, if it is one alone."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1:
            return self.terms[0][0][0]
        return None

    def __add__(self, other: Poly) -> Poly:
        return _collect([*self.terms, *other.terms])

    def __neg__(self) -> Poly:
        return Poly(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: Poly) -> Poly:
        return self + (-other)

    def __mul__(self, other: Poly) -> Poly:
        return _collect(
            [(tuple(sorted(a + b)), c * d) for a, c in self.terms for b, d in other.terms]
        )

    def times(self, factor: int) -> Poly:
        """A multiple."""
        return _collect([(m, c * factor) for m, c in self.terms])

    def coefficient(self, name: str) -> Poly:
        """What ``name`` is multiplied by, where it is a factor once."""
        return _collect([(_without(m, name), c) for m, c in self.terms if m.count(name) == 1])

    def without(self, name: str) -> Poly:
        """The terms in which ``name`` is no factor."""
        return Poly(tuple((m, c) for m, c in self.terms if name not in m))

    def substitute(self, by: Mapping[str, Poly]) -> Poly:
        """The polynomial with other polynomials in the place of atoms."""
        if not any(a in by for a in self.atoms):
            return self
        total: list[tuple[Monomial, int]] = []
        for monomial, coefficient in self.terms:
            product = number(coefficient)
            for name in monomial:
                product = product * by.get(name, atom(name))
            total += product.terms
        return _collect(total)

    def divided(self, by: Poly) -> Poly | None:
        """The exact quotient, None if there is none."""
        if not by.terms:
            return None
        names = sorted({*self.atoms, *by.atoms})
        factors, divisor = _leading(by, names)
        rest, found = self, Poly()
        while rest.terms:  # leading terms fall, in an order that products keep
            monomial: Monomial | None
            monomial, coefficient = _leading(rest, names)
            for name in factors:
                fits = monomial is not None and name in monomial
                monomial = _without(monomial, name) if fits and monomial is not None else None
            if monomial is None or coefficient % divisor:
                return None
            term = Poly(((monomial, coefficient // divisor),))
            rest, found = rest - term * by, found + term
        return found

    def __str__(self) -> str:
        return " + ".join(_words(self.terms)).replace("+ -", "- ") or "0"


def _words(terms: tuple[tuple[Monomial, int], ...]) -> Iterator[str]:
    for monomial, coefficient in terms:
        name = "*".join(monomial)
        if not name:
            yield str(coefficient)
        else:
            yield {1: name, -1: f"-{name}"}.get(coefficient, f"{coefficient}*{name}")


def _leading(poly: Poly, names: Sequence[str]) -> tuple[Monomial, int]:
    """The first term by the exponents of ``names``."""
    return max(poly.terms, key=lambda t: tuple(t[0].count(n) for n in names))


def _without(monomial: Monomial, name: str) -> Monomial:
    at = monomial.index(name)
    return monomial[:at] + monomial[at + 1 :]


def _collect(terms: list[tuple[Monomial, int]]) -> Poly:
    total: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        total[monomial] = total.get(monomial, 0) + coefficient
    return Poly(tuple(sorted((m, c) for m, c in total.items() if c)))


def number(value: int) -> Poly:
    """A constant."""
    return Poly((((), value),)) if value else Poly()


def atom(name: str) -> Poly:
    """One atom."""
    return Poly((((name,), 1),))


ZERO = number(0)
ONE = number(1)
