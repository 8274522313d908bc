from __future__ import annotations

from fractions import Fraction

from superopt.ugraph.node import Scalar
from superopt.verify.reals.atoms import Atoms
from superopt.verify.reals.atoms import Leaf
from superopt.verify.reals.poly import Ratio
from superopt.verify.reals.poly import number


def test_exponents_add() -> None:
    atoms = Atoms()
    a, b = (atoms.value(Leaf(Scalar(n))) for n in "ab")
    assert atoms.power(a + b) == atoms.power(a) * atoms.power(b)
    assert atoms.power(a - a) == Ratio(number(1))


def test_rational_exponents_are_powers_of_a_root() -> None:
    atoms = Atoms()
    half = atoms.value(Leaf(Scalar("a"))) * Ratio(number(Fraction(1, 2)))
    assert (atoms.power(half) * atoms.power(half)).top.terms[0][0][0][1] == 2


def test_the_logarithm_of_a_power_is_its_exponent() -> None:
    atoms = Atoms()
    a, b = (atoms.value(Leaf(Scalar(n))) for n in "ab")
    assert atoms.logarithm(atoms.power(a - b)) == a - b


def test_atoms_are_numbered_in_order_of_arrival() -> None:
    atoms = Atoms()
    assert [atoms.number(Leaf(Scalar(n))) for n in "xyx"] == [0, 1, 0]
