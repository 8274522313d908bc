"""The price of a launch with roles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.search.model import Launch
from superopt.search.overlapped import alone
from superopt.search.overlapped import price
from superopt.search.overlapped import warps_of
from superopt.search.overlapped import whole
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.levels import Config
from tests import samples
from tests.search.forms import H200
from tests.search.forms import PREFILL

TILES = (("m", 64), ("d", 128), ("n", 128), ("e", 128))
TWO = Config(TILES, 1, 4, 2, consumers=2)
SIZES = {**PREFILL, "d": 128, "e": 128}


def priced(config, sizes=SIZES):
    (block,) = samples.online_attention().kernels
    tiles = whole(config.tiles, "m", config.consumers)
    cost = launch_cost(block, replace(config, tiles=tiles), sizes, "bf16")
    plain = Launch(cost, "bf16", H200).times(warps_of(config), alone(H200))
    return price(plain, cost, config, "bf16", H200)


def test_a_program_has_the_tiles_of_all_its_consumers():
    assert whole(TILES, "m", 3) == (("m", 192), *TILES[1:])
    assert warps_of(replace(TWO, consumers=3)).warps == 12


def test_a_multiprocessor_holds_one_program():
    assert alone(H200).fits(H200)
    assert alone(H200).resident(replace(TWO, warps=1), H200) == 1


def test_products_bind_and_the_rest_costs_a_little_more():
    times = priced(TWO)
    assert times["matrix"] < times["chain"] < 1.25 * times["matrix"]
    assert times["total"] > max(times[unit] for unit in ("dram", "l2", "matrix", "chain"))
    assert times["total"] < times["matrix"] + times["special"] + times["plain"]


def test_no_program_takes_no_time_but_the_launch():
    assert priced(TWO, {**SIZES, "m": 0})["total"] == pytest.approx(H200.launch_us)
