"""Counts are compared with a walk through all programs and tiles, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace

import pytest

from superopt.ugraph.cost import launch_cost
from superopt.ugraph.extent import extent
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Whole
from superopt.ugraph.masks import cleared
from superopt.ugraph.profile import profile
from superopt.ugraph.split import launches
from tests import samples

SIZES = {"b": 2, "h": 3, "m": 50, "n": 70, "d": 16, "e": 20}
TILES = (("m", 16), ("n", 16), ("d", 16), ("e", 32))


@dataclass
class Walked:
    programs: int
    tiles: int
    key_elements: int
    most: int


def by_hand(sizes: dict[str, int], config: Config, causal: bool, parts: int = 1) -> Walked:
    """Follows ``online_attention``: which key positions each program reads."""
    tile = config.tile
    found = Walked(0, 0, 0, 0)
    tiles_in_all = -(-sizes["n"] // tile["n"])
    length = -(-tiles_in_all // parts) * tile["n"]
    for first in range(0, sizes["m"], tile["m"]):
        last = min(first + tile["m"], sizes["m"]) - 1
        for part in range(parts):
            low = part * length
            high = min(low + length, sizes["n"], last + 1 if causal else sizes["n"])
            tiles = [t for t in range(0, sizes["n"], tile["n"]) if low <= t < high]
            positions = sum(min(t + tile["n"], high) - t for t in tiles)
            found.programs += sizes["b"] * sizes["h"]
            found.tiles += sizes["b"] * sizes["h"] * len(tiles)
            found.key_elements += sizes["b"] * sizes["h"] * positions
            found.most = max(found.most, len(tiles))
    return found


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("parts", [1, 3])
def test_attention_is_counted_as_a_walk_through_all_programs_finds_it(causal, parts):
    config = Config(TILES, parts)
    graph = samples.online_attention(causal, split=parts > 1)
    first = launches(graph)[0]
    cost = launch_cost(first, config, SIZES, "bf16")
    expected = by_hand(SIZES, config, causal, parts)
    assert cost.programs == expected.programs
    assert cost.steps == expected.most
    reads = {r.tensor: r for r in cost.reads}
    assert reads["k"].total == expected.key_elements * SIZES["d"] * 2
    assert reads["v"].total == expected.key_elements * SIZES["e"] * 2
    assert reads["q"].total == 2 * 3 * 50 * 16 * 2 * parts
    assert reads["q"].unique == 2 * 3 * 50 * 16 * 2
    flop_per_tile = 2 * 16 * 16 * 16 + 2 * 16 * 16 * 32  # scores, then weights times values
    assert cost.matrix == expected.tiles * flop_per_tile
    # One exponential a score, and one a row for the move.
    exponentials = expected.tiles * (16 * 16 + 16)
    divisions = 0 if parts > 1 else cost.programs * 16 * 32
    assert cost.special == exponentials + divisions


def test_two_walks_read_the_tensor_twice_and_the_bytes_are_unique_once():
    (block,) = samples.two_pass_softmax().kernels
    cost = launch_cost(block, Config((("m", 4), ("n", 16))), {"m": 10, "n": 50}, "fp32")
    assert cost.read == 2 * 10 * 50 * 4
    assert cost.unique == {"x": 10 * 50 * 4}
    assert cost.written == {"out": 10 * 50 * 4}
    assert cost.steps == 8
    assert cost.matrix == 0


def test_the_combination_of_a_split_reads_every_partial_once():
    second = launches(samples.online_attention(split=True))[1]
    config = Config((("n.part", 4), ("m", 16), ("e", 32)), parts=3)
    cost = launch_cost(second, config, SIZES, "bf16")
    rows = 2 * 3 * 50
    assert cost.unique["part0_o"] == 3 * rows * 20 * 4
    assert cost.unique["part0_m"] == 3 * rows * 4
    assert second.place["n.part"] == Whole()


def test_shared_memory_and_live_values_grow_with_the_tiles():
    (block,) = samples.online_attention().kernels
    found = profile(block)
    small = launch_cost(found, Config(TILES), SIZES, "bf16")
    large = launch_cost(found, Config((*TILES[:1], ("n", 64), *TILES[2:])), SIZES, "bf16")
    assert small.shared_stage == 16 * 16 * 2 + 16 * 32 * 2  # a tile of keys and one of values
    assert small.shared_fixed == 16 * 16 * 2  # the queries; the weights stay in registers
    assert large.shared_stage == 4 * small.shared_stage
    # Two carried rows, the carried output and the scores at least.
    assert 4 * (2 * 16 + 16 * 32 + 16 * 16) <= small.live < large.live


def test_an_empty_axis_costs_nothing():
    (block,) = samples.online_attention().kernels
    cost = launch_cost(block, Config(TILES), {**SIZES, "n": 0}, "bf16")
    assert (cost.matrix, cost.steps, cost.unique["k"]) == (0, 0, 0)
    assert launch_cost(block, Config(TILES), {**SIZES, "m": 0}, "bf16").programs == 0


def test_masks_are_paid_for_where_there_are_any():
    """On clear tiles a comparison and a choice per element are saved."""
    config = Config(TILES)
    (plain,) = launches(samples.online_attention(causal=True))
    clear = cleared(plain)
    before, after = (launch_cost(b, config, SIZES, "bf16") for b in (plain, clear))
    tiles = extent(clear.walks[0], clear, config, SIZES)
    programs = SIZES["b"] * SIZES["h"]
    assert tiles.clear == 0 + 1 + 2 + 3  # rows 0, 16, 32, 48
    assert before.plain - after.plain == programs * tiles.clear * 16 * 16 * 2
    assert replace(after, plain=before.plain) == before
