from __future__ import annotations

from fractions import Fraction

from superopt.repair.guard import Regions
from superopt.repair.guard import neutral
from superopt.repair.guard import regular_form
from superopt.ugraph.carry import Carry
from superopt.ugraph.node import Index
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from tests.repair.cases import MASKED
from tests.repair.cases import U
from tests.repair.cases import X
from tests.repair.cases import absolute
from tests.repair.cases import square
from tests.samples import NEG_INF
from tests.samples import div
from tests.samples import eq
from tests.samples import exp
from tests.samples import finite
from tests.samples import mul
from tests.samples import num
from tests.samples import sub
from tests.samples import where

TOP = Carry("m", ("m",), Fn.MAX, MASKED)
SUM = Carry("l", ("m",), Fn.ADD, exp(sub(MASKED, finite(TOP.state))))


def test_the_unit_of_a_masked_maximum_is_reached_by_masked_positions():
    (point,) = Regions([TOP]).points
    assert (point.value, point.seen, point.empty) == (-INF, MASKED, False)


def test_the_unit_of_a_plain_maximum_means_that_nothing_was_absorbed():
    (point,) = Regions([Carry("m", ("m",), Fn.MAX, X)]).points
    assert point.empty


def test_a_sum_is_at_a_point_only_if_it_is_one_of_squares_or_ones():
    assert Regions([Carry("s", ("m",), Fn.ADD, X)]).points == []
    (square_,) = Regions([Carry("s", ("m",), Fn.ADD, square(X))]).points
    assert (square_.value, square_.seen, square_.empty) == (0, X, False)
    ones = where(eq(Index("n"), num(-1)), num(2), num(1))
    (count,) = Regions([Carry("c", (), Fn.ADD, ones)]).points
    assert count.empty


def test_a_denominator_is_positive_where_the_maximum_is_attained():
    regions = Regions([TOP, SUM])
    assert regions.regular[SUM.state].positive
    assert not regions.anywhere[SUM.state].positive
    (point,) = regions.points
    assert regions.at_point(point, old=True, new=False)[SUM.old].point == 0


def test_neutral_is_said_of_what_was_absorbed():
    (point,) = Regions([TOP]).points
    assert neutral(mul(exp(MASKED), X), point, Fn.ADD, Fn.MUL) == 0
    assert neutral(X, point, Fn.ADD, Fn.MUL) is None
    assert neutral(MASKED, point, Fn.MAX, Fn.ADD) == -INF
    zero = Regions([Carry("a", ("m",), Fn.MAX, absolute(X))]).points[1]
    assert neutral(mul(X, U), zero, Fn.ADD, Fn.MUL) == 0


def test_conditions_are_spelled_as_the_user_spells_them():
    (point,) = Regions([TOP]).points
    plain, flipped = eq(TOP.state, NEG_INF), eq(NEG_INF, TOP.state)
    assert point.condition([where(plain, X, X)], old=False) is plain
    assert point.condition([where(flipped, X, X)], old=False) is flipped
    assert point.condition([where(flipped, X, X)], old=True) is eq(NEG_INF, TOP.old)


def test_choices_that_mix_are_resolved_off_the_points():
    points = Regions([TOP]).points
    mixed = where(eq(TOP.state, NEG_INF), num(0), sub(X, TOP.state))
    assert regular_form(mixed, "n", points) == (sub(X, TOP.state), points)
    alone = div(X, finite(TOP.state))
    assert regular_form(alone, "n", points) == (alone, [])
    other = where(eq(TOP.state, num(Fraction(1, 2))), X, U)
    assert regular_form(other, "n", points) == (other, [])
