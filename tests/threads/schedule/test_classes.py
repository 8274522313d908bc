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
    first = classes(made, 1, Work())[0][0]
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
    found = classes(problem(name, consumers, slots, **tiles), 20, Work())
    assert least <= len(found) <= most
    intervals = [first.interval for first, *_ in found]
    assert intervals == sorted(intervals)
    assert intervals[-1] <= intervals[0] * 5 / 4


def test_a_class_has_a_schedule_that_spares_registers():
    made = problem("plain", 2, **WIDE)
    ((short, light),) = classes(made, 1, Work())
    assert light.interval > short.interval
    # Exponentials are rounded at once, not beside the next scores.
    assert (short.registers, light.registers) == (64 + 64 + 64, 64 + 64 + 32)
    first, second = (_turned(made, s) for s in (short, light))
    assert first == second


def _turned(made, solution):
    return [after(solution, name, made.anchors[0])[0] for name in made.anchors]


def test_values_that_do_not_fit_into_registers_are_found_at_once():
    made, work = problem("plain", 2, m=128, d=128, e=128, n=256), Work()
    assert classes(made, 8, work) == []
    assert work.left > Work().left - 5_000_000


def test_rings_that_are_too_small_are_found_at_once():
    made = problem("scaled", 2, d=64)
    # The operand is made of a tile that is still there when the next one is read.
    none = replace(made, rings=tuple(replace(r, capacity=0) for r in made.rings))
    assert classes(none, 8, Work()) == []


def test_work_that_is_spent_ends_the_search():
    assert classes(problem("plain", **WIDE), 8, Work(0)) == []
    some = classes(problem("plain", **WIDE), 8, Work(4_000_000))
    assert 0 < len(some) < 8


@settings(max_examples=25, deadline=None)
@given(problems())
def test_schedules_run_as_they_say(made):
    """Simulated, no role waits for ever, nothing is read too early, the interval holds, and the
    text needs as many registers as it says."""
    for solution in (s for alike in classes(made, 3, Work(20_000_000)) for s in alike):
        schedule = placed(made, solution)
        machine = Machine(made, schedule, 18, (0,)).run()
        assert machine.interval <= solution.interval
        assert pressure(made, schedule) == solution.registers


def test_classes_are_all_different_and_the_same_again():
    made = problem("gated", 2, 4)
    found = classes(made, 8, Work())
    assert found == classes(made, 8, Work())
    texts = {(p.places, p.waits) for s, *_ in found for p in [placed(made, s)]}
    assert len(texts) == len(found) == 8
