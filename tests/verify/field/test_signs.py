"""Outcomes of pairs: every combination once, opposite differences together."""

from __future__ import annotations

from fractions import Fraction

import pytest

from superopt.verify.field.polynomial import PolyKey
from superopt.verify.field.signs import MOST_SIGNS
from superopt.verify.field.signs import Signs
from superopt.verify.field.toohard import TooHardError


def difference(letter: int, c: int = 1) -> PolyKey:
    return ((((letter, 1),), Fraction(c)),)


def outcomes(ask) -> list[object]:
    found = []
    now: Signs | None = Signs()
    while now is not None:
        found.append(ask(now))
        now = now.next()
    return found


def test_every_combination_comes_once():
    found = outcomes(lambda s: tuple(s.of(0, difference(x)) for x in (1, 2, 3)))
    assert len(found) == len(set(found)) == 8


def test_nothing_that_is_asked_is_one_outcome():
    assert outcomes(lambda s: s.of(0, ())) == [1]


def test_a_question_may_depend_on_an_answer():
    def ask(signs: Signs) -> tuple[int, ...]:
        first = signs.of(0, difference(1))
        return (first,) if first < 0 else (first, signs.of(0, difference(2)))

    assert outcomes(ask) == [(1, 1), (1, -1), (-1,)]


def test_the_opposite_difference_has_the_opposite_sign():
    found = outcomes(lambda s: (s.of(0, difference(1)), s.of(0, difference(1, -1))))
    assert found == [(1, -1), (-1, 1)]


def test_levels_have_signs_of_their_own():
    assert len(outcomes(lambda s: [s.of(level, difference(1)) for level in (0, 1)])) == 4


def test_too_many_are_refused():
    signs = Signs()
    for x in range(MOST_SIGNS):
        signs.of(0, difference(x))
    with pytest.raises(TooHardError, match="pairs are compared"):
        signs.of(0, difference(MOST_SIGNS))
