from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.errors import IllTyped
from superopt.ugraph.carry import Carry
from superopt.ugraph.evaluate import evaluate_kernels
from superopt.ugraph.evaluate import evaluate_launch
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from tests.samples import attention
from tests.samples import attention_delayed
from tests.samples import exp
from tests.samples import lora
from tests.samples import mul
from tests.samples import num
from tests.samples import online_attention
from tests.samples import rms_linear
from tests.samples import rms_linear_one_walk
from tests.samples import row_softmax
from tests.samples import sub
from tests.samples import total
from tests.samples import two_pass_softmax
from tests.samples import where

D = FloatDomain(np.float64)
TILES = Config((("m", 2), ("n", 4), ("k", 4), ("d", 4), ("e", 4)))


def random_arrays(program, sizes, seed=0):
    rng = np.random.default_rng(seed)
    return {
        p.name: rng.normal(size=[sizes[a] for a in p.order])
        for p in program.params
        if isinstance(p, Input)
    }


def torch_attention(arrays, causal):
    """An independent formula; rows without any key give 0."""
    q, k, v = arrays["q"], arrays["k"], arrays["v"]
    s = np.einsum("bhmd,bhnd->bhmn", q, k) / np.sqrt(q.shape[-1])
    if causal:
        s = np.where(np.tri(q.shape[2], k.shape[2], dtype=bool), s, -np.inf)
    top = s.max(-1, keepdims=True, initial=-np.inf)
    e = np.exp(s - np.where(np.isinf(top), 0, top))
    norm = e.sum(-1, keepdims=True)
    return np.einsum("bhmn,bhne->bhme", e / np.where(norm == 0, 1, norm), v)


SHAPES = [(5, 7), (5, 1), (1, 9), (6, 4), (3, 0), (0, 3), (9, 16)]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_attention_in_every_form_is_the_formula(causal, m, n):
    sizes = {"b": 2, "h": 1, "m": m, "n": n, "d": 3, "e": 2}
    program = attention(causal)
    arrays = random_arrays(program, sizes)
    expected = torch_attention(arrays, causal)
    for form in (program, attention_delayed(causal)):
        got = evaluate_program(form, D, arrays, sizes)["out"]
        np.testing.assert_allclose(got, expected, atol=1e-12)
    rolling = evaluate_kernels(online_attention(causal), D, arrays, sizes, [TILES])
    np.testing.assert_allclose(rolling["out"], expected, atol=1e-12)
    for parts in (1, 2, 3, 8):  # 8: more parts than tiles, so some are empty
        configs = [replace(TILES, parts=parts), TILES]
        got = evaluate_kernels(online_attention(causal, split=True), D, arrays, sizes, configs)
        np.testing.assert_allclose(got["out"], expected, atol=1e-12)


def test_two_walks_and_a_store_inside_the_second():
    for m, n in [(5, 7), (1, 1), (3, 4), (2, 0), (0, 2)]:
        sizes = {"m": m, "n": n}
        arrays = random_arrays(row_softmax(), sizes)
        expected = evaluate_program(row_softmax(), D, arrays, sizes)["out"]
        graph = two_pass_softmax()
        got = evaluate_kernels(graph, D, arrays, sizes, [TILES])["out"]
        assert got.shape == (m, n)
        np.testing.assert_allclose(got, expected, atol=1e-14)
        backwards = replace(graph.kernels[0].walks[1], reverse=True)
        block = replace(graph.kernels[0], walks=(graph.kernels[0].walks[0], backwards))
        again = evaluate_launch(block, D, arrays, sizes, TILES)["out"]
        np.testing.assert_array_equal(again, got)


def test_two_carries_in_one_walk():
    sizes = {"m": 5, "n": 6, "k": 10}
    arrays = random_arrays(rms_linear(), sizes)
    expected = evaluate_program(rms_linear(), D, arrays, sizes)["out"]
    got = evaluate_kernels(rms_linear_one_walk(), D, arrays, sizes, [TILES])["out"]
    np.testing.assert_allclose(got, expected)


def test_lora_is_the_formula():
    sizes = {"m": 2, "n": 3, "k": 4, "r": 2}
    a = random_arrays(lora(), sizes)
    expected = a["x"] @ a["w"] + (a["x"] @ a["a"]) @ a["b"]
    np.testing.assert_allclose(evaluate_program(lora(), D, a, sizes)["out"], expected)


