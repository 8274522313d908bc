from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.device import target
from superopt.search.configs import configs
from superopt.search.footprint import footprint
from superopt.search.model import Launch
from superopt.search.model import model
from superopt.ugraph.carry import Carry
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import State
from superopt.ugraph.parse import parse_as
from superopt.ugraph.scalar import Fn
from tests import samples
from tests.search.forms import H200
from tests.search.forms import PREFILL

MATMUL = samples.rms_linear_one_walk()
TILES = (("m", 128), ("k", 64), ("n", 128))


def plain_product():
    walk = Walk("k", (Carry("acc", ("m", "n"), Fn.ADD, samples.mul(samples.X, samples.W)),))
    store = Store("out", ("m", "n"), None, State("acc", ("m", "n")))
    block = replace(MATMUL.kernels[0], walks=(walk,), stores=(store,))
    return replace(MATMUL, params=(samples.X, samples.W), kernels=(block,))


def us(graph, sizes, device=H200, dtype="bf16"):
    return model(graph, configs(graph, sizes, dtype, device, 1)[0], sizes, dtype, device).us


@pytest.mark.parametrize(
    ("graph", "sizes", "measured"),
    [
        # Microseconds on an H200: a Triton attention kernel, a library's softmax, and a
        # library's matrix product alone (the norm in front of it should cost little).
        (samples.online_attention(), PREFILL, 2216),
        (samples.two_pass_softmax(), {"m": 8192, "n": 8192}, 69),
        (plain_product(), {"m": 4096, "k": 4096, "n": 4096}, 197),
    ],
)
def test_the_model_is_near_what_was_measured(graph, sizes, measured):
    assert 0.7 * measured < us(graph, sizes) < 1.4 * measured


@given(
    m=st.integers(1, 3000),
    k=st.integers(1, 3000),
    n=st.integers(1, 3000),
    warps=st.sampled_from([4, 8]),
    stages=st.sampled_from([1, 2, 3]),
)
@settings(max_examples=60, deadline=None)
def test_a_better_device_is_never_slower(m, k, n, warps, stages):
    sizes = {"m": m, "k": k, "n": n}
    config = Config(TILES, 1, warps, stages)
    slow = model(MATMUL, (config,), sizes, "bf16", H200).us
    for better in (
        replace(H200, dram=2 * H200.dram),
        replace(H200, l2=2 * H200.l2),
        replace(H200, l2_bytes=2 * H200.l2_bytes),
        replace(H200, plain=2 * H200.plain),
        replace(H200, matrix=tuple((d, 2 * r) for d, r in H200.matrix)),
        replace(H200, launch_us=0.0),
        replace(H200, latency_us=0.1),
    ):
        assert model(MATMUL, (config,), sizes, "bf16", better).us <= slow


def test_more_work_takes_longer():
    sizes = {"m": 1024, "k": 1024, "n": 1024}
    config = (Config(TILES, 1, 8, 3),)
    base = model(MATMUL, config, sizes, "bf16", H200).us
    for axis in sizes:
        assert model(MATMUL, config, {**sizes, axis: 4096}, "bf16", H200).us > base


def test_one_program_too_many_costs_a_round():
    cost = launch_cost(MATMUL.kernels[0], Config(TILES), {"m": 128, "k": 8192, "n": 128}, "bf16")
    tight = replace(cost, grid=(("m", H200.sms), ("n", 1)))
    over = replace(cost, grid=(("m", H200.sms + 1), ("n", 1)))
    config = Config(TILES, 1, 8, 3)
    times = [Launch(c, "bf16", H200).times(config)["matrix"] for c in (tight, over)]
    # The work is the same; its last program has the device to itself.
    assert times[1] / times[0] == pytest.approx(2 * H200.sms / (H200.sms + 1))


def test_the_order_of_programs_decides_what_stays_in_the_l2():
    sizes = {**PREFILL, "m": 16384, "n": 16384}
    (block,) = samples.online_attention().kernels
    config = Config((("m", 128), ("d", 128), ("n", 64), ("e", 128)), 1, 8, 3)

    def fetched(*axes: str) -> float:
        ordered = replace(block, order=tuple(Turn(a) for a in axes))
        return Launch(launch_cost(ordered, config, sizes, "bf16"), "bf16", H200).fetched(1)

    assert fetched("m", "b", "h") > 3 * fetched("b", "h", "m")


