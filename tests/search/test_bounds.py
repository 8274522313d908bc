"""No completion of a partial candidate is faster than its bound says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.search.bounds import Case
from superopt.search.bounds import kernel_bound
from superopt.search.bounds import mapping_bound
from superopt.search.bounds import work
from superopt.search.cuts import axes_in_order
from superopt.search.cuts import cuts
from superopt.search.kernel import Kernels
from superopt.search.kernel import Made
from superopt.search.shares import shares
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Size
from tests import samples
from tests.search.forms import H200
from tests.search.forms import decode
from tests.search.forms import rms_deferred


def layer_norm_linear() -> Program:
    """A repair takes its mean out of the fold, so that less is computed than was written."""
    mean = samples.div(samples.total("k", samples.X), Size("k"))
    value = samples.total("k", samples.mul(samples.sub(samples.X, mean), samples.W))
    return Program("ln", (samples.X, samples.W), (Store("out", ("m", "n"), None, value),))


def windowed() -> Program:
    return samples.attention_delayed(causal=True)


PROGRAMS = [
    samples.attention(),
    samples.attention_delayed(),
    windowed(),
    samples.row_softmax(),
    samples.rms_linear(),
    rms_deferred(),
    samples.lora(),
    decode(),
    layer_norm_linear(),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=[f"{p.name}{i}" for i, p in enumerate(PROGRAMS)])
@given(
    numbers=st.lists(st.sampled_from([1, 3, 16, 60, 130, 300, 1024, 5000]), min_size=6, max_size=6),
    dtype=st.sampled_from(["bf16", "fp32"]),
    tf32=st.booleans(),
)
@settings(max_examples=6, deadline=None)
def test_bounds_are_sound(program, numbers, dtype, tf32):
    axes = axes_in_order(program)
    sizes = dict(zip(axes, numbers, strict=False))
    case = Case(sizes, dtype, H200, tf32, shares(program, sizes, axes))
    kernels = Kernels(case, axes)
    for cut in list(cuts(program))[:6]:
        for stores in cut.kernels:
            sure = work(stores, case)
            low = kernel_bound(sure, case)
            for index, choice in list(enumerate(kernels.choices(stores)))[:8]:
                assert choice.bound == mapping_bound(sure, choice.placement.places, case)
                made = kernels.make(stores, index)
                if isinstance(made, Made):
                    least = min(o.us for o in made.options) * (1 + 1e-9)
                    assert low <= least
                    assert choice.bound <= least


def test_a_bound_is_near_the_time_of_a_good_kernel():
    program = samples.attention_delayed()
    sizes = {"b": 4, "h": 32, "m": 4096, "n": 4096, "d": 128, "e": 128}
    case = Case(sizes, "bf16", H200)
    bound = kernel_bound(work(program.outputs, case), case)
    flop = 4 * 4 * 32 * 4096 * 4096 * 128
    assert bound == pytest.approx(H200.launch_us + 1e6 * flop / H200.matrix_rate("bf16"))


def test_places_that_make_no_matrix_product_are_known_to_be_slow():
    program = samples.lora()
    sizes = {"m": 1024, "k": 1024, "n": 1024, "r": 16}
    case = Case(sizes, "bf16", H200)
    kernels = Kernels(case, axes_in_order(program))
    sure = work(program.outputs, case)
    places = kernels.choices(program.outputs)[0].placement.places
    from superopt.ugraph.levels import Grid

    scalar = [(a, Grid(tiled=False) if a == "m" else p) for a, p in places]
    assert mapping_bound(sure, scalar, case) > 5 * mapping_bound(sure, places, case)


def test_a_mask_halves_what_is_sure():
    sizes = {"b": 1, "h": 8, "m": 2048, "n": 2048, "d": 64, "e": 64}
    program = windowed()
    found = shares(program, sizes, axes_in_order(program))
    assert found == {"n": pytest.approx(0.5, abs=0.01)}
    full = work(program.outputs, Case(sizes, "bf16", H200))
    half = work(program.outputs, Case(sizes, "bf16", H200, shares=found))
    assert sum(v for _, v in half.products) < 0.51 * sum(v for _, v in full.products)


def test_a_value_that_reads_a_fold_over_its_own_axis_is_not_sure():
    x = Input("x", ("m", "k"))
    value = samples.total("k", samples.exp(samples.sub(x, samples.largest("k", x))))
    found = work((Store("out", ("m",), None, value),), Case({"m": 10, "k": 100}, "fp32", H200))
    assert found.special == 0  # a repair might compute fewer exponentials
    assert found.plain == 10 * 100  # the maximum


def test_of_a_factor_that_reads_a_fold_only_the_rest_is_sure():
    # sum over k of (u - mean of x) * w is also sum(u * w) - mean * sum(w): no m in either fold.
    u = Input("u", ("k",))
    mean = samples.div(samples.total("k", samples.X), Size("k"))
    value = samples.total("k", samples.mul(samples.sub(u, mean), samples.W))
    sizes = {"m": 1000, "k": 10, "n": 7}
    found = work((Store("out", ("m", "n"), None, value),), Case(sizes, "fp32", H200))
    ((_, volume),) = found.products
    assert volume == 10 * 7
