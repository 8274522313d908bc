from __future__ import annotations

from dataclasses import replace

from superopt.report.markdown import report
from superopt.report.measured import executed
from superopt.report.measured import untimed_words
from superopt.report.measured import winner_words
from superopt.tune.timing import NOT_TIMED
from superopt.tune.timing import Timing
from tests.report.sample import MEASURED
from tests.report.sample import TIMING
from tests.report.sample import case_run
from tests.report.sample import sample
from tests.tune.records import MACHINE


def test_the_markdown_page_of_a_timed_run(tmp_path):
    page = report(sample(tmp_path))
    for text in (
        "250.0 us (249.0 to 252.0) measured, 80% of the roofline; 220.0 us by the model",
        "### Measured on NVIDIA H200",
        "Rank correlation of model and measurement: 0.80 (Spearman).",
        "| floats | output 'out': rel 1 \\| 0 | 1 |",
        "| compile | graph | 300.0 us (299.0 to 302.0) | 1.20x (1.19 to 1.21) |",
        "| broken | graph |  | raised \\| an error |",
        "| tried on the device (a graph with its Configs) | 5 |",
        "Not timed: it was not tried on the device; ranked by the model.",
        "on NVIDIA H200 at their own sizes (bf16)",
    ):
        assert text in page, text
    width = 0
    for line in page.splitlines():
        cells = line.replace("\\|", "").count("|") if line.startswith("|") else 0
        assert cells in (0, width) or width == 0, line
        width = cells


def test_a_page_without_times_has_no_word_of_a_measurement(tmp_path):
    page = report(sample(tmp_path, timed=False))
    assert "Not timed: no GPU was used; ranked by the model." in page
    assert "nothing was timed" in page
    assert "### Measured on" not in page
    assert "measured (" not in page
    assert " rounds" not in page


def test_why_there_is_no_time():
    result = case_run("large", False)
    assert untimed_words(result, NOT_TIMED) == "no GPU was used"
    assert untimed_words(result, Timing(MACHINE)) == "it was not tried on the device"
    assert untimed_words(result, TIMING) == "it has no time with its Configs"
    assert untimed_words(replace(result, untimed="a hang"), NOT_TIMED) == "a hang"


def test_a_winner_without_a_time_is_not_said_to_have_one():
    others = Timing(MACHINE, MEASURED[:3])
    result = case_run("large", True)
    assert winner_words(result, others) == "220.0 us by the model, 91% of the roofline"
    assert winner_words(replace(result, winner=None), TIMING) == "no verified kernel"


def test_dtypes_that_were_executed_are_those_of_timed_winners(tmp_path):
    run = sample(tmp_path)
    assert "(bf16)" in " ".join(executed(run))
    assert "not executed" in " ".join(executed(replace(run, timing=NOT_TIMED)))
