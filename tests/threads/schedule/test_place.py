"""Schedules of thread graphs."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from superopt.device import target
from superopt.errors import NotEmittable
from superopt.threads.check import check
from superopt.threads.flight import events
from superopt.threads.flight import outstanding
from superopt.threads.schedule.place import rescheduled
from superopt.threads.schedule.place import schedules
from superopt.threads.written import scheduled
from superopt.threads.written import written
from superopt.ugraph.threads_text import show_threads
from tests.threads.schedule.cases import RATES
from tests.threads.schedule.cases import found
from tests.threads.schedule.cases import graph

CASES = [
    *(("matmul", 2, 4, "SQUARE"), ("gated", 2, 3, ""), ("scaled", 2, 2, "")),
    *(("plain", 2, 2, "WIDE"), ("causal", 2, 3, "")),
]


@pytest.mark.parametrize(("name", "consumers", "capacity", "tiles"), CASES)
def test_schedules_are_legal_and_the_best_comes_first(name, consumers, capacity, tiles):
    made, listed = found(name, consumers, capacity, 3, tiles)
    assert listed
    assert listed[0].interval <= min(s.interval for s in listed) * 17 / 16
    assert len({(s.places, s.waits) for s in listed}) == len(listed)
    for schedule in listed:
        assert check(rescheduled(made, made.bodies[0], schedule)) == []
        assert 0 < schedule.registers <= made.registers[0]
        assert (schedule.phase > 0) == (consumers > 1)


def steps(name, consumers, capacity=2, most=3, tiles="", which=0):
    """What happens in a step of a schedule: (name, whether it is a wait, stage)."""
    made, listed = found(name, consumers, capacity, most, tiles)
    body = replace(made.bodies[0], schedule=listed[which])
    return body, [(e.name, e.wait, e.place.stage) for e in events(body)]


def test_a_chain_is_awaited_when_the_next_product_is_issued():
    body, happens = steps("matmul", 2, 4, 3, "SQUARE")
    assert happens == [("sum0", False, 0), ("sum0", True, 1)]
    assert outstanding(body)["loop", 0, 1] == 1
    _, second = steps("matmul", 2, 4, 3, "SQUARE", 1)
    assert second == [("sum0", False, 0), ("sum0", True, 0)]


def test_chains_are_awaited_in_the_order_in_which_they_were_issued():
    for which in range(2):
        _, happens = steps("gated", 2, 3, 3, "", which)
        issued = [n for n, wait, _ in happens if not wait]
        assert [n for n, wait, _ in happens if wait] == issued


def test_the_next_scores_are_issued_first_and_values_awaited_late():
    _, happens = steps("plain", 2, 2, 3, "WIDE")
    order = [n + "!" * wait for n, wait, _ in happens]
    assert order[0] == "product_1"
    assert order.index("sum0") < order.index("exp2_6") < order.index("sum0!")
    assert ("sum0", True, 1) in happens
    assert ("exp2_6", False, 0) in happens


def test_a_schedule_can_be_written_into_a_config():
    made, listed = found("plain", 2, 2, 3, "WIDE")
    body = made.bodies[0]
    for schedule in listed:
        word = written(replace(body, schedule=schedule), made.pipes)
        again = scheduled(word, body.axis, body.instrs, made.pipes)
        assert check(rescheduled(made, body, again)) == []
        assert written(replace(body, schedule=again), made.pipes) == word


def test_what_has_no_room_has_no_schedule():
    made = graph("plain", 2, m=128, d=128, e=128, n=256)
    assert schedules(made, "bf16", RATES) == ()


def test_a_device_without_a_thread_level_is_refused():
    with pytest.raises(NotEmittable, match="sm_80"):
        schedules(graph("matmul"), "bf16", target("a100"))


RUN = """
from tests.threads.schedule.test_place import shown
print(shown())
"""


def shown() -> str:
    """Graphs with schedules, as text."""
    made, listed = found("plain", 3, 2, 1, "NARROW")
    (body,) = made.bodies
    return "\n".join(show_threads(rescheduled(made, body, s)) for s in listed)


def test_schedules_do_not_depend_on_hashes():
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    said = subprocess.run(
        [sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert said == shown() + "\n"
    assert "registers 144 phase" in said  # it has a schedule that was found
