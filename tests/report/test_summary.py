from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.report.correlation import spearman
from superopt.report.summary import best_so_far
from superopt.report.summary import correlation
from superopt.report.summary import funnel
from superopt.report.summary import made_in
from superopt.report.summary import measured_share
from superopt.report.summary import winning
from superopt.tune.timing import Timing
from tests.report.sample import MEASURED
from tests.report.sample import TIMING
from tests.report.sample import case_run


def test_the_funnel_adds_up():
    found = funnel(case_run("large", True), TIMING)
    assert (found.seen, found.duplicates, found.rejected, found.pruned, found.built) == (
        *(9, 1, 3, 2),
        3,
    )
    assert found.stages == (("ranked", 1), ("timed", 2))
    assert (found.tried, found.failed, found.timed) == (5, (("floats", 1),), 4)
    assert found.compiled == 5
    assert found.adds_up
    assert not replace(found, seen=10).adds_up
    assert not replace(found, timed=3).adds_up
    assert not replace(found, stages=()).adds_up
    assert replace(found, failed=(("compile", 1),)).compiled == 4


def test_a_case_without_times():
    result, timing = case_run("later", False), TIMING.of("later")
    assert funnel(result, timing).adds_up
    assert funnel(result, timing).tried == 0
    assert winning(result, timing) is None
    assert correlation(timing) is None
    assert best_so_far(timing) == []


def test_the_winner_is_judged_by_its_last_measurement():
    result = case_run("large", True)
    found = winning(result, TIMING)
    assert found is MEASURED[5]
    assert measured_share(result, found) == pytest.approx(200 / 250)
    assert winning(replace(result, winner=None), TIMING) is None
    assert winning(result, Timing(TIMING.machine, MEASURED[:3])) is None  # with other Configs
    assert measured_share(result, MEASURED[1]) is None


def test_the_model_is_compared_with_the_last_word():
    assert correlation(TIMING) == spearman([230, 240, 220, 262], [290, 262, 250, 301])


def test_only_improvements_count():
    assert best_so_far(TIMING) == [(0.0, 290.0), (3.0, 262.0), (4.5, 251.0), (7.5, 250.0)]
    slower = replace(MEASURED[0], seconds=99.0)
    assert best_so_far(Timing(None, (slower, *MEASURED[3:4]))) == [(4.5, 251.0)]


def test_how_long_the_kernel_file_took():
    seconds = {"prove": 9.0, "file: read": 1.25, "file: execute": 3.0, "assemble": 3.5}
    said = "kernel file made and checked in 3.5 s: read 1.2, execute 3.0"
    assert made_in(seconds) == said
