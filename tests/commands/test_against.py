"""Peers beside winners, with the process of a case replaced by its answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from superopt.commands import against as module
from superopt.commands.against import Rivals
from superopt.commands.against import best_peer
from superopt.commands.against import check_rivals
from superopt.commands.against import with_peers
from superopt.commands.search import TimingOptions
from superopt.commands.search import _machine
from superopt.commands.search import _rivals
from superopt.device import target
from superopt.errors import UserError
from superopt.loading import load
from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Run
from superopt.tune.record import Figures
from superopt.tune.timing import Timing
from tests.conftest import ROOT
from tests.conftest import SOFTMAX
from tests.test_run import FIRST
from tests.tune.records import MACHINE

(SPEC,) = load(f"{SOFTMAX}:softmax")
CASES = SPEC.cases[:2]
TIMED = replace(FIRST, timed=Figures(10.0, 9.0, 11.0, 15))


def run(*winners):
    cases = tuple(CaseRun(c, Counts(1, 1), (w,), w) for c, w in zip(CASES, winners, strict=False))
    return Run("softmax", "h200", 0, "8", cases, Path(), Path("softmax.py"), timing=Timing(MACHINE))


def row(name, us=None, failed="", wrong=""):
    figures = {
        "us": us,
        "low": us,
        "high": us,
        "ratio": (us or 0) / 10,
        "ratio_low": 1,
        "ratio_high": 2,
    }
    return {"mode": "graph", "name": name, "failed": failed, "wrong": wrong} | (
        figures if us else {}
    )


@pytest.fixture
def answer(monkeypatch):
    asked = []

    def give(**found):
        def in_process(job, seconds):
            asked.append(job)
            return {"problem": "", **found}

        monkeypatch.setattr(module, "in_process", in_process)
        return asked

    return give


def test_every_timed_case_is_compared(answer):
    asked = answer(
        rows=[
            row("superopt", 10.0),
            row("eager", 30.0),
            row("compile", 12.0),
            row("x", 5.0, wrong="no"),
        ]
    )
    found = with_peers(run(TIMED, FIRST), SPEC, Rivals(("eager", "compile")))
    (job,) = asked  # the second case has no time
    assert (job.case["name"], job.against) == (CASES[0].name, ("eager", "compile"))
    assert job.modes == ("graph",)
    assert job.spec == f"{SOFTMAX.resolve()}:softmax"
    eager, compiled, wrong = found.timing.peers
    assert (eager.us, eager.ratio, eager.why) == (30.0, 3.0, "")
    assert (wrong.us, wrong.why) == (None, "wrong: no")
    assert best_peer(found, CASES[0].name) is compiled
    assert best_peer(found, CASES[1].name) is None
    assert found.timing.machine == MACHINE


def test_a_yardstick_is_no_peer(answer):
    """What does something else, such as a copy, is shown, but nobody is compared with it."""
    answer(rows=[{**row("copy", 1.0), "checked": False}, {**row("eager", 30.0), "checked": True}])
    found = with_peers(run(TIMED), SPEC, Rivals(("eager",)))
    assert [p.yardstick for p in found.timing.peers] == [True, False]
    assert best_peer(found, CASES[0].name).name == "eager"


def test_a_contest_that_breaks_is_a_reason(answer):
    answer(problem="the kernel: hung", rows=[])
    found = with_peers(run(TIMED), SPEC, Rivals(("eager",)))
    (peer,) = found.timing.peers
    assert (peer.name, peer.us, peer.why) == ("eager", None, "the kernel: hung")


def test_unknown_peers_are_said_before_the_search():
    with pytest.raises(UserError, match="nobody"):
        check_rivals(Rivals(("nobody",)), SPEC)
    with pytest.raises(UserError, match="give both"):
        _rivals(TimingOptions(peers=ROOT / "benchmarks" / "peers" / "softmax.py"), [SPEC])
    assert _rivals(TimingOptions(against="eager, compile"), [SPEC]).against == ("eager", "compile")
    assert _rivals(TimingOptions(), [SPEC]) is None


def test_why_nothing_is_timed():
    assert _machine(TimingOptions(wanted=False), target("h200")) == (None, "--no-time")
    assert _machine(TimingOptions(), target("h200")) == (None, "no GPU")
