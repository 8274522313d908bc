from __future__ import annotations

from dataclasses import replace

from superopt.approximate.offer import offers
from superopt.loading import load
from superopt.report.markdown import report
from superopt.report.record import read
from superopt.report.record import write
from superopt.report.restore import run_from
from tests.report.sample import sample


def specs():
    return {s.name: s for s in load("specs/scaled_linear.py")}


def test_a_rounding_that_waits_for_a_fold_has_an_offer():
    (text,) = offers(specs()["quantised_linear"])
    assert text.startswith("per-tile scale: one pass over k")
    assert "It does not compute this operator." in text
    assert text.count("times what a kernel may;") == 3
    assert "superopt approximate FILE:quantised_linear --tile 128" in text


def test_others_have_none():
    assert offers(specs()["amax_linear"]) == ()


def test_the_report_lists_it_and_a_run_keeps_it(tmp_path):
    run = replace(
        sample(tmp_path), directory=tmp_path, substitutes=("per-tile scale: off by a bit.",)
    )
    assert "## Substitutes\n\n* per-tile scale: off by a bit." in report(run)
    assert "## Substitutes" not in report(replace(run, substitutes=()))
    write(run, {})
    assert run_from(read(tmp_path / "run.json"), tmp_path).substitutes == run.substitutes
