from __future__ import annotations

import math

import pytest
from hypothesis import assume
from hypothesis import given
from hypothesis import strategies as st

from superopt.report.correlation import ranks
from superopt.report.correlation import spearman

values = st.lists(st.integers(-20, 20).map(float), min_size=2, max_size=12)


def test_ties_share_the_mean_of_their_ranks():
    assert ranks([5.0, 1.0, 5.0, 5.0, 9.0]) == [3.0, 1.0, 3.0, 3.0, 5.0]
    assert ranks([]) == []


def test_a_known_correlation():
    """The textbook example of the coefficient: 1 - 6 * 194 / (10 * 99)."""
    iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
    hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
    assert spearman(iq, hours) == pytest.approx(-29 / 165)


def test_a_known_correlation_with_ties():
    """Pearson's coefficient of the ranks 1, 2.5, 2.5, 4 and 2, 1, 3.5, 3.5."""
    assert spearman([1, 2, 2, 3], [5, 4, 9, 9]) == pytest.approx(2.25 / 4.5)


@pytest.mark.parametrize("pair", [([], []), ([1.0], [2.0]), ([1.0, 1.0], [1.0, 2.0])])
def test_where_there_is_none(pair):
    assert spearman(*pair) is None


def test_unpaired_values_are_refused():
    with pytest.raises(ValueError, match="2 values on one side, 1 on the other"):
        spearman([1.0, 2.0], [1.0])


@given(values, st.randoms())
def test_only_the_order_counts(left, random):
    right = random.sample(left, len(left))
    assume(len(set(left)) > 1)
    found = spearman(left, right)
    assert -1.0 - 1e-12 <= found <= 1.0 + 1e-12
    assert spearman(right, left) == pytest.approx(found)
    assert spearman([math.exp(v) for v in left], right) == pytest.approx(found)
    assert spearman([-v for v in left], right) == pytest.approx(-found)
    assert spearman(left, [3 * v + 1 for v in left]) == pytest.approx(1.0)
