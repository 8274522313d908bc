"""The price of a launch with roles."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.search.model import Launch
from superopt.search.overlapped import alone
from superopt.search.overlapped import fullest
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
    assert max(times["matrix"], times["plain"]) < times["chain"]
    assert times["chain"] < 0.8 * (times["matrix"] + times["plain"])
    assert times["total"] > max(times[unit] for unit in ("dram", "l2", "matrix", "chain"))
    assert times["total"] < times["matrix"] + times["special"] + times["plain"]


def test_steps_are_not_free_and_slots_are_held():
    narrow = replace(TWO, tiles=(("m", 64), ("d", 128), ("n", 64), ("e", 128)), stages=4)
    assert priced(narrow)["total"] > 1.05 * priced(TWO)["total"]
    assert priced(replace(narrow, stages=2))["total"] >= priced(narrow)["total"]


def dealt(tiles, row, longest, sms):
    """``fullest`` without ``each``, one tile after the other."""
    waves = -(-tiles // sms)
    programs = -(-tiles // waves)
    loads = [0.0] * programs
    for number in range(tiles):
        wave, place = divmod(number, programs)
        work = longest - 2 * (longest - 1) * (number % row) / (row - 1) if row > 1 else 1.0
        loads[programs - 1 - place if wave % 2 else place] += work
    return max(loads)


counts = st.integers(1, 60)


@given(counts, counts, st.floats(1, 2), st.integers(1, 9), st.integers(0, 8), st.integers(1, 8))
def test_the_fullest_has_no_less_than_the_mean_and_no_more_than_all(
    rows, row, longest, sms, each, group
):
    tiles = rows * row
    most = fullest(tiles, row, longest, sms, each, group)
    if group == 1:
        assert most >= tiles / sms * (1 - 1e-9)
        assert most <= tiles * (1 + 1e-9)
    if not each and group == 1:
        assert most == pytest.approx(dealt(tiles, row, longest, sms))
    if longest == 1 and not each:
        assert most == pytest.approx(-(-tiles // sms))


def test_rows_may_fall_in_step_with_waves():
    """Three consumers of 64 rows at 16,384: 86 tiles a row; measured 4.0 ms against 3.4 ms."""
    mean = 2752 / 132
    assert fullest(2752, 86, 1.98, 132) / mean == pytest.approx(1.275, abs=0.01)
    assert fullest(2752, 86, 1.98, 132, 8, 8) / mean == pytest.approx(1.13, abs=0.01)
    assert fullest(4096, 128, 1.98, 132) / (4096 / 132) == pytest.approx(1.03, abs=0.01)


def test_no_program_takes_no_time_but_the_launch():
    assert priced(TWO, {**SIZES, "m": 0})["total"] == pytest.approx(H200.launch_us)
