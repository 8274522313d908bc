from __future__ import annotations

from superopt.ugraph.levels import Pack
from superopt.verify.run.sizes import TILE
from superopt.verify.run.sizes import edge_sizes
from superopt.verify.run.sizes import lean_sizes
from superopt.verify.run.sizes import packed as packed_axes
from superopt.verify.run.sizes import sizes_for
from superopt.verify.run.sizes import small_configs
from superopt.verify.run.sizes import small_sizes
from tests.grouped import grouped
from tests.grouped import mapped
from tests.grouped import packed


def test_packed_axes_keep_several_positions_that_no_tile_is_a_multiple_of():
    graph = mapped(grouped(), g=Pack("m"), r=Pack("m"))
    assert packed_axes(graph) == ["g", "r"]
    for sizes in (small_sizes(graph), lean_sizes(graph)):
        each = sizes["g"] * sizes["r"]
        assert TILE % each
        assert sizes["m"] * each > TILE
        assert sizes["m"] * each % TILE
    assert lean_sizes(graph)["b"] == 2


def test_small_configs_give_a_packed_axis_no_tile():
    graph = packed(grouped(), split=True)
    for config in small_configs(graph, small_sizes(graph)):
        assert "r" not in config.tile
        assert config.tile["m"] == TILE


def test_packed_axes_are_also_empty_single_and_longer_than_a_tile():
    found = {sizes["r"] for sizes in edge_sizes(packed(grouped()))}
    assert {0, 1, TILE + 1} <= found


def test_tuned_tiles_are_taken_twice_with_a_remainder():
    graph = packed(grouped())
    (config,) = small_configs(graph, small_sizes(graph), tile=64)
    sizes = sizes_for(graph, (config,))
    joint = sizes["m"] * sizes["r"]
    assert sizes["r"] > 1
    assert 64 < joint < 128
    assert joint % 64
