"""The unknowns of a proof: leaves, exponentials, roots and opaque functions, with what each means.

Exponentials are split into atoms, ``exp(a - b) = E_a * E_b ** -1``, so that laws of
exponentials become identities of polynomials. All of them are powers of 2; the natural
exponential of ``x`` is that of ``x * LOG2E``.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from fractions import Fraction

from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.verify.reals.poly import ONE
from superopt.verify.reals.poly import Monomial
from superopt.verify.reals.poly import Poly
from superopt.verify.reals.poly import Ratio
from superopt.verify.reals.poly import atom
from superopt.verify.reals.poly import poly


@dataclass(frozen=True)
class Leaf:
    """A finite real, the value of a node."""

    node: Node


@dataclass(frozen=True)
class Power:
    """``2 ** exponent``, for one monomial over a denominator; positive."""

    exponent: Ratio


@dataclass(frozen=True)
class Root:
    """The nonnegative square root of a nonnegative value."""

    of: Ratio


@dataclass(frozen=True)
class Log2:
    """The binary logarithm of a positive value."""

    of: Ratio


@dataclass(frozen=True)
class Quotient:
    """A value over a denominator that is no number (only in exponents)."""

    of: Ratio


@dataclass(frozen=True)
class Opaque:
    """A function of which only bounds are used: equal arguments give equal values."""

    fn: Fn
    of: Ratio


@dataclass(frozen=True)
class Irrational:
    """A named constant."""

    name: Constant


Atom = Leaf | Power | Root | Log2 | Quotient | Opaque | Irrational


@dataclass
class Atoms:
    """Numbers the atoms of one proof in order of arrival.

    ``exponentials``: every whole exponent that occurred, with its power as a monomial.
    """

    known: list[Atom] = field(default_factory=list)
    index: dict[Atom, int] = field(default_factory=dict)
    positive: set[int] = field(default_factory=set)
    exponentials: dict[Ratio, Monomial] = field(default_factory=dict)

    def number(self, what: Atom) -> int:
        """The index of an atom; new ones get the next."""
        if what not in self.index:
            self.index[what] = len(self.known)
            if isinstance(what, Power | Irrational):
                self.positive.add(len(self.known))
            self.known.append(what)
        return self.index[what]

    def value(self, what: Atom) -> Ratio:
        """An atom as a value."""
        return Ratio(atom(self.number(what)))

    def log2e(self, power: int = 1) -> Ratio:
        """``LOG2E`` to a power (``LN2`` is its inverse)."""
        return Ratio(atom(self.number(Irrational(Constant.LOG2E)), power))

    def power(self, exponent: Ratio) -> Ratio:
        """``2 ** exponent`` as a monomial of atoms."""
        monomial: dict[int, int] = {}
        for part, coefficient in exponent.top.terms:
            whole, root = coefficient.numerator, coefficient.denominator
            index = self.number(Power(Ratio(poly([(part, Fraction(1, root))]), exponent.bottom)))
            monomial[index] = monomial.get(index, 0) + whole
        found = tuple(sorted((i, p) for i, p in monomial.items() if p))
        if exponent.top.constant is None:
            self.exponentials.setdefault(exponent, found)
        return Ratio(Poly(((found, Fraction(1)),)))

    def logarithm(self, of: Ratio) -> Ratio:
        """The binary logarithm of a positive value: an exponent, if it is a power."""
        match of.top.terms, of.bottom:
            case ((monomial, coefficient),), bottom if coefficient == 1 and bottom == ONE:
                parts = [(self.known[i], p) for i, p in monomial]
                if all(isinstance(a, Power) for a, _ in parts):
                    found = Ratio(poly([]))
                    for known, power in parts:
                        if isinstance(known, Power):
                            found = found + known.exponent * Ratio(poly([((), Fraction(power))]))
                    return found
            case _:
                pass
        made = self.value(Log2(of))
        self.power(made)
        return made
