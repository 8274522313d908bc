from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.tune.halving import BEHIND
from superopt.tune.halving import HOPELESS
from superopt.tune.halving import fastest
from superopt.tune.halving import shares
from superopt.tune.halving import survivors
from superopt.tune.record import Figures

TIMES = st.floats(1.0, 1e6)


@given(st.dictionaries(st.integers(), TIMES), st.integers(1, 9), st.integers(1, 9))
def test_survivors_are_the_fastest(us, most, least):
    kept = survivors(us, 1 / 3, most, least)
    assert len(kept) <= most
    assert (len(kept) > 0) == (len(us) > 0)
    assert [us[k] for k in kept] == sorted(us.values())[: len(kept)]
    assert all(us[k] <= HOPELESS * min(us.values()) for k in kept)


@given(
    st.lists(st.tuples(st.one_of(TIMES, st.just(float("inf"))), st.integers(0, 20)), max_size=6),
    st.integers(0, 40),
)
def test_shares_go_to_structures_in_front_and_are_what_is_left(pairs, trials):
    best, left = [b for b, _ in pairs], [n for _, n in pairs]
    found = shares(best, left, trials)
    leader = min(best, default=float("inf"))
    assert sum(found) <= trials
    assert all(n <= have for n, have in zip(found, left, strict=True))
    assert all(n == 0 or us <= BEHIND * leader for n, us in zip(found, best, strict=True))
    front = sum(n for n, us in zip(left, best, strict=True) if us <= BEHIND * leader)
    assert sum(found) == min(trials, front)


def test_structures_without_a_time_share_equally():
    inf = float("inf")
    assert shares([inf, inf, inf], [9, 9, 9], 8) == [3, 3, 2]
    assert shares([inf, 2.0], [9, 9], 4) == [0, 4]


def test_between_times_within_the_spread_the_model_decides():
    figures = {
        "slow": Figures(11.0, 10.9, 11.1, 9),
        "close": Figures(10.1, 9.9, 10.3, 9),
        "first": Figures(10.0, 9.9, 10.2, 9),
    }
    assert fastest(figures, {"first": 3.0, "close": 2.0, "slow": 1.0}) == "close"
    assert fastest(figures, {"first": 2.0, "close": 2.0, "slow": 1.0}) == "first"
    with pytest.raises(ValueError, match="empty"):
        fastest({}, {})
