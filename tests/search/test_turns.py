from __future__ import annotations

from dataclasses import replace
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from superopt.search.model import Launch
from superopt.search.turns import turns
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.counts import Cost
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Turn as Order
from tests import samples
from tests.search.forms import H200

TILES = (("m", 128), ("k", 64), ("n", 128))
(BLOCK,) = samples.rms_linear_one_walk().kernels


def cost(m: int, k: int, n: int) -> Cost:
    return launch_cost(BLOCK, Config(TILES), {"m": m, "k": k, "n": n}, "bf16")


def test_levels_of_the_plain_order():
    found = turns(cost(1024, 512, 2048))
    assert [(t.axis, t.count, t.faster) for t in found] == [("n", 16, 1), ("m", 8, 16)]
    x, g, w = 128 * 512 * 2, 512 * 2, 512 * 128 * 2
    assert found[0].read == x + g + w
    assert found[1].read == x + g + 16 * w


def test_in_groups_the_slower_axis_has_two_levels():
    found = turns(cost(1024, 512, 2048), 4)
    assert [(t.axis, t.count, t.faster) for t in found] == [
        ("m", 4, 1),
        ("n", 16, 4),
        ("m", 2, 64),
    ]
    x, g, w = 128 * 512 * 2, 512 * 2, 512 * 128 * 2
    assert found[1].read == 4 * x + g + w
    assert found[2].read == 4 * x + g + 16 * w


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 16))
def test_levels_cover_every_program(m, n, group):
    one = cost(128 * m, 64, 128 * n)
    found = turns(one, group)
    assert prod(t.count for t in found) >= one.programs
    assert prod(t.count for t in found) < one.programs + group * n
    assert [t.read for t in found] == sorted(t.read for t in found)


def test_groups_save_bytes_where_operands_are_beyond_the_l2_and_nothing_else():
    wide = Launch(cost(32768, 8192, 32768), "bf16", H200)
    assert wide.fetched(1, 8) < 0.5 * wide.fetched(1)
    small = Launch(cost(1024, 1024, 1024), "bf16", H200)
    assert small.fetched(1, 8) == small.fetched(1) == sum(small.cost.unique.values())
    config = Config(TILES, warps=8)
    assert wide.times(replace(config, group=8))["dram"] < wide.times(config)["dram"]
    assert small.times(replace(config, group=8)) == small.times(config)


def test_no_programs_have_no_turns():
    assert turns(cost(0, 64, 128)) == ()


def test_the_slower_axis_is_the_one_that_the_order_says():
    turned = replace(BLOCK, order=(Order("n"), Order("m")))
    found = launch_cost(turned, Config(TILES), {"m": 1024, "k": 64, "n": 1024}, "bf16")
    assert found.grouped == ("n", "m")
    assert [t.axis for t in turns(found, 2)] == ["n", "m", "n"]
