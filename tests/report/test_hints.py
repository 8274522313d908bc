"""A winner far below its roofline gets a hint, which says what the model knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from superopt.case import Case
from superopt.report.hints import WORDS
from superopt.report.hints import hint
from superopt.report.markdown import report
from superopt.run import Counts
from superopt.run import Stage
from superopt.search.model import RESOURCES
from superopt.tune.record import Figures
from tests.report.sample import SIZES
from tests.report.sample import case_run
from tests.report.sample import sample


def with_winner(result, **changes):
    winner = replace(result.winner, **changes)
    return replace(result, winner=winner, candidates=(winner, *result.candidates[1:]))


def test_one_that_is_near_gets_none():
    assert hint(case_run("large", False), "h200") == ""
    assert hint(replace(case_run("large", False), winner=None), "h200") == ""


def test_one_that_is_little_more_than_its_launch_gets_none():
    small = case_run("small", False)
    assert hint(with_winner(small, model_us=3.0, share=0.01), "h200") == ""
    assert hint(with_winner(small, model_us=6.0, share=0.01), "h200") != ""


def test_what_is_reached_what_binds_and_what_to_try():
    far = with_winner(case_run("large", False), model_us=800.0, share=0.25)
    said = hint(far, "h200")
    assert said.startswith("25% of the roofline (by the model: 800.0 us, where 200.0 would do). ")
    assert "What takes longest by the model: the matrix units, " in said
    assert said.endswith(
        " us. To try: superopt time on a GPU, for the model may be wrong; another --target, if it "
        "is meant for one."
    )


def test_the_clock_counts_where_there_is_one():
    far = with_winner(case_run("large", True), timed=Figures(500.0, 499.0, 501.0, 7))
    said = hint(far, "h200")
    assert said.startswith("40% of the roofline (measured: 500.0 us, where 200.0 would do). ")
    assert "superopt time with more --trials" in said
    assert hint(with_winner(far, timed=Figures(300.0, 299.0, 301.0, 7)), "h200") == ""


def test_what_to_try_depends_on_the_case():
    far = with_winner(case_run("small", False), model_us=800.0, share=0.25)
    case = Case("small", dtype="fp32", **SIZES | {"m": 128, "n": 128})
    counts = replace(Counts(9, 3), complete=False)
    faster = replace(far.candidates[1], stage=Stage.REFUSED)
    said = hint(replace(far, case=case, counts=counts, candidates=(faster, far.winner)), "h200")
    for words in (
        "tf32=True in the case, or 16 bits, for its matrix products",
        "a case of larger sizes (1 programs for 132 multiprocessors)",
        "another way to write the spec, for 1 that the model likes more were refused",
        "a larger --budget, for the search did not see all",
    ):
        assert words in said


def test_every_part_of_a_time_has_words():
    assert set(WORDS) == {*RESOURCES, "launch"}


def test_the_report_has_it():
    run = sample(Path(), timed=False)
    assert "Far from" not in report(run)
    far = with_winner(run.cases[0], model_us=800.0, share=0.25)
    text = report(replace(run, cases=(far, *run.cases[1:])))
    assert text.count("Far from what the device could do: 25% of the roofline") == 1