def test_premature_reads_are_evaluated_as_they_stand():
    """A naive fusion is wrong, and the evaluator must show it."""
    graph = online_attention()
    (walk,) = graph.kernels[0].walks
    naive = replace(walk, carries=tuple(replace(c, moves=()) for c in walk.carries))
    block = replace(graph.kernels[0], walks=(naive,))
    sizes = {"b": 1, "h": 1, "m": 4, "n": 9, "d": 3, "e": 2}
    arrays = random_arrays(attention(), sizes)
    wrong = evaluate_launch(block, D, arrays, sizes, TILES)["out"]
    assert not np.allclose(wrong, torch_attention(arrays, False))


def test_a_wrong_limit_changes_the_result():
    graph = online_attention(causal=True)
    (walk,) = graph.kernels[0].walks
    short = replace(walk, stop=(Bound((("m", 1),), num(0)),))
    block = replace(graph.kernels[0], walks=(short,))
    sizes = {"b": 1, "h": 1, "m": 5, "n": 5, "d": 3, "e": 2}
    arrays = random_arrays(attention(), sizes)
    wrong = evaluate_launch(block, D, arrays, sizes, TILES)["out"]
    assert not np.allclose(wrong, torch_attention(arrays, True))


X = Input("x", ("m", "n"))


def windowed(start, stop):
    walk = Walk("n", (Carry("t", ("m",), Fn.ADD, X),), (), start, stop)
    places = (("m", Grid()), ("n", Loop()))
    store = Store("out", ("m",), None, State("t", ("m",)))
    return BlockGraph(places, (walk,), (store,), (Turn("m"),))


def test_limits_count_at_their_widest_over_the_tile_of_a_program():
    x = np.ones((6, 20))
    length = Scalar("length", "int32")
    block = windowed(
        (Bound((("m", 1),), num(-1)),),
        (Bound((("m", 2),), num(3)), Bound((), Map(Fn.SUB, (length, Size("m"))))),
    )
    arrays = {"x": x, "length": np.asarray(14)}
    got = evaluate_launch(block, D, arrays, {"m": 6, "n": 20}, TILES)["out"]
    # Tiles of m: 0-1, 2-3, 4-5. From: 0, 1, 3. To: 5, 9, 13, but at most 14 - 6.
    assert got.tolist() == [5, 5, 7, 7, 5, 5]


def test_limits_that_leave_nothing_leave_the_unit():
    block = windowed((Bound((), num(7)),), (Bound((("m", -1),), num(2)),))
    got = evaluate_launch(block, D, {"x": np.ones((6, 20))}, {"m": 6, "n": 20}, TILES)["out"]
    assert got.tolist() == [0] * 6


