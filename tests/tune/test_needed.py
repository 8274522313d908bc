"""Which positions of a value are needed."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from superopt.tune.needed import needed
from superopt.tune.needed import positional
from superopt.tune.needed import share
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Fn

X = Input("x", ("m", "n"))
LENGTHS = Input("length", ("m",), "int32")
BELOW = Map(Fn.LE, (Index("n"), Index("m")))
SHORT = Map(Fn.LT, (Index("n"), LENGTHS))
POSITIVE = Map(Fn.LT, (Const(Fraction(0)), X))
ZERO = Const(Fraction(0))


def masked_sum(condition):
    value = Reduce(Fn.ADD, "n", Map(Fn.WHERE, (condition, X, ZERO)))
    return Program("f", (X, LENGTHS), (Store("out", ("m",), None, value),))


def test_what_a_mask_hides_is_not_needed():
    assert needed(masked_sum(BELOW))[X] is BELOW
    assert needed(masked_sum(SHORT))[X] is SHORT


def test_a_mask_of_data_hides_nothing():
    assert needed(masked_sum(POSITIVE))[X] is True
    assert needed(masked_sum(Map(Fn.AND, (BELOW, POSITIVE))))[X] is BELOW


def test_what_conditions_say_of_data_is_dropped():
    assert positional(Map(Fn.AND, (BELOW, POSITIVE))) is BELOW
    assert positional(Map(Fn.OR, (BELOW, POSITIVE))) is True
    assert positional(Map(Fn.NOT, (POSITIVE,))) is True
    assert positional(False) is False


@given(
    m=st.integers(1, 6),
    n=st.integers(1, 6),
    lengths=st.lists(st.integers(0, 7), min_size=6, max_size=6),
)
def test_shares_by_counting(m, n, lengths):
    sizes, values = {"m": m, "n": n}, {"length": np.array(lengths[:m])}
    seen = {(i, j) for i, j in product(range(m), range(n)) if j <= i and j < lengths[i]}
    both = Map(Fn.AND, (BELOW, SHORT))
    assert share(both, ("m", "n"), sizes, values) == len(seen) / (m * n)
    assert share(both, ("n",), sizes, values) == len({j for _, j in seen}) / n
    assert share(both, ("m",), sizes, values) == len({i for i, _ in seen}) / m


def test_a_condition_on_what_is_not_given_is_taken_to_hold():
    assert share(SHORT, ("m", "n"), {"m": 3, "n": 3}, {}) == 1.0
    assert share(True, ("m",), {"m": 3}, {}) == 1.0
    assert share(False, ("m",), {"m": 3}, {}) == 0.0


def test_a_scalar_in_a_condition():
    condition = Map(Fn.LT, (Index("n"), Scalar("length", "int32")))
    assert share(condition, ("n",), {"n": 40}, {"length": 30}) == 0.75


def test_where_an_exists_cannot_be_thinned_out_nothing_is_claimed():
    sizes = {"m": 100, "n": 1000}
    assert share(BELOW, ("n",), sizes, {}) == 0.1
    assert share(BELOW, ("n",), sizes, {}, most=50) == 1.0
    assert 0 < share(BELOW, ("m", "n"), sizes, {}, most=500) < 0.1
