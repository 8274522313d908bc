from __future__ import annotations

from itertools import pairwise

import pytest

from superopt.device import target
from superopt.errors import DoesNotFit
from superopt.search.configs import configs
from superopt.search.configs import ladders
from superopt.search.configs import options
from superopt.search.configs import power_of_two
from superopt.search.footprint import footprint
from superopt.search.model import model
from superopt.search.option import by_time
from superopt.search.option import together
from superopt.threads.build import of_config
from superopt.threads.build import shared_bytes
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.profile import profile
from superopt.ugraph.split import launches
from tests import nested
from tests import samples
from tests.search.forms import H200
from tests.search.forms import PREFILL

GRAPHS = {
    "attention": (samples.online_attention(), PREFILL),
    "causal": (samples.online_attention(causal=True), PREFILL),
    "split": (samples.online_attention(split=True), {**PREFILL, "b": 1, "h": 2, "m": 16}),
    "softmax": (samples.two_pass_softmax(), {"m": 8192, "n": 8192}),
    "rms": (samples.rms_linear_one_walk(), {"m": 4096, "k": 4096, "n": 4096}),
}


@pytest.mark.parametrize("device", ["a100", "h200", "b200"])
@pytest.mark.parametrize("name", GRAPHS)
def test_configs_fit_and_come_best_first(name, device):
    graph, sizes = GRAPHS[name]
    chip = target(device)
    found = configs(graph, sizes, "bf16", chip, 6)
    times = [round(model(graph, c, sizes, "bf16", chip).us, 6) for c in found]
    assert times == sorted(times)
    assert len(set(found)) == len(found) > 1
    for choice in found:
        for run, config in zip(launches(graph), choice, strict=True):
            lengths = {**sizes, **{a: config.parts for a, _ in run.places if a not in sizes}}
            if config.consumers:
                assert shared_bytes(of_config(run, config, "bf16"), "bf16") < chip.shared_block
                continue
            used = footprint(launch_cost(run, config, lengths, "bf16"), config, chip)
            assert used.shared <= chip.shared_block
            assert used.registers <= 255


@pytest.mark.parametrize("name", GRAPHS)
def test_a_config_has_a_power_of_two_for_exactly_the_tile_dimensions(name):
    graph, sizes = GRAPHS[name]
    for choice in configs(graph, sizes, "bf16", H200, 3):
        for run, config in zip(launches(graph), choice, strict=True):
            dims = [a for a, p in run.places if p != Grid(tiled=False)]
            assert [a for a, _ in config.tiles] == dims
            assert all(n == power_of_two(n) for n in config.tile.values())
            assert all(config.tile[a] >= 16 for a in profile(run).dots)
            for axis, place in run.places:
                if isinstance(place, Whole):
                    size = sizes.get(axis, config.parts)
                    assert config.tile[axis] >= size


def test_the_launches_of_a_split_kernel_agree_on_the_parts():
    graph, sizes = GRAPHS["split"]
    first, second = configs(graph, sizes, "bf16", H200, 1)[0]
    assert first.parts == second.parts > 1
    assert 2 * first.parts >= H200.sms // 4


def test_a_kernel_that_cannot_fit_is_refused_with_its_places():
    x = samples.X
    value = samples.total("k", samples.mul(x, samples.W))
    block = BlockGraph(
        (("m", Grid()), ("k", Whole()), ("n", Whole())),
        (),
        (Store("out", ("m", "n"), None, value),),
        (Turn("m"),),
    )
    with pytest.raises(DoesNotFit, match="a100: m:Grid k:Whole n:Whole"):
        options(block, {"m": 64, "k": 8192, "n": 8192}, "bf16", target("a100"))


def test_larger_operands_leave_room_for_smaller_tiles_only():
    graph, sizes = GRAPHS["rms"]
    half = configs(graph, sizes, "bf16", H200, 1)[0][0]
    full = configs(graph, sizes, "fp32", H200, 1)[0][0]
    assert half != full


def test_sizes_of_one_and_none_have_configs():
    for size in (0, 1):
        sizes = dict.fromkeys("bhmnde", size)
        graph = samples.online_attention()
        (choice,) = configs(graph, sizes, "bf16", H200, 1)
        assert model(graph, choice, sizes, "bf16", H200).us > 0


def test_a_graph_of_several_kernels_gets_the_best_of_each():
    block, sizes = GRAPHS["softmax"][0].kernels[0], GRAPHS["softmax"][1]
    twice = KernelGraph("twice", (), ("out",), (block, block))
    one = configs(GRAPHS["softmax"][0], sizes, "bf16", H200, 3)
    both = configs(twice, sizes, "bf16", H200, 3)
    assert both[0] == (*one[0], *one[0])
    assert len(set(both)) == 3


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_ladder_begins_with_the_best_and_every_rung_occupies_clearly_less(name, dtype):
    graph, sizes = GRAPHS[name]
    first = configs(graph, sizes, dtype, H200, 1)[0]
    found = ladders(graph, sizes, dtype, H200)
    assert tuple(c for ladder in found for c in ladder[0]) == first
    for ladder, block in zip(found, graph.kernels, strict=True):
        runs = launches(KernelGraph("", (), (), (block,)))
        uses = []
        for rung in ladder:
            if any(c.consumers for c in rung):  # two of them at most, before all others
                assert rung in ladder[:2]
                continue
            lengths = [
                {**sizes, **{a: c.parts for a, _ in r.places if a not in sizes}}
                for r, c in zip(runs, rung, strict=True)
            ]
            costs = [
                launch_cost(r, c, n, dtype) for r, c, n in zip(runs, rung, lengths, strict=True)
            ]
            uses.append([footprint(k, c, H200) for k, c in zip(costs, rung, strict=True)])
        assert 1 <= len(uses) <= 4
        for larger, smaller in pairwise(uses):
            for a, b in zip(larger, smaller, strict=True):
                assert b.shared <= a.shared
                assert b.registers <= max(64, 0.8 * a.registers)


def test_a_walk_inside_a_split_walk_has_large_tiles_and_parts_for_them():
    (block,) = nested.graph(nested.normaliser(), nested.PARTS).kernels
    sizes = {"m": 4096, "k": 4096, "n": 131072}
    found, _ = options(block, sizes, "bf16", H200, keep=4000)
    tiles = [o.configs[0].tile for o in found]
    assert {t["k"] for t in tiles} == {32, 64, 128}
    assert min(t[a] for t in tiles for a in "mn") == 32
    wanted = {"m": 128, "k": 64, "n": 256}
    ways = {(c.warps, c.stages, c.parts) for c in (o.configs[0] for o in found) if c.tile == wanted}
    assert {(8, 3, 8), (8, 4, 8), (8, 3, 32)} <= ways


def test_an_option_is_below_one_that_occupies_clearly_more():
    graph, sizes = GRAPHS["rms"]
    ladder = options(graph.kernels[0], sizes, "bf16", target("a100"))[1]
    assert all(b.below(a) and not a.below(b) for a, b in pairwise(ladder))
    joint = together([ladder[0], ladder[0]])
    assert by_time(joint) == pytest.approx(2 * by_time(ladder[0]))
    assert joint.configs == ladder[0].configs * 2
