from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.verify.reals.poly import ONE
from superopt.verify.reals.poly import ZERO
from superopt.verify.reals.poly import Poly
from superopt.verify.reals.poly import Ratio
from superopt.verify.reals.poly import TooLarge
from superopt.verify.reals.poly import atom
from superopt.verify.reals.poly import number
from superopt.verify.reals.poly import poly

AT = {0: Fraction(2), 1: Fraction(-3, 2), 2: Fraction(5)}


def value(p: Poly) -> Fraction:
    total = Fraction(0)
    for monomial, coefficient in p.terms:
        for index, power in monomial:
            coefficient *= AT[index] ** power
        total += coefficient
    return total


monomials = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 2)), max_size=2).map(
    lambda m: tuple(sorted(dict(m).items()))
)
polys = st.lists(st.tuples(monomials, st.fractions(-3, 3, max_denominator=4)), max_size=4).map(poly)


@settings(derandomize=True, deadline=None, max_examples=80)
@given(polys, polys)
def test_arithmetic_is_that_of_values(a: Poly, b: Poly) -> None:
    assert value(a + b) == value(a) + value(b)
    assert value(a - b) == value(a) - value(b)
    assert value(a * b) == value(a) * value(b)
    assert a * b == b * a
    assert a - a == ZERO


def test_negative_exponents_are_cleared() -> None:
    p = atom(0, -2) + atom(1)
    assert p.cleared() == ONE + atom(0, 2) * atom(1)


def test_quotients_by_positive_monomials_are_monomials() -> None:
    x, e = Ratio(atom(0)), Ratio(atom(1))
    assert x.over(e, frozenset({1})) == Ratio(poly([(((0, 1), (1, -1)), Fraction(1))]))
    assert x.over(e, frozenset()).bottom == atom(1)


def test_sums_of_quotients() -> None:
    half = Ratio(number(1), atom(0))
    assert (half + half).top == number(2)
    assert (half - half).top == ZERO


def test_size_is_bounded() -> None:
    many = poly([(((i, 1),), Fraction(1)) for i in range(100)])
    with pytest.raises(TooLarge):
        _ = many * many
