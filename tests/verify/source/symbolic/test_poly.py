"""Polynomials compute what their terms say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.poly import number

NAMES = ("a", "b", "c")
numbers = st.integers(-5, 5)
places = st.fixed_dictionaries(dict.fromkeys(NAMES, numbers))


@st.composite
def some(draw) -> Poly:
    total = ZERO
    for _ in range(draw(st.integers(0, 3))):
        term = number(draw(numbers))
        for name in draw(st.lists(st.sampled_from(NAMES), max_size=2)):
            term = term * atom(name)
        total = total + term
    return total


def at(poly, place):
    total = 0
    for monomial, coefficient in poly.terms:
        for name in monomial:
            coefficient *= place[name]
        total += coefficient
    return total


@given(some(), some(), places)
def test_sums_and_products_are_those_of_values(p, q, place):
    assert at(p + q, place) == at(p, place) + at(q, place)
    assert at(p - q, place) == at(p, place) - at(q, place)
    assert at(p * q, place) == at(p, place) * at(q, place)


@given(some(), some(), places)
def test_substitution_puts_a_value_in_the_place_of_an_atom(p, q, place):
    assert at(p.substitute({"a": q}), place) == at(p, {**place, "a": at(q, place)})


@given(some(), some())
def test_an_exact_quotient_times_the_divisor_is_the_dividend(p, q):
    quotient = p.divided(q)
    if quotient is not None:
        assert quotient * q == p
    for name in NAMES:
        assert (p * atom(name)).divided(atom(name)) == p


@given(some())
def test_coefficients_and_the_rest_are_the_whole_of_what_is_linear(p):
    if all(m.count("a") < 2 for m, _ in p.terms):
        assert p.coefficient("a") * atom("a") + p.without("a") == p


def test_a_number_and_an_atom_are_known_as_such():
    assert (ONE + ONE).constant == 2
    assert ZERO.constant == 0
    assert atom("a").constant is None
    assert atom("a").atom == "a"
    assert atom("a").times(2).atom is None
    assert str(atom("a").times(-2) + ONE) == "1 - 2*a"
