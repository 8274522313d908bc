from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.scalar import Fn

D = FloatDomain(np.float64)
NAN, INF = math.nan, math.inf


@given(st.integers(0, 2**31), st.lists(st.tuples(*[st.sampled_from("lrb")] * 1), max_size=3))
def test_contract_is_a_fold_of_a_product(seed, kinds):
    """Every mix of dimensions: in the left factor, in the right, in both; fold dim anywhere."""
    rng = np.random.default_rng(seed)
    kinds = [k for (k,) in kinds]
    dim = int(rng.integers(len(kinds) + 1))
    kinds.insert(dim, str(rng.choice(list("lrb"))))
    full = rng.integers(0, 4, len(kinds))
    shapes = [
        tuple(1 if k == skip else n for k, n in zip(kinds, full, strict=True)) for skip in "rl"
    ]
    left, right = (rng.normal(size=s) for s in shapes)
    expected = (left * right).sum(axis=dim)
    got = D.contract(left, right, dim)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_contract_of_integers_is_exact():
    big = np.array([2**40, 3], np.int64)
    assert D.contract(big, big, 0) == 2**80 % 2**64 + 9
    assert D.contract(big, big, 0).dtype == np.int64


def test_nan_is_propagated_by_max_and_min():
    x = np.array([1.0, NAN, 3.0])
    for fn in (Fn.MAX, Fn.MIN):
        assert np.isnan(D.fold(fn, x, 0))
        assert np.isnan(D.apply(fn, [x[1:2], x[:1]])[0])


def test_infinities_follow_ieee_without_warnings():
    inf = np.array([INF])
    assert np.isnan(D.apply(Fn.SUB, [inf, inf])[0])
    assert D.apply(Fn.EXP, [-inf])[0] == 0
    assert D.apply(Fn.DIV, [np.array([1.0]), np.array([0.0])])[0] == INF
    assert np.isnan(D.apply(Fn.LOG, [np.array([-1.0])])[0])
    assert list(D.apply(Fn.SIGMOID, [np.array([-1e4, 0.0, 1e4])])) == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("fn", [f for f in Fn if f.is_fold], ids=lambda f: f.symbol)
def test_a_fold_of_nothing_is_the_unit(fn):
    assert D.fold(fn, np.zeros((3, 0)), 1).tolist() == [float(fn.unit)] * 3


def test_integers_stay_exact_where_the_function_keeps_them():
    first, last = D.integers(0, 3), D.constant(Fraction(2**60))
    assert D.apply(Fn.ADD, [first, last.reshape(1)]).dtype == np.int64
    assert D.apply(Fn.DIV, [first, last.reshape(1)]).dtype == np.float64
    assert D.apply(Fn.LE, [first, np.array([1])]).tolist() == [True, True, False]
    half = D.constant(Fraction(1, 2))
    assert D.apply(Fn.MUL, [D.constant(Fraction(3)), half]) == 1.5


@pytest.mark.parametrize("fn", [Fn.RSQRT, Fn.SIGMOID, Fn.ERF, Fn.EXP2, Fn.TANH])
def test_single_precision_is_kept_even_without_dimensions(fn):
    single = FloatDomain(np.float32)
    assert single.apply(fn, [single.array(0.25)]).dtype == np.float32
    assert single.apply(fn, [single.constant(Fraction(1))]).dtype == np.float32


def test_erf_is_exact():
    assert D.apply(Fn.ERF, [np.array([0.3, -2.0])]).tolist() == [math.erf(0.3), math.erf(-2.0)]
