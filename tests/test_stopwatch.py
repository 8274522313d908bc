from __future__ import annotations

import time

import pytest

from superopt.stopwatch import Stopwatch


def test_the_seconds_of_a_stage_add_up_and_stages_may_lie_inside_one_another():
    watch = Stopwatch()
    with watch.of("outer"):
        for _ in range(2):
            with watch.of("inner"):
                time.sleep(0.02)
    assert list(watch.seconds) == ["inner", "outer"]  # in the order in which they first ended
    assert 0.04 <= watch.seconds["inner"] <= watch.seconds["outer"] <= watch.elapsed


def test_what_begins_is_told_if_it_has_words():
    told = []
    watch = Stopwatch(told.append)
    with watch.of("stage", "at work"), watch.of("quiet"):
        assert told == ["at work"]
    assert told == ["at work"]


def failing():
    time.sleep(0.01)
    raise ValueError("no")


def test_a_stage_that_fails_has_its_seconds():
    watch = Stopwatch()
    with pytest.raises(ValueError, match="no"), watch.of("stage"):
        failing()
    assert watch.seconds["stage"] >= 0.01
