"""What polynomials have in common: it moves with a shift and a factor, and leaves one rest."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.verify.field.polynomial import ONE
from superopt.verify.field.polynomial import Poly
from superopt.verify.field.polynomial import added
from superopt.verify.field.polynomial import common_factor
from superopt.verify.field.polynomial import common_shift
from superopt.verify.field.polynomial import times
from superopt.verify.field.primes import rooted

LETTERS = [ONE, ((0, 1),), ((1, 1),), ((0, 1), (1, 2))]
smooth = st.sampled_from([Fraction(1), Fraction(2), Fraction(3, 5), Fraction(9, 4)])
polynomials = st.lists(
    st.dictionaries(st.sampled_from(LETTERS), st.integers(1, 40).map(Fraction), max_size=3),
    min_size=1,
    max_size=4,
)


def everything(letter: int) -> bool:
    return True


def nothing(letter: int) -> bool:
    return False


@given(polynomials, st.integers(-9, 9).map(Fraction))
def test_a_shift_moves_what_is_common(members, c):
    shift: Poly = {LETTERS[1]: c} if c else {}
    moved = [added(poly, shift) for poly in members]
    assert common_shift(moved) == added(common_shift(members), shift)


@given(polynomials, smooth)
def test_a_factor_moves_what_is_common(members, c):
    if not any(members):
        return
    ((monomial, number),) = common_factor(members, everything).items()
    scaled = common_factor([times(poly, c) for poly in members], everything)
    assert scaled == {monomial: number * c}


def test_only_positive_letters_are_taken_out():
    members: list[Poly] = [{((0, 1), (1, 2)): Fraction(2)}, {}]
    assert common_factor(members, nothing) == {ONE: Fraction(2)}
    assert common_factor(members, lambda x: x == 1) == {((1, 2),): Fraction(2)}


def test_a_constant_keeps_a_letter_from_being_common():
    assert common_factor([{((0, 1),): Fraction(2)}, {ONE: Fraction(2)}], everything) == {ONE: 2}
    assert common_factor([{}], everything) == {ONE: Fraction(1)}


@pytest.mark.parametrize(
    ("value", "found"), [(34, 2), (Fraction(17, 4), Fraction(1, 4)), (23, 1), (30, 30)]
)
def test_primes_without_roots_stay(value, found):
    assert rooted(Fraction(value)) == found
