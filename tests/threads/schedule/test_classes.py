"""Classes of schedules of one consumer alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings

from superopt.threads.schedule.classes import Work
from superopt.threads.schedule.classes import classes
from superopt.threads.schedule.place import placed
from tests.threads.schedule.cases import NARROW
from tests.threads.schedule.cases import RATES
from tests.threads.schedule.cases import SQUARE
from tests.threads.schedule.cases import WIDE
from tests.threads.schedule.cases import problem
from tests.threads.schedule.cases import problems
from tests.threads.schedule.simulated import Machine
from tests.threads.schedule.simulated import pressure


def after(solution, name, other):
    """Stages and offset of ``name``, seen from the issue of ``other``."""
    earlier = solution.offset[name] < solution.offset[other]
    stages = solution.stage[name] - solution.stage[other] - earlier
    return stages, (solution.offset[name] - solution.offset[other]) % solution.interval


@pytest.mark.parametrize("matrix", [1024, 2896])
@pytest.mark.parametrize("special", [8, 32])
@pytest.mark.parametrize("plain", [64, 256])
def test_the_next_scores_come_first_and_weighted_values_fly_beside_exponentials(
    matrix, special, plain
):
    """The overlap that FlashAttention-3 has by hand, whatever instructions cost (products no
    faster than all else together, as on the device)."""
    rates = replace(RATES, matrix=matrix, special=special, plain=plain)
    made = problem("plain", rates=rates, **WIDE)
    (first,) = classes(made, 1, Work())
    (late, issued), (same, exponentials) = (
        after(first, name, "product_1") for name in ("sum0", "exp2_6")
    )
    assert (late, same) == (1, 0)
    assert issued < exponentials
    waited = issued + first.wait["sum0"] - first.offset["sum0"]
    assert waited > exponentials


@pytest.mark.parametrize(
    ("name", "consumers", "slots", "tiles", "least", "most"),
    [
        ("plain", 2, 2, WIDE, 5, 12),
        ("plain", 3, 2, NARROW, 4, 12),
        ("matmul", 2, 4, SQUARE, 2, 2),
    ],
)
def test_there_are_a_few_classes(name, consumers, slots, tiles, least, most):
    found = list(classes(problem(name, consumers, slots, **tiles), 20, Work()))
    assert least <= len(found) <= most
    intervals = [s.interval for s in found]
    assert intervals == sorted(intervals)
    assert intervals[-1] <= intervals[0] * 5 / 4


def test_values_that_do_not_fit_into_registers_are_found_at_once():
    made, work = problem("plain", 3, d=128, e=128, n=256), Work()
    assert list(classes(made, 8, work)) == []
    assert work.left > Work().left - 5_000_000


def test_rings_that_are_too_small_are_found_at_once():
    made = problem("scaled", 2, d=64)
    # The operand is made of a tile that is still there when the next one is read.
    none = replace(made, rings=tuple(replace(r, capacity=0) for r in made.rings))
    assert list(classes(none, 8, Work())) == []


def test_work_that_is_spent_ends_the_search():
    assert list(classes(problem("plain", **WIDE), 8, Work(0))) == []
    some = list(classes(problem("plain", **WIDE), 8, Work(4_000_000)))
    assert 0 < len(some) < 8


@settings(max_examples=25, deadline=None)
@given(problems())
def test_schedules_run_as_they_say(made):
    """Simulated, no role waits for ever, nothing is read too early, the interval holds, and the
    text needs as many registers as it says."""
    for solution in classes(made, 3, Work(20_000_000)):
        schedule = placed(made, solution)
        machine = Machine(made, schedule, 18, (0,)).run()
        assert machine.interval <= solution.interval
        assert pressure(made, schedule) == solution.registers


def test_classes_are_all_different_and_the_same_again():
    made = problem("plain", 3, **NARROW)
    found = list(classes(made, 2, Work()))
    assert found == list(classes(made, 2, Work()))
    assert len({placed(made, s).places for s in found}) == 2
