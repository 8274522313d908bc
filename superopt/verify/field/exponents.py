"""Exponents as polynomials over letters, and as combinations of atoms (``atoms.py``)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from superopt.verify.field.extrema import EITHER
from superopt.verify.field.polynomial import ONE
from superopt.verify.field.polynomial import Monomial
from superopt.verify.field.polynomial import Poly
from superopt.verify.field.polynomial import PolyKey
from superopt.verify.field.polynomial import added
from superopt.verify.field.polynomial import common_factor
from superopt.verify.field.polynomial import common_shift
from superopt.verify.field.polynomial import times
from superopt.verify.field.signs import Signs
from superopt.verify.field.terms import Terms
from superopt.verify.field.toohard import TooHardError

MOST_MONOMIALS = 3000
SMALL_BITS = 28  # no prime of a chain divides a number of so few bits
BASE = "base"  # what a constant exponent depends on: the base of the exponential


@dataclass(frozen=True)
class Atom:
    """A combination of monomials whose exponential is one variable.

    ``scale``: the atom is divided by it, so that every exponent has an integer coefficient.
    ``degree``: the most points at which it takes one value, per value of a private variable.
    """

    number: int
    scale: int
    degree: int


@dataclass(frozen=True)
class Exponent:
    """An exponent: factors that logarithms in it leave outside, and atoms with coefficients."""

    logs: tuple[tuple[int, int], ...]  # exp(sum c log(x)): (x, c)
    atoms: tuple[tuple[Atom, int], ...]


class Polynomials:
    """Terms as polynomials over letters.

    ``below``: the exponents of the next level, whose atoms' exponentials are letters here.
    ``signs``: which of two values is the larger one, at a ``level``.
    """

    def __init__(
        self,
        terms: Terms,
        below: Mapping[int, Exponent],
        signs: Signs | None = None,
        level: int = 0,
    ) -> None:
        self.terms = terms
        self.below = below
        self.signs = signs or Signs()
        self.level = level
        self._polys: dict[int, Poly] = {}
        self._letters: dict[tuple[str, object], int] = {}
        self.variables: list[frozenset[str]] = []  # by letter: what it depends on
        self.degrees: list[int] = []  # by letter
        self.large = 0  # bits of coefficients that a prime of a chain could divide
        self.own: list[str | None] = []  # by letter: the variable that it is, if it is one
        self._terms: list[int] = []  # by letter
        self._shapes: dict[int, Monomial] = {}  # by extremum
        self._positive: set[int] = set()  # letters that are squares in every field
        self._roots: dict[int, Fraction] = {}  # letters that are roots of numbers
        self.logs: dict[int, int] = {}  # letters that are logarithms -> their argument
        # Letters that are inverses -> of what. The term that such a letter came from may be an
        # exponential with a negative logarithm inside, which the inverse is only a factor of.
        self.inverses: dict[int, Poly] = {}

    def of(self, term: int) -> Poly:
        """The polynomial of a term."""
        stack = [term]
        while stack:
            top = stack[-1]
            if top in self._polys:
                stack.pop()
            elif missing := [a for a in self._needed(top) if a not in self._polys]:
                stack.extend(missing)
            else:
                self._polys[top] = poly = self._make(top)
                sizes = [max(abs(c.numerator), c.denominator).bit_length() for c in poly.values()]
                self.large += sum(size for size in sizes if size > SMALL_BITS)
                stack.pop()
        return self._polys[term]

    def _needed(self, term: int) -> tuple[int, ...]:
        t = self.terms.all[term]
        if t.op == "exp":
            return tuple(x for x, _ in self.below[t.args[0]].logs)
        return t.args if t.op in ("add", "mul", "inv", "sqrt", "abs") else ()

    def _make(self, term: int) -> Poly:
        t = self.terms.all[term]
        match t.op:
            case "num":
                assert isinstance(t.value, Fraction)
                return {ONE: t.value} if t.value else {}
            case "add":
                return added(*(self._polys[a] for a in t.args))
            case "mul":
                return self._product(*(self._polys[a] for a in t.args))
            case "inv":
                return self._inverse(self._polys[t.args[0]], term)
            case "sqrt" | "abs":
                return self._function(term)
            case "exp":
                return self._exponential(self.below[t.args[0]], term)
            case "input":
                return self._drawn(term, f"input {t.value}")
            case "log":
                poly = self._drawn(term, f"drawn {term}")
                ((((letter, _),), _),) = poly.items()
                self.logs[letter] = t.args[0]
                return poly
            case "max" | "min" if self.terms.moves(term):
                return self._placed(term)
            case "where":
                raise TooHardError("an exponent contains a choice by data")
            case "best" if self.terms.is_place(term):
                raise TooHardError("an exponent contains the place of a best candidate")
            case _:
                return self._drawn(term, f"drawn {term}")

    def _exponential(self, exponent: Exponent, term: int) -> Poly:
        """A deeper exponential: a product of exponentials of atoms."""
        found: Poly = {ONE: Fraction(1)}
        for atom, power in exponent.atoms:
            name = f"atom {atom.number}"
            (((letter, _),),) = self._letter(("atom", atom), frozenset([name]), atom.degree, term)
            found = self._product(found, {((letter, power),): Fraction(1)})
        for x, power in exponent.logs:
            factor = self._polys[x] if power > 0 else self._inverse(self._polys[x], term)
            for _ in range(abs(power)):
                found = self._product(found, factor)
        return found

    def _placed(self, term: int) -> Poly:
        """A letter for what an extremum is of, in its place and size.

        What is added to all members is taken out, and then what all are multiplied by, so that
        sets that differ by a shift and a positive factor are left with one and the same rest. Of
        two members the maximum is one, by the sign of their difference.
        """
        members = self._members(term)
        if not members:  # what is in it is known by itself only
            found = self._drawn(term, f"drawn {term}")
            (self._shapes[term],) = found
            return found
        op = self.terms.all[term].op
        if self._are_pair(members):
            first = self.signs.of(self.level, self._apart(*members)) * (-1 if op == "min" else 1)
            return members[0 if first > 0 else -1]
        shift = common_shift(members)
        rests = [added(poly, times(shift, Fraction(-1))) for poly in members]
        factor: Poly = {ONE: Fraction(1)}
        if len(members) > 2:  # of one kind alone two members are drawn for in their size
            factor = common_factor(rests, self._positive.__contains__)
        whole = frozenset(tuple(sorted(self._over(rest, factor).items())) for rest in rests)
        found = self._letter(("drawn", (op, whole)), frozenset([f"drawn {term}"]), 1, term)
        (self._shapes[term],) = found
        return added(self._product(factor, found), shift)

    def _members(self, extremum: int) -> list[Poly]:
        """The different members of an extremum; none if they cannot be written here."""
        try:
            polys = [self.of(a) for a in self.terms.all[extremum].args]
        except (TooHardError, KeyError):
            return []
        return list({tuple(sorted(p.items())): p for p in polys}.values())

    def _are_pair(self, members: Sequence[Poly]) -> bool:
        return len(members) in (1, 2) and self.terms.equivariant == EITHER

    def _apart(self, a: Poly, b: Poly | None = None) -> PolyKey:
        """The difference of two members over what is positive in it."""
        difference = {} if b is None else added(a, times(b, Fraction(-1)))
        factor = common_factor([difference], self._positive.__contains__)
        return tuple(sorted(self._over(difference, factor).items()))

    def pair_of(self, extremum: int) -> PolyKey | None:
        """The difference, up to a positive factor, of an extremum that is one of two members;
        None if it is a letter of its own."""
        members = self._members(extremum)
        return self._apart(*members) if self._are_pair(members) else None

    def _over(self, poly: Poly, factor: Poly) -> Poly:
        """``poly`` over a monomial."""
        ((monomial, c),) = factor.items()
        upside: Monomial = tuple((letter, -power) for letter, power in monomial)
        return self._product(poly, self._product({ONE: 1 / c}, {upside: Fraction(1)}))

    def shape_of(self, extremum: int) -> Monomial:
        """The letter of an extremum that is drawn for a shape: one for all that are it, shifted."""
        self.of(extremum)
        return self._shapes[extremum]

    def _drawn(self, term: int, variable: str) -> Poly:
        return self._letter(("drawn", term), frozenset([variable]), 1, term)

    def _function(self, term: int) -> Poly:
        """A letter for a root or an absolute value."""
        t = self.terms.all[term]
        poly = self._polys[t.args[0]]
        key = (t.op, tuple(sorted(poly.items())))
        found = self._letter(key, self.depends(poly), max(1, 2 * self.degree(poly)), term)
        if t.op == "sqrt" and set(poly) == {ONE}:
            ((((letter, _),), _),) = found.items()
            self._roots[letter] = poly[ONE]
        return found

    def _inverse(self, poly: Poly, term: int) -> Poly:
        if len(poly) == 1:
            return self._over({ONE: Fraction(1)}, poly)
        key = tuple(sorted(poly.items()))
        found = self._letter(("inv", key), self.depends(poly), max(1, self.degree(poly)), term)
        ((((letter, _),), _),) = found.items()
        self.inverses[letter] = poly
        return found

    def _product(self, a: Poly, b: Poly) -> Poly:
        if len(a) * len(b) > MOST_MONOMIALS:
            raise TooHardError(f"an exponent has more than {MOST_MONOMIALS} monomials")
        found: Poly = {}
        for left, x in a.items():
            for right, y in b.items():
                monomial, c = self._times(left, right)
                if total := found.get(monomial, Fraction(0)) + x * y * c:
                    found[monomial] = total
                else:
                    del found[monomial]
        return found

    def _times(self, left: Monomial, right: Monomial) -> tuple[Monomial, Fraction]:
        """A product of monomials; roots of numbers keep the power 0 or 1."""
        powers, c = dict(left), Fraction(1)
        for letter, power in right:
            powers[letter] = powers.get(letter, 0) + power
        for letter in powers:
            if letter in self._roots:
                squares, powers[letter] = divmod(powers[letter], 2)
                c *= self._roots[letter] ** squares
        return tuple(sorted((k, v) for k, v in powers.items() if v)), c

    def _letter(
        self, key: tuple[str, object], variables: frozenset[str], degree: int, term: int
    ) -> Poly:
        if key not in self._letters:
            self._letters[key] = len(self.variables)
            self.variables.append(variables)
            self.degrees.append(degree)
            self._terms.append(term)
            self.own.append(next(iter(variables)) if key[0] in ("drawn", "atom") else None)
            if key[0] in ("atom", "sqrt", "abs") or self.terms.all[term].op == "named":
                self._positive.add(self._letters[key])
        return {((self._letters[key], 1),): Fraction(1)}

    def term_of(self, letter: int) -> int:
        """A term that has the value of a letter, unless that is one of ``inverses``."""
        return self._terms[letter]

    def depends(self, poly: Iterable[Monomial]) -> frozenset[str]:
        """The variables below some monomials."""
        letters = {letter for monomial in poly for letter, _ in monomial}
        return frozenset[str]().union(*(self.variables[x] for x in letters))

    def degree(self, poly: Iterable[Monomial]) -> int:
        """A bound on the degree of a combination of monomials, cleared of denominators."""
        up, down = 0, dict[int, int]()
        for monomial in poly:
            for letter, power in monomial:
                if power < 0:
                    down[letter] = max(down.get(letter, 0), -power)
        below = sum(self.degrees[x] * power for x, power in down.items())
        for monomial in poly:
            up = max(up, sum(self.degrees[x] * power for x, power in monomial if power > 0))
        return up + below
