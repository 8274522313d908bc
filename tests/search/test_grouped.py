from __future__ import annotations

from dataclasses import replace

from superopt.search.configs import options
from superopt.search.grouped import GROUP
from superopt.search.grouped import grouped_configs
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.levels import Config
from tests import samples
from tests.search.forms import H200

TILES = (("m", 128), ("k", 64), ("n", 128))
LARGE = {"m": 4096, "k": 4096, "n": 4096}


def grouped(block, tiles, sizes):
    config = Config(tiles, warps=8)
    cost = launch_cost(block, config, sizes, "bf16")
    return config, grouped_configs([block], [config], [cost])


def test_a_product_with_tiles_along_two_axes_is_tried_in_groups():
    (block,) = samples.rms_linear_one_walk().kernels
    config, found = grouped(block, TILES, LARGE)
    assert found == (replace(config, group=GROUP),)


def test_one_row_of_tiles_has_no_groups():
    (block,) = samples.rms_linear_one_walk().kernels
    for axis in ("m", "n"):
        assert grouped(block, TILES, {**LARGE, axis: 128})[1] is None


def test_nor_has_a_kernel_without_two_tiled_axes_or_without_a_product():
    (block,) = samples.online_attention().kernels
    sizes = {"b": 2, "h": 2, "m": 512, "n": 512, "d": 64, "e": 64}
    tiles = (("m", 64), ("d", 64), ("n", 64), ("e", 64))
    assert grouped(block, tiles, sizes)[1] is None
    (rows,) = samples.two_pass_softmax().kernels
    assert grouped(rows, (("m", 1), ("n", 64)), {"m": 8, "n": 128})[1] is None


def test_options_have_both_and_of_equal_ones_the_plain_one_comes_first():
    (block,) = samples.rms_linear_one_walk().kernels
    found, ladder = options(block, {"m": 1024, "k": 1024, "n": 2048}, "bf16", H200)
    groups = [c.group for o in found for c in o.configs]
    assert {1, GROUP} == set(groups)
    assert groups[0] == 1
    assert {c.group for o in ladder for c in o.configs} == {1}
    tiles = {o.configs[0].tiles for o in found if o.configs[0].group == GROUP}
    assert tiles <= {o.configs[0].tiles for o in found if o.configs[0].group == 1}