@settings(max_examples=40)
@given(
    m=st.integers(0, 6),
    n=st.integers(0, 12),
    tile=st.sampled_from([1, 2, 4, 16]),
    parts=st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_tiles_and_parts_never_change_the_value(m, n, tile, parts, seed):
    sizes = {"b": 1, "h": 1, "m": m, "n": n, "d": 2, "e": 2}
    arrays = random_arrays(attention(), sizes, seed)
    config = Config((("m", 2), ("n", tile), ("d", 2), ("e", 2)), parts)
    graph = online_attention(causal=True, split=True)
    got = evaluate_kernels(graph, D, arrays, sizes, [config, config])["out"]
    np.testing.assert_allclose(got, torch_attention(arrays, True), atol=1e-12)


def test_intermediates_go_from_kernel_to_kernel_in_memory_order():
    mean = Store("mean", ("m",), "fp32", Map(Fn.DIV, (total("n", X), Size("n"))))
    first = BlockGraph((("m", Grid()), ("n", Loop())), (), (), (Turn("m"),))
    walk = Walk("n", (Carry("t", ("m",), Fn.ADD, X),))
    first = replace(
        first,
        walks=(walk,),
        stores=(replace(mean, value=Map(Fn.DIV, (walk.carries[0].state, Size("n")))),),
    )
    centred = Store("out", ("n", "m"), None, sub(X, mean.as_input()))
    second = BlockGraph((("m", Grid()), ("n", Grid())), (), (centred,), (Turn("m"), Turn("n")))
    graph = KernelGraph("centre", (X,), ("out",), (first, second))
    x = np.random.default_rng(0).normal(size=(3, 5))
    got = evaluate_kernels(graph, D, {"x": x}, {"m": 3, "n": 5}, [TILES, TILES])
    assert list(got) == ["out"]
    np.testing.assert_allclose(got["out"], (x - x.mean(1, keepdims=True)).T, atol=1e-14)


def test_only_the_outputs_asked_for_are_computed():
    y = Input("y", ("m",))
    program = Program(
        "two", (X, y), (Store("a", ("m", "n"), None, exp(X)), Store("b", ("m",), None, exp(y)))
    )
    got = evaluate_program(program, D, {"y": np.zeros(2)}, {"m": 2, "n": 3}, ["b"])
    assert got["b"].tolist() == [1, 1]


def test_the_arm_that_is_not_selected_does_not_matter():
    bad = Map(Fn.LOG, (num(-1),))
    program = Program(
        "w", (), (Store("out", (), None, where(Map(Fn.LT, (num(0), num(1))), num(3), bad)),)
    )
    assert evaluate_program(program, D, {}, {})["out"] == 3


@pytest.mark.parametrize(
    ("arrays", "sizes", "config", "message"),
    [
        ({}, {"m": 2, "n": 3}, TILES, "no array for 'x'"),
        ({"x": np.ones((3, 2))}, {"m": 2, "n": 3}, TILES, r"shape \(3, 2\)"),
        ({"x": np.ones((2, 3))}, {"m": 2}, TILES, "size of axis 'n'"),
        ({"x": np.ones((2, 3))}, {"m": 2, "n": 3}, Config(()), "no tile for axis 'n'"),
    ],
)
def test_wrong_input_is_named(arrays, sizes, config, message):
    with pytest.raises(IllTyped, match=message):
        evaluate_launch(windowed((), ()), D, arrays, sizes, config)


def test_graphs_that_mean_nothing_are_refused():
    split = online_attention(split=True)
    with pytest.raises(IllTyped, match=r"2 launches got 1 configs"):
        evaluate_kernels(split, D, {}, {}, [TILES])
    with pytest.raises(IllTyped, match="is split: run the graphs of split"):
        evaluate_launch(split.kernels[0], D, {}, {}, TILES)
    stored = replace(two_pass_softmax().kernels[0].walks[1], stop=(Bound((("m", 1),), num(1)),))
    block = replace(
        two_pass_softmax().kernels[0], walks=(two_pass_softmax().kernels[0].walks[0], stored)
    )
    with pytest.raises(IllTyped, match="lost outside the limits"):
        evaluate_launch(block, D, {"x": np.ones((4, 4))}, {"m": 4, "n": 4}, TILES)


def test_the_state_of_a_later_carry_is_not_known():
    late = Carry("a", ("m",), Fn.ADD, mul(X, State("b", ("m",))))
    walk = Walk("n", (late, Carry("b", ("m",), Fn.ADD, X)))
    block = replace(
        windowed((), ()), walks=(walk,), stores=(Store("out", ("m",), None, late.state),)
    )
    with pytest.raises(IllTyped, match="the new state of 'b'"):
        evaluate_launch(block, D, {"x": np.ones((2, 3))}, {"m": 2, "n": 3}, TILES)


def test_single_precision_differs_from_double_by_rounding_only():
    sizes = {"m": 4, "n": 9}
    arrays = random_arrays(row_softmax(), sizes)
    single = FloatDomain(np.float32)
    low = evaluate_program(row_softmax(), single, {"x": single.array(arrays["x"])}, sizes)["out"]
    high = evaluate_program(row_softmax(), D, arrays, sizes)["out"]
    assert low.dtype == np.float32
    assert 0 < np.abs(low - high).max() < 1e-6


def test_constants_are_exact_where_floats_are():
    value = Map(Fn.MUL, (num(Fraction(1, 4)), num(3)))
    program = Program("c", (), (Store("out", (), None, value),))
    assert evaluate_program(program, D, {}, {})["out"] == 0.75
