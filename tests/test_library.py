"""Library functions against independent ones, and on rows that are masked."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from superopt import library
from superopt.errors import SpecError
from superopt.tensor import Tensor
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input

X, W, B = Input("x", ("m", "n")), Input("w", ("n",)), Input("b", ("n",))
x, w, b = Tensor(X), Tensor(W), Tensor(B)


def value_of(tensor: Tensor, values: np.ndarray) -> np.ndarray:
    program = Program("p", (X, W, B), (Store("out", tensor.axes, None, tensor.node),))
    m, n = values.shape
    given_arrays = {"x": values, "w": np.linspace(1, 2, n), "b": np.linspace(-1, 1, n)}
    return evaluate_program(program, FloatDomain(np.float64), given_arrays, {"m": m, "n": n})["out"]


finite = st.floats(-1e3, 1e3)
rows = arrays.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=finite)
masked_rows = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 6)),
    elements=finite | st.just(-math.inf),
)


@given(masked_rows)
def test_softmax_is_a_distribution_or_zero(values):
    got = value_of(library.softmax(x, "n"), values)
    masked = np.isneginf(values).all(1)
    assert (got >= 0).all()
    assert (got[np.isneginf(values)] == 0).all()
    np.testing.assert_allclose(got.sum(1), np.where(masked, 0, 1), rtol=1e-12)


@given(masked_rows)
def test_logsumexp_and_log_softmax_follow_softmax(values):
    lse = value_of(library.logsumexp(x, "n"), values)
    want = [_lse(row) for row in values]
    np.testing.assert_allclose(lse, want, rtol=1e-12)
    with np.errstate(divide="ignore"):
        soft = value_of(library.softmax(x, "n"), values)
        logs = value_of(library.log_softmax(x, "n"), values)
        np.testing.assert_allclose(np.exp(logs), soft, rtol=1e-9, atol=1e-300)


def _lse(row: np.ndarray) -> float:
    top = max(row)
    return top if math.isinf(top) else top + math.log(sum(math.exp(v - top) for v in row))


@given(rows)
def test_norms(values):
    n = values.shape[1]
    weight, bias = np.linspace(1, 2, n), np.linspace(-1, 1, n)
    square = np.mean(values**2, axis=1, keepdims=True)
    rms = values / np.sqrt(square + 1e-6)
    np.testing.assert_allclose(value_of(library.rms_norm(x, "n"), values), rms, rtol=1e-10)
    got = value_of(library.rms_norm(x, "n", w, eps=1e-6), values)
    np.testing.assert_allclose(got, rms * weight, rtol=1e-10)
    spread = np.var(values, axis=1, keepdims=True)
    centred = values - values.mean(1, keepdims=True)
    layer = centred / np.sqrt(spread + 1e-5)
    close = {"rtol": 1e-8, "atol": 1e-8}
    np.testing.assert_allclose(value_of(library.layer_norm(x, "n"), values), layer, **close)
    got = value_of(library.layer_norm(x, "n", w, b), values)
    np.testing.assert_allclose(got, layer * weight + bias, **close)
    np.testing.assert_allclose(value_of(library.var(x, "n"), values), spread[:, 0], **close)
    length = np.maximum(np.sqrt(np.sum(values**2, axis=1, keepdims=True)), 1e-12)
    np.testing.assert_allclose(value_of(library.l2_normalize(x, "n"), values), values / length)


@given(rows)
def test_activations(values):
    erf = np.vectorize(math.erf)
    gelu = values * (1 + erf(values / math.sqrt(2))) / 2
    close = {"rtol": 1e-10, "atol": 1e-12}
    np.testing.assert_allclose(value_of(library.gelu(x), values), gelu, **close)
    approximate = value_of(library.gelu(x, approximate="tanh"), values)
    np.testing.assert_allclose(approximate, gelu, rtol=1e-2, atol=1e-3)
    with np.errstate(over="ignore"):
        silu = values / (1 + np.exp(-values))
    np.testing.assert_allclose(value_of(library.silu(x), values), silu, **close)
    np.testing.assert_array_equal(value_of(library.relu(x), values), np.maximum(values, 0))


def test_gelu_knows_its_approximations():
    with pytest.raises(SpecError, match=r"test_library\.py:\d+: approximate='sigmoid' is unknown"):
        library.gelu(x, approximate="sigmoid")
