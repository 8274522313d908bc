"""Schedules drawn at random: right texts are right in all, and wrong ones show in some."""

from __future__ import annotations

from functools import partial

import pytest

from tests.verify.source.concurrent.adversary import ChanceMachine
from tests.verify.source.concurrent.faults import FAULTS
from tests.verify.source.concurrent.texts import MATMUL
from tests.verify.source.concurrent.texts import copied
from tests.verify.source.concurrent.texts import multiplied

SCHEDULES = 20


@pytest.mark.parametrize("read", [copied, multiplied])
def test_right_texts_are_right_in_every_schedule(read):
    for seed in range(6):
        assert read(machines=partial(ChanceMachine, seed=seed)).said == ""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_every_fault_shows_in_some_schedule(fault):
    text = MATMUL.replace(fault.old, fault.new)
    assert any(
        multiplied(text, partial(ChanceMachine, seed=seed)).said for seed in range(SCHEDULES)
    )


def test_an_order_that_deadlocks_can_hide_from_most_schedules():
    (fault,) = [f for f in FAULTS if f.name == "release of the wrong stage"]
    text = MATMUL.replace(fault.old, fault.new)
    said = [multiplied(text, partial(ChanceMachine, seed=s)).said for s in range(SCHEDULES)]
    assert 0 < sum(map(bool, said)) < SCHEDULES / 2
