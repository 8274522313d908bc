from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.search.units import matrix
from superopt.search.units import moved
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.levels import Config
from tests import samples

SIZES = {"m": 4096, "k": 4096, "n": 4096}
(BLOCK,) = samples.rms_linear_one_walk().kernels


def config(m: int, n: int, k: int = 64, warps: int = 4) -> Config:
    return Config((("m", m), ("k", k), ("n", n)), 1, warps, 3)


def flop(m: int, n: int, k: int = 64, warps: int = 4) -> float:
    found = config(m, n, k, warps)
    return matrix(launch_cost(BLOCK, found, SIZES, "bf16"), warps)


def test_large_tiles_reach_the_rate_and_others_do_not():
    assert flop(128, 128, 128, 8) == 2 * 4096**3
    assert flop(128, 128) < flop(128, 16)
    assert flop(128, 128) < flop(128, 128, 16)
    assert flop(64, 128) < flop(16, 128)
    assert flop(64, 128) < flop(64, 128, warps=8)
    assert flop(64, 128) < flop(64, 128, warps=2)


def test_warps_beyond_the_columns_of_a_narrow_product_do_work_again():
    assert flop(16, 128, warps=8) == flop(16, 128)
    assert flop(16, 32, warps=8) == pytest.approx(2 * flop(16, 32))


def test_only_computed_operands_are_moved_and_every_warp_does_it():
    few = config(16, 128)
    cost = launch_cost(BLOCK, few, SIZES, "bf16")
    (product,) = cost.products
    assert product.computed
    assert product.beside == 3  # the factor, the square, and its sum
    assert moved(cost, 8) > 1.9 * moved(cost, 4)
    wide = config(128, 128)
    cost = launch_cost(BLOCK, wide, SIZES, "bf16")
    assert moved(cost, 8) == moved(cost, 4) > 0
    as_it_is = replace(cost, products=(replace(product, computed=False),))
    assert moved(as_it_is, 4) == 0
    across = replace(cost, products=tuple(replace(p, across=True) for p in cost.products))
    assert moved(across, 4) > moved(cost, 4)
