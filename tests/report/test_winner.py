from __future__ import annotations

from superopt.report.winner import shown_winners
from superopt.ugraph.text import digest
from superopt.ugraph.text import show
from tests.report.sample import GRAPHS
from tests.report.sample import sample
from tests.report.test_evidence import figure
from tests.report.test_evidence import with_figures


def test_a_graph_that_won_two_cases_is_shown_once(tmp_path):
    (winner,) = shown_winners(sample(tmp_path))
    assert winner.digest == digest(GRAPHS[0])[:12]
    assert winner.cases == "large, later"
    assert winner.text == show(GRAPHS[0]).rstrip()
    assert [law.law for law in winner.laws] == ["commute a product"]
    assert winner.repairs == ()
    assert winner.picture.svg.startswith("<svg ")


def test_errors_are_shown_if_anything_was_compared(tmp_path):
    run = sample(tmp_path)
    assert shown_winners(run)[0].errors is None
    (winner,) = shown_winners(with_figures(run, (figure("ordinary"),), ()))
    assert winner.errors
    assert winner.errors.title == f"Errors of {winner.digest} by family of inputs"
    assert winner.tables[0].title == "Outputs compared: 1"
