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

AT = Input("at", ("m",), "int32")
X, W, B = Input("x", ("m", "n")), Input("w", ("n",)), Input("b", ("n",))
x, w, b = Tensor(X), Tensor(W), Tensor(B)


def value_of(tensor: Tensor, values: np.ndarray) -> np.ndarray:
    program = Program("p", (X, W, B), (Store("out", tensor.axes, None, tensor.node),))
    m, n = values.shape
    given_arrays = {"x": values, "w": np.linspace(1, 2, n), "b": np.linspace(-1, 1, n)}
    sizes = {"m": m, "n": n, "n_first": 1, "t": 2}
    return evaluate_program(program, FloatDomain(np.float64), given_arrays, sizes)["out"]


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


@given(masked_rows, st.data())
def test_gather_reads_one_position_or_nothing(values, data):
    m, n = values.shape
    at = np.array(data.draw(st.lists(st.integers(-1, n), min_size=m, max_size=m)))
    node = library.gather(x, Tensor(AT), "n").node
    program = Program("p", (X, AT), (Store("out", ("m",), None, node),))
    arrays, sizes = {"x": values, "at": at}, {"m": m, "n": n}
    got = evaluate_program(program, FloatDomain(np.float64), arrays, sizes)["out"]
    want = [row[i] if 0 <= i < n else 0 for row, i in zip(values, at, strict=True)]
    np.testing.assert_array_equal(got, want)


@given(masked_rows)
def test_argmax_is_the_lowest_position(values):
    np.testing.assert_array_equal(value_of(library.argmax(x, "n"), values), values.argmax(1))


def test_argmax_of_a_row_with_nan_is_none_of_its_positions():
    values = np.array([[1.0, math.nan, 3.0], [-math.inf, -math.inf, -math.inf]])
    assert value_of(library.argmax(x, "n"), values).tolist() == [3, 0]


@given(masked_rows)
def test_top_k_is_a_stable_sort(values):
    best, places = library.top_k(x, "n", 2, "t")
    order = np.argsort(-values, axis=1, kind="stable")[:, :2]
    missing = ((0, 0), (0, 2 - order.shape[1]))
    wanted = np.pad(order, missing, constant_values=values.shape[1])
    np.testing.assert_array_equal(value_of(places, values), wanted)
    sorted_values = np.take_along_axis(values, order, 1)
    wanted = np.pad(sorted_values, missing, constant_values=-math.inf)
    np.testing.assert_array_equal(value_of(best, values), wanted)
    smallest, _ = library.bottom_k(x, "n", 2, "t")
    wanted = np.pad(np.sort(values, 1)[:, :2], missing, constant_values=math.inf)
    np.testing.assert_array_equal(value_of(smallest, values), wanted)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("k is a literal", lambda: library.top_k(x, "n", x.max("m", "n"), "t")),
        ("no positive whole number", lambda: library.top_k(x, "n", 0, "t")),
        ("no axis 'k' to rank", lambda: library.top_k(x, "k", 2, "t")),
        ("has axis 'm' already", lambda: library.top_k(x, "n", 2, "m")),
        ("top_k ranks reals", lambda: library.top_k(Tensor(AT), "m", 2, "t")),
    ],
)
def test_top_k_says_what_it_does_not_take(message, call):
    with pytest.raises(SpecError, match=message):
        call()


def test_gather_takes_positions_of_another_axis():
    with pytest.raises(SpecError, match="whole numbers as positions"):
        library.gather(x, w, "n")
    with pytest.raises(SpecError, match="vary over 'n' itself"):
        library.gather(x, Tensor(Input("at", ("n",), "int32")), "n")


def test_gather_says_what_it_reads_from():
    with pytest.raises(SpecError, match="no axis 'n' to gather on; the tensor has 'm'"):
        library.gather(x.max("n"), Tensor(AT), "n")
    with pytest.raises(SpecError, match="gather takes numbers; write"):
        library.gather(x > 0, Tensor(AT), "n")


def test_gather_at_a_constant_position():
    np.testing.assert_array_equal(value_of(library.gather(x, 1, "n"), np.eye(3)), [0, 1, 0])
