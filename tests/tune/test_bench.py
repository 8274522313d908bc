"""Interleaved timing, on a device that counts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.tune.bench import GRAPH_CALLS_MOST
from superopt.tune.bench import SETS_MOST
from superopt.tune.bench import Contender
from superopt.tune.bench import Prepared
from superopt.tune.bench import in_turn
from superopt.tune.bench import interleaved
from superopt.tune.bench import prepare
from superopt.tune.bench import rotated_sets
from superopt.tune.series import ratio
from tests.tune.fakes import BrokenError
from tests.tune.fakes import FakeClock

MIB = 1 << 20


def contenders(clock, **us):
    return [Contender(name, (clock.kernel(t, name),)) for name, t in us.items()]


@pytest.mark.parametrize("mode", ["graph", "eager"])
def test_a_figure_is_the_time_of_one_call(mode):
    clock = FakeClock()
    found = interleaved(contenders(clock, fast=3.0, slow=400.0), 4, mode, clock)
    assert found["fast"].us == pytest.approx((3.0,) * 4)
    assert found["slow"].us == pytest.approx((400.0,) * 4)


def test_eager_calls_pay_for_their_launches():
    clock = FakeClock(host_us=50.0)
    both = {m: interleaved(contenders(clock, a=3.0), 3, m, clock)["a"] for m in ("graph", "eager")}
    assert both["graph"].figures.us == pytest.approx(3.0)
    assert both["eager"].figures.us == pytest.approx(53.0)


def test_a_chip_that_heats_up_does_not_change_the_ratio():
    clock = FakeClock(drift=1.001)
    found = interleaved(contenders(clock, ours=100.0, peer=150.0), 24, "graph", clock)
    alone = found["ours"].us
    assert alone[-1] > 1.02 * alone[0]
    assert ratio(found["peer"], found["ours"]).median == pytest.approx(1.5, rel=0.002)


@pytest.mark.parametrize("us", [0.5, 7.0, 900.0, 5000.0])
@pytest.mark.parametrize("sets", [1, 3])
def test_the_work_behind_a_figure_is_long_enough(us, sets):
    clock = FakeClock()
    prepared = prepare(Contender("a", (clock.kernel(us),) * sets), "graph", clock, 1000.0)
    assert prepared.calls == clock.captured[-1] <= max(sets, GRAPH_CALLS_MOST)
    assert prepared.calls % sets == 0
    work = prepared.calls * prepared.times * us
    assert 1000.0 <= work < 1000.0 + 2 * max(us * sets, us * prepared.calls)


def test_every_set_of_inputs_has_its_turn():
    clock = FakeClock()
    calls = tuple(clock.kernel(10.0, f"set{i}") for i in range(3))
    interleaved([Contender("a", calls)], 2, "graph", clock)
    counts = [clock.measured.count(f"set{i}") for i in range(3)]
    assert len(set(counts)) == 1


def test_the_order_changes_from_round_to_round():
    ready = [Prepared(n, "graph", int, 1, 1) for n in "abc"]
    orders = [[p.name for p in in_turn(ready, r)] for r in range(6)]
    assert all(sorted(o) == ["a", "b", "c"] for o in orders)
    before = {pair for o in orders for pair in pairwise(o)}
    assert len(before) == 6  # everyone comes directly before everyone else in some round
    assert {o[0] for o in orders} == {"a", "b", "c"}


def test_a_contender_that_raises_is_reported_and_ends_nothing():
    clock = FakeClock()

    def fails():
        raise RuntimeError("\n  no kernel image\nmore lines")

    found = interleaved([Contender("bad", (fails,)), *contenders(clock, a=5.0)], 3, "graph", clock)
    assert found["bad"].us == ()
    assert found["bad"].failed == "RuntimeError: no kernel image"
    assert found["a"].us == pytest.approx((5.0,) * 3)


def test_a_contender_that_fails_later_has_no_figures_at_all():
    clock = FakeClock()
    calls = 0

    def fails_in_the_end():
        nonlocal calls
        calls += 1
        if calls > 40:
            raise MemoryError
        clock.spend(500.0)

    both = [Contender("bad", (fails_in_the_end,)), *contenders(clock, a=5.0)]
    found = interleaved(both, 20, "graph", clock)
    assert found["bad"].us == ()
    assert found["bad"].failed == "MemoryError"
    assert len(found["a"].us) == 20


def test_what_cannot_be_captured_is_reported():
    class NoGraphs(FakeClock):
        def capture(self, calls):
            raise RuntimeError("operation not permitted when stream is capturing")

    clock = NoGraphs()
    found = interleaved(contenders(clock, a=5.0), 3, "graph", clock)
    assert "capturing" in found["a"].failed


def test_a_device_beyond_use_ends_everything():
    clock = FakeClock()

    def breaks():
        clock.dead = True
        raise BrokenError("an illegal memory access was encountered")

    at_work = []
    both = [*contenders(clock, a=5.0), Contender("bad", (breaks,))]
    with pytest.raises(BrokenError):
        interleaved(both, 3, "graph", clock, started=at_work.append)
    assert at_work[-1] == "bad"


def test_an_unknown_mode_is_refused():
    clock = FakeClock()
    with pytest.raises(ValueError, match="graph or eager"):
        prepare(Contender("a", (clock.kernel(1.0),)), "lazy", clock, 1.0)


@given(st.integers(0, 1 << 36), st.integers(1, 1 << 28), st.none() | st.integers(0, 1 << 38))
def test_sets_of_inputs(size, l2, memory):
    count = rotated_sets(size, l2, memory)
    assert 1 <= count <= SETS_MOST
    if memory is not None and count > 1:
        assert count * size <= memory
    if memory is None and count < SETS_MOST:
        assert count * max(1, size) >= 4 * l2


def test_large_inputs_need_no_rotation():
    assert rotated_sets(512 * MIB, 60 * MIB) == 1
    assert rotated_sets(34 * MIB, 60 * MIB) == 8
