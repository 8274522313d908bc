from __future__ import annotations

import io
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from superopt.case import Case
from superopt.report.live import Progress
from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Stage
from superopt.tune.record import Figures
from tests.report.sample import sample

COUNTS = Counts(9, 2, 0, (("repair: no finite rank found for [round]", 4),), (("cut", 3),))


def told(console, quiet=False):
    with Progress(console, quiet) as progress:
        progress.case("f", "big")
        progress.stage("proving candidate 1 of 2")
        progress.counts(COUNTS)
        progress.verified(12.34, 0.9)
        progress.verified(56.0, 0.1)
        progress.refused("floats: too large")
        progress.refused("floats: nan [in x]" + 100 * " far too long")
        progress.done(CaseRun(Case("big", m=4), COUNTS, (), None))


def test_plain_lines_where_there_is_no_terminal():
    out = io.StringIO()
    told(Console(file=out, soft_wrap=True))
    assert out.getvalue() == (
        "f / big: seen 9, built 2, rejected 4, pruned 3, verified 0; no verified kernel\n"
    )
    quiet = io.StringIO()
    told(Console(file=quiet, soft_wrap=True), quiet=True)
    assert quiet.getvalue() == ""


def test_where_there_is_no_terminal_a_line_at_times_says_what_is_done():
    out = io.StringIO()
    with Progress(Console(file=out, soft_wrap=True), every=0.01) as progress:
        time.sleep(0.05)
        assert out.getvalue() == ""  # nothing is being done yet
        progress.case("f", "big")
        progress.stage("proving candidate 1 of 2 [in x]")
        while not out.getvalue():
            time.sleep(0.01)
    said = out.getvalue()
    assert said.splitlines()[0] == "f / big: proving candidate 1 of 2 [in x] (after 0 s)"
    time.sleep(0.05)
    assert out.getvalue() == said  # and no more after its end


@pytest.mark.parametrize("terminal", [False, True])
def test_nothing_is_said_at_times_if_that_is_not_wanted(terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, soft_wrap=True)
    with Progress(console, quiet=not terminal, every=0.01) as progress:
        progress.stage("proving")
        time.sleep(0.05)
    assert "after" not in out.getvalue()


def test_candidates_that_a_check_refused_are_said():
    out = io.StringIO()
    refused = replace(sample(Path()).cases[0].winner, stage=Stage.REFUSED)
    with Progress(Console(file=out, soft_wrap=True)) as progress:
        progress.case("f", "big")
        progress.done(CaseRun(Case("big", m=4), COUNTS, (refused, refused), None))
    assert "verified 0, refused 2; no verified kernel" in out.getvalue()


def test_a_terminal_shows_a_table_that_leaves_one_line():
    out = io.StringIO()
    told(Console(file=out, force_terminal=True, width=60, height=20, soft_wrap=True))
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", out.getvalue())
    for word in ("f / big", "proving candidate 1 of 2", "12.3 us by the model, 90% of roofline"):
        assert word in text
    assert "4  repair: no finite rank found for [round]" in text
    assert "│ refused  │ 2  last: floats: nan [in x]" in text
    table = [line for line in text.replace("\r", "\n").splitlines() if "│" in line]
    assert table
    assert all(len(line) <= 60 for line in table)


def test_an_error_is_printed_on_standard_error(capsys):
    with Progress(Console(file=io.StringIO(), force_terminal=True)) as progress:
        progress.error("error: f.py:3: wrong")
    assert capsys.readouterr().err == "error: f.py:3: wrong\n"


def test_a_case_that_was_timed_says_what_was_measured():
    out = io.StringIO()
    winner = replace(sample(Path()).cases[0].winner, timed=Figures(250.0, 249.0, 252.5, 7))
    with Progress(Console(file=out, soft_wrap=True)) as progress:
        progress.case("f", "big")
        progress.done(CaseRun(Case("big", m=4), COUNTS, (winner,), winner))
    assert out.getvalue() == (
        "f / big: seen 9, built 2, rejected 4, pruned 3, verified 1; winner 250.0 us measured "
        "(249.0 to 252.5), 220.0 us by the model\n"
    )