def test_few_programs_do_not_reach_the_bandwidth():
    graph = samples.online_attention()
    sizes = {**PREFILL, "b": 1, "h": 4, "m": 16, "n": 131072}
    split = samples.online_attention(split=True)
    assert us(split, sizes) < 0.25 * us(graph, sizes)


def test_resident_programs_are_bounded_by_what_they_occupy():
    config = Config(TILES, 1, 8, 3)
    cost = launch_cost(MATMUL.kernels[0], config, {"m": 512, "k": 512, "n": 512}, "bf16")
    used = footprint(cost, config, H200)
    assert used.resident(config, H200) == min(
        H200.shared_sm // (used.shared + 1024), 65536 // (-(-used.likely // 8) * 8 * 256)
    )
    assert footprint(cost, replace(config, stages=4), H200).shared > used.shared
    assert footprint(cost, replace(config, warps=4), H200).registers > used.registers


def test_full_precision_is_slow_and_tf32_is_between():
    sizes = {"m": 2048, "k": 2048, "n": 2048}
    config = (Config((("m", 64), ("k", 32), ("n", 64)), 1, 4, 2),)
    times = [
        model(MATMUL, config, sizes, "fp32", H200).us,
        model(MATMUL, config, sizes, "fp32", H200, tf32=True).us,
        model(MATMUL, config, sizes, "bf16", H200).us,
    ]
    assert times == sorted(times, reverse=True)
    assert times[0] > 3 * times[2]


def test_products_and_ordinary_work_overlap_only_in_part():
    """With 64 features attention has half the products for as many exponentials. Its kernel with
    roles was measured at 1237 us, the best plain one at 1646 us."""
    sizes = {**PREFILL, "m": 4608, "n": 4608, "d": 64, "e": 64}
    file = Path(__file__).parents[2] / "benchmarks/results" / "roles_2026-11-30_h200.json"
    (run,) = (r for r in json.loads(file.read_text())["runs"] if r["name"] == "attention")
    best = min((m for m in run["measured"] if m["case"] == "narrow"), key=lambda m: m["us"])
    searched = parse_as(KernelGraph, run["graphs"][best["digest"]])
    assert configs(searched, sizes, "bf16", H200, 1)[0][0].consumers
    plain = [
        model(samples.online_attention(), (Config(tiles, 1, 4, 3),), sizes, "bf16", H200).us
        for tiles in (
            (("m", 64), ("d", 64), ("n", 64), ("e", 64)),
            (("m", 128), ("d", 64), ("n", 64), ("e", 64)),
        )
    ]
    assert min(plain) > 1396


def test_a_smaller_chip_is_slower():
    sizes = {"m": 4096, "k": 4096, "n": 4096}
    plain = configs(MATMUL, sizes, "bf16", target("a100"), 1)[0]
    times = [model(MATMUL, plain, sizes, "bf16", target(t)).us for t in ("a100", "h200", "b200")]
    assert times == sorted(times, reverse=True)


def test_the_share_of_the_roofline_counts_no_intermediate():
    sizes = {"m": 8192, "n": 8192}
    graph = samples.two_pass_softmax()
    found = model(graph, configs(graph, sizes, "bf16", H200, 1)[0], sizes, "bf16", H200)
    least = 1e6 * 2 * 8192 * 8192 * 2 / H200.dram
    assert found.share_of_roofline == pytest.approx(least / found.us)


TALL = {"m": 512, "k": 512, "n": 512}


def test_two_products_of_full_precision_need_more_registers_than_their_values():
    config = Config((("m", 64), ("d", 64), ("n", 64), ("e", 64)), 1, 8, 2)
    sizes = {**PREFILL, "d": 64, "e": 64}
    block = samples.online_attention().kernels[0]
    full = launch_cost(block, config, sizes, "fp32")
    half = launch_cost(block, config, sizes, "bf16")
    assert [p.dtype for p in full.products] == ["fp32", "fp32"]
    assert [p.dtype for p in half.products] == ["bf16", "bf16"]
    used = footprint(full, config, H200).registers
    assert used > 1.4 * footprint(half, config, H200).registers
    assert footprint(full, config, H200, tf32=True).registers < used
    one = launch_cost(MATMUL.kernels[0], config=Config(TILES, 1, 8, 3), sizes=TALL, dtype="fp32")
    same = launch_cost(MATMUL.kernels[0], config=Config(TILES, 1, 8, 3), sizes=TALL, dtype="bf16")
    assert footprint(one, config, H200).registers == footprint(same, config, H200).registers
