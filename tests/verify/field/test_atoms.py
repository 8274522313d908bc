"""Exponents as integer combinations of atoms, in order of private variables or together."""

from __future__ import annotations

import pytest

from superopt.verify.field.atoms import analysed
from superopt.verify.field.exponents import Exponent
from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.terms import Term
from superopt.verify.field.terms import Terms
from superopt.verify.field.toohard import TooHardError

T = Terms()
X, Y, Z = (T.term(Term("input", (), name)) for name in "xyz")
INVERSE = T.inverse(T.add(T.add(X, Y), Z))


def exponents(*terms: int) -> list[Exponent]:
    return list(analysed(Polynomials(T, {}), terms).values())


def degrees(found: list[Exponent]) -> set[int]:
    return {atom.degree for e in found for atom, _ in e.atoms}


def test_private_inputs_are_atoms_of_degree_one():
    found = exponents(T.add(X, Z), T.add(Y, Z))
    assert degrees(found) == {1}
    assert [len(e.atoms) for e in found] == [2, 2]


def test_shares_are_atoms_together_but_for_the_last():
    """The last one is 1 minus the others; the degree of a few is the product of theirs, twice."""
    found = exponents(*(T.mul(a, INVERSE) for a in (X, Y, Z)))
    atoms = {atom for e in found for atom, _ in e.atoms}
    assert len(atoms) == 3
    assert sorted(abs(c) for e in found for _, c in e.atoms) == [1] * 5
    assert degrees(found) == {1, 2 * 2 * 2}


def test_a_function_of_the_others_has_no_place():
    with pytest.raises(TooHardError, match="depend on one another"):
        exponents(X, T.mul(X, X))
