from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from superopt.ugraph.check import check
from superopt.ugraph.evaluate import evaluate_kernels
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Whole
from superopt.ugraph.split import launches
from superopt.ugraph.split import part_axis
from superopt.ugraph.split import split_axis
from tests.samples import online_attention
from tests.samples import rms_linear
from tests.samples import rms_linear_one_walk
from tests.samples import two_pass_softmax


def test_a_graph_without_split_launches_its_own_kernels():
    assert launches(two_pass_softmax()) == two_pass_softmax().kernels


def test_a_split_kernel_is_a_kernel_of_parts_and_a_combining_one():
    parts, combining = launches(online_attention(causal=True, split=True))
    assert parts.place["n.part"] == Grid(tiled=False)
    assert parts.place["n"] == Split()
    assert [s.order for s in parts.stores][2] == ("n.part", "b", "h", "m", "e")
    assert combining.place["n.part"] == Whole()
    assert "n" not in combining.place
    assert "d" not in combining.place  # nothing varies over it any more
    assert [s.name for s in combining.stores] == ["out"]
    assert check(parts) == []
    assert check(combining) == []


def test_a_kernel_of_parts_is_not_split_again():
    graph = online_attention(split=True)
    kernels = launches(graph)
    assert launches(replace(graph, kernels=kernels)) == kernels


def test_part_axes_say_what_they_cut():
    assert split_axis(part_axis("n")) == "n"
    assert split_axis("n") is None


def test_a_state_that_lacks_a_grid_axis_is_written_once_for_each_program():
    graph = rms_linear_one_walk(split=True)
    parts, combining = launches(graph)
    orders = {s.name: s.order for s in parts.stores}
    assert orders == {"part0_ss": ("k.part", "m", "n"), "part0_acc": ("k.part", "m", "n")}
    for block in (*graph.kernels, parts, combining):
        assert check(block) == []


@pytest.mark.parametrize("parts", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [1, 3, 7, 8])
def test_split_statistics_mean_what_the_program_means(parts, size):
    sizes = {"m": 3, "k": size, "n": 5}
    random = np.random.default_rng(size)
    arrays = {p.name: random.normal(size=[sizes[a] for a in p.order]) for p in rms_linear().params}
    first = Config((("m", 2), ("k", 2), ("n", 2)), parts)
    second = Config((("k.part", parts), ("m", 2), ("n", 4)), parts)
    graph, domain = rms_linear_one_walk(split=True), FloatDomain(np.float64)
    with np.errstate(all="ignore"):
        got = evaluate_kernels(graph, domain, arrays, sizes, (first, second))
        want = evaluate_program(rms_linear(), domain, arrays, sizes)
    np.testing.assert_allclose(got["out"], want["out"], rtol=1e-12)
