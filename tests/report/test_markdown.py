from __future__ import annotations

from pathlib import Path

from superopt.case import Case
from superopt.report.markdown import report
from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Run


def test_the_page_of_a_search(searched):
    page = (searched.directory / "report.md").read_text()
    assert page.startswith("# softmax\n\nTarget ")
    assert "**verified**" in page
    assert "| graph equals spec | sampled at " in page
    assert "| repair 0, endomorphism | proved by " in page
    assert "\n| fp32 | " in page
    assert "\n| fp16 | " in page
    assert "bf16 on this GPU: not executed" in page
    assert "nothing was timed" in page
    assert "| compiled for | kernel |" in page
    assert "place n Loop" in page


def test_tables_have_as_many_cells_as_their_heads(searched):
    width = 0
    for line in (searched.directory / "report.md").read_text().splitlines():
        cells = line.replace("\\|", "").count("|") if line.startswith("|") else 0
        assert cells in (0, width) or width == 0, line
        width = cells


def test_a_run_without_a_winner_says_why():
    counts = Counts(3, 0, 0, (("repair: no finite rank | found", 3),), ())
    cases = (
        CaseRun(Case("small", m=4, dtype="bf16"), counts, (), None),
        CaseRun(Case("large", m=8, dtype="bf16"), Counts(complete=False), (), None),
    )
    page = report(Run("f", "h200", 0, "1m", cases, Path(), interrupted=True))
    assert "**no verified kernel**" in page
    assert "The search was interrupted" in page
    assert "| rejected: repair: no finite rank \\| found | 3 |" in page
    assert "No candidate could be built; the table says why." in page
    assert "Not searched: the run ended before." in page
