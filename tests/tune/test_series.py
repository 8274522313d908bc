"""Medians, quartiles and ratios of neighbours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.tune.series import Series
from superopt.tune.series import paced
from superopt.tune.series import quartiles
from superopt.tune.series import ratio

TIMES = st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=40)


def test_figures_are_median_and_quartiles():
    found = Series("a", (5.0, 1.0, 3.0, 2.0, 4.0)).figures
    assert (found.us, found.low, found.high, found.rounds) == (3.0, 2.0, 4.0, 5)


def test_one_round_has_no_spread():
    assert quartiles([7.0]) == (7.0, 7.0, 7.0)


@given(TIMES)
def test_quartiles_are_in_order_and_in_range(times):
    low, middle, high = quartiles(times)
    assert min(times) <= low <= middle <= high <= max(times)


@given(TIMES, st.floats(0.5, 2.0), st.floats(1.0, 1.2))
def test_a_ratio_of_neighbours_does_not_see_the_clock_drift(times, factor, drift):
    """Both slow down from round to round; medians of each alone would still be comparable, but a
    ratio of one round is right in every single round."""
    heated = [t * drift**i for i, t in enumerate(times)]
    ours = Series("ours", tuple(heated))
    peer = Series("peer", tuple(factor * t for t in heated))
    found = ratio(peer, ours)
    assert found.median == pytest.approx(factor)
    assert found.low == pytest.approx(factor)
    assert found.high == pytest.approx(factor)


def test_ratios_use_the_same_round():
    ours, peer = Series("a", (1.0, 10.0, 100.0)), Series("b", (30.0, 5.0, 120.0))
    found = ratio(peer, ours)
    assert found.median == pytest.approx(1.2)  # of 30, 0.5 and 1.2; medians alone would say 3
    assert found.low == pytest.approx(0.85)


def test_what_failed_has_no_figures():
    with pytest.raises(ValueError, match="b has no figures: out of memory"):
        _ = Series("b", (), "out of memory").figures
    with pytest.raises(ValueError, match="only figures of the same rounds"):
        ratio(Series("a", (1.0,)), Series("b", (), "out of memory"))


@given(st.lists(st.floats(1.0, 9.0), min_size=1, max_size=9), st.floats(0.5, 2.0))
def test_a_pace_takes_the_drift_out(drift, factor):
    pace = Series("pace", tuple(10.0 * d for d in drift))
    other = Series("other", tuple(10.0 * factor * d for d in drift))
    found = paced(other, pace, 7.0)
    assert (found.us, found.low, found.high) == pytest.approx((7.0 * factor,) * 3)
    assert found.rounds == len(drift)
