from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.search.chain import Alone
from superopt.search.chain import waves
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.counts import Fold
from superopt.ugraph.levels import Config
from tests import samples
from tests.search.forms import H200
from tests.search.forms import PREFILL

CONFIG = Config((("m", 64), ("d", 128), ("n", 64), ("e", 128)), 1, 4, 3)
COST = launch_cost(samples.online_attention().kernels[0], CONFIG, PREFILL, "bf16")
WORK = 2600.0  # microseconds of all units, for all programs


def us(config=CONFIG, cost=COST, resident=2, computing=WORK, missed=0.05, read=100.0):
    return Alone(cost, H200).chain(config, resident, computing, missed, read).us


def test_one_resident_program_does_everything_in_turn():
    assert us(resident=1) > WORK
    assert us(resident=2) == pytest.approx(us(resident=1) / 2, rel=0.01)


@given(st.integers(1, 4), st.integers(1, 3), st.floats(10, 1e5), st.floats(0, 1))
def test_more_stages_and_more_residents_never_take_longer(depth, resident, computing, missed):
    given = {"computing": computing, "missed": missed}
    found = us(replace(CONFIG, stages=depth), resident=resident, **given)
    assert us(replace(CONFIG, stages=depth + 1), resident=resident, **given) <= found
    assert us(replace(CONFIG, stages=depth), resident=resident + 1, **given) <= found


def test_loads_wait_for_nothing_where_the_work_of_a_tile_is_longer():
    deep, deeper = (us(replace(CONFIG, stages=s), computing=1e6) for s in (3, 4))
    assert deep == deeper
    assert us(replace(CONFIG, stages=1), computing=1e6) > deep


def test_groups_of_warps_work_while_others_wait():
    assert us(replace(CONFIG, warps=8)) < us()


def test_data_from_far_away_takes_longer():
    alone = replace(CONFIG, stages=1)
    assert us(alone, missed=1.0) > us(alone, missed=0.0)


def test_threads_that_load_little_load_at_once():
    config = Config((("m", 16), ("k", 16), ("n", 128)), 1, 8, 3)
    sizes = {"m": 16, "k": 4096, "n": 4096}
    cost = launch_cost(samples.rms_linear_one_walk().kernels[0], config, sizes, "bf16")
    alone = Alone(cost, H200)
    assert alone.stages(config) == 1  # 256 elements for 256 threads
    assert alone.stages(replace(config, warps=4)) == 3
    assert alone.stages(replace(config, descriptors=True)) == 3


@given(st.integers(1, 10_000), st.integers(1, 500))
def test_a_last_wave_lies_between_its_share_and_a_whole_one(programs, at_once):
    found = waves(programs, at_once)
    assert max(1.0, programs / at_once) <= found <= -(-programs // at_once)


def test_a_fold_costs_more_where_lanes_and_warps_exchange_it():
    def of(**what):
        fold = replace(Fold(True, 1, 4, 4096, True, False), **what)
        return us(replace(CONFIG, warps=16, stages=1), replace(COST, folds=(fold,)))

    assert of(lanes=False) < of(length=32) < of() < of(rows=64)
    assert of(inside=False) < of()
