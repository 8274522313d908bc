"""References in torch agree with those in numpy; sampling is legal."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from superopt import Segments
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.verify.run import real_sizes
from superopt.verify.run.tolerance import compare
from superopt.verify.run.tolerance import expected
from superopt.verify.run.torch_domain import MEANING
from superopt.verify.run.torch_domain import TorchDomain
from superopt.verify.run.torch_domain import multiplied
from tests import samples
from tests.samples import Program
from tests.samples import Store

SIZES = {"b": 2, "h": 5, "m": 9, "n": 11, "d": 4, "e": 6, "k": 7, "r": 3}
PROGRAMS = [
    samples.attention(),
    samples.attention(causal=True),
    samples.row_softmax(),
    samples.rms_linear(),
    samples.lora(),
]
IDS = ["attention", "causal", "softmax", "rms", "lora"]


def used(program):
    return {a: SIZES[a] for p in program.params for a in p.order}


def numpy_of(tensors):
    return {name: value.float().numpy() for name, value in tensors.items()}


def test_every_function_has_a_meaning():
    assert set(MEANING) == set(Fn)


@pytest.mark.parametrize("fn", [f for f in Fn if f.value.arity == 1 and f is not Fn.NOT])
def test_functions_agree_with_numpy(fn):
    value = np.array([-np.inf, -2.5, -0.0, 0.0, 1.0, 30.0, np.inf, np.nan])
    got = TorchDomain("cpu").apply(fn, [torch.from_numpy(value)]).numpy()
    want = FloatDomain().apply(fn, [value])
    assert np.allclose(got, want, rtol=1e-12, equal_nan=True)


@pytest.mark.parametrize("program", PROGRAMS, ids=IDS)
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_references_and_limits_agree_with_numpy(program, dtype):
    sizes = used(program)
    tensors = real_sizes.drawn(program, sizes, dtype, "cpu", 0)
    ours = real_sizes.expected_at(program, tensors, sizes, dtype, "cpu", {})["out"]
    theirs = expected(program, numpy_of(tensors), sizes, dtype)["out"]
    assert np.allclose(ours.want, theirs.want, rtol=1e-12, atol=1e-14)
    assert ours.limit.rel == pytest.approx(theirs.limit.rel, rel=2)
    assert compare(theirs.want, ours).ok


@pytest.mark.parametrize("program", PROGRAMS, ids=IDS)
def test_sampled_positions_have_the_values_of_the_whole(program):
    sizes = used(program)
    tensors = real_sizes.drawn(program, sizes, "fp32", "cpu", 0)
    at = real_sizes.sampled(program, sizes, most=60)
    assert set(at) <= set(real_sizes.free_axes(program))
    assert all(at.values())
    domain = TorchDomain("cpu")
    held = {name: domain.array(value) for name, value in tensors.items()}
    whole = evaluate_program(program, domain, held, sizes)["out"]
    part = real_sizes.expected_at(program, tensors, sizes, "fp32", "cpu", at)["out"].want
    order = program.outputs[0].order
    assert np.allclose(real_sizes.select(whole, order, at).numpy(), part, rtol=1e-12)


def test_positions_of_a_sampled_axis_stay_what_they_are():
    x = Input("x", ("m", "n"))
    last = samples.sub(Size("m"), samples.num(1))
    seen = Map(Fn.LE, (Index("n"), samples.sub(last, Index("m"))))
    value = samples.total("n", samples.where(seen, x, samples.num(0)))
    program = Program("f", (x,), (Store("out", ("m",), "fp32", value),))
    sizes = {"m": 50, "n": 60}
    tensors = real_sizes.drawn(program, sizes, "fp32", "cpu", 0)
    at = {"m": [0, 7, 8, 49]}
    found = real_sizes.expected_at(program, tensors, sizes, "fp32", "cpu", at)["out"].want
    want = [float(tensors["x"][m, : 50 - m].double().sum()) for m in at["m"]]
    assert np.allclose(found, want, rtol=1e-12)


def test_a_masked_axis_is_sampled_when_the_free_ones_are_not_enough():
    sizes = {"b": 1, "h": 32, "m": 16384, "n": 16384, "d": 128, "e": 128}
    at = real_sizes.sampled(samples.attention(causal=True), sizes)
    assert len(at["h"]) == 1
    assert at["m"][0] == 0
    assert at["m"][-1] == 16383
    rows = len(at["h"]) * len(at["m"])
    assert rows * 16384 <= real_sizes.ELEMENTS_MOST


def test_integers_are_drawn_as_the_case_says():
    first = Input("first", ("m",), "int32")
    program = Program("f", (first,), (Store("out", ("m",), "int32", first),))
    tensors = real_sizes.drawn(
        program, {"m": 4096}, "bf16", "cpu", 0, integers={"first": Segments(8)}
    )
    assert tensors["first"].dtype == torch.int32
    assert len(tensors["first"].unique()) == 8


def test_which_axes_are_free():
    assert real_sizes.free_axes(samples.attention()) == ["b", "h", "m", "e"]
    assert real_sizes.free_axes(samples.attention(causal=True)) == ["b", "h", "m", "e"]
    assert real_sizes.sampled(samples.attention(), used(samples.attention())) == {}


def test_integers_and_scalars_are_drawn_as_in_numpy():
    ids = Input("ids", ("n",), "int32")
    keep = Input("keep", ("n",), "bool")
    scale = samples.num(2)
    value = samples.where(keep, samples.mul(ids, scale), samples.num(0))
    program = Program("f", (ids, keep), (Store("out", ("n",), "int32", value),))
    tensors = real_sizes.drawn(program, {"n": 50}, "bf16", "cpu", 0)
    assert (tensors["ids"].diff() >= 0).all()
    one = real_sizes.expected_at(program, tensors, {"n": 50}, "bf16", "cpu", {})["out"]
    want = torch.where(tensors["keep"], tensors["ids"] * 2, 0).numpy()
    assert compare(want, one).ok
    assert not compare(want + 1, one).ok


@pytest.mark.parametrize(
    ("left", "right", "dim"),
    [
        ((3, 5, 7, 1), (3, 1, 7, 4), 2),
        ((2, 3, 5, 7, 1), (2, 1, 1, 7, 4), 3),
        ((5, 1, 7), (1, 4, 7), 2),
        ((7, 5, 1), (7, 1, 4), 0),
        ((1, 5, 7, 1), (1, 1, 7, 4), 2),
        ((0, 5, 7, 1), (0, 1, 7, 4), 2),
    ],
)
def test_a_batched_product_is_the_sum_of_products(left, right, dim):
    """As a GPU's matrix unit is asked for it."""
    a, b = torch.randn(left), torch.randn(right)
    want = (a * b).sum(dim)
    torch.testing.assert_close(multiplied(a, b, dim, torch.bmm), want)
