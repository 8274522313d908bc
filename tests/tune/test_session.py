from __future__ import annotations

import pytest

from superopt.device import target
from superopt.tune.session import Session
from superopt.tune.tuner import Tuning
from tests.tune.records import MACHINE
from tests.tune.tuning import Bench
from tests.tune.tuning import Compiler
from tests.tune.tuning import Watcher
from tests.tune.tuning import job


class OnCpu(Bench):
    on = "cpu"


@pytest.fixture
def session(tmp_path):
    with Session(tmp_path / "t.db", MACHINE, target("h200"), 10, bench=OnCpu()) as found:
        yield found


def tune(session, cases, tmp_path):
    return session.tune(job(), cases, Compiler(), tmp_path, Watcher())


def test_trials_are_shared_between_the_cases_that_are_left(session, tmp_path):
    assert len(tune(session, 3, tmp_path).measured) == 4
    assert session.left == 6
    # Four are known by now; they count, so the second case tries nothing new.
    assert len(tune(session, 2, tmp_path).measured) == 4
    assert session.left == 3
    assert len(tune(session, 1, tmp_path).measured) == 4
    assert session.left == 0
    assert not session.interrupted


def test_an_interrupt_ends_in_a_result(session, tmp_path, monkeypatch):
    def stop(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Tuning, "_again", stop)
    found = tune(session, 1, tmp_path)
    assert session.interrupted
    assert len(found.measured) == 10
    assert found.winner.figures
    assert not found.winner.interleaved
