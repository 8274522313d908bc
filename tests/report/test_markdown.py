from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from superopt.case import Case
from superopt.report.claims import claims
from superopt.report.markdown import others_first
from superopt.report.markdown import report
from superopt.report.sections import LONG
from superopt.report.sections import folded
from superopt.report.tables import Table
from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Run
from superopt.run import Stage
from superopt.source import Facts
from tests.report.sample import GRAPHS
from tests.report.sample import judged
from tests.report.sample import sample


def test_the_page_of_a_search(searched):
    page = (searched.directory / "report.md").read_text()
    assert page.startswith("# softmax\n\nTarget ")
    assert "**verified**" in page
    assert "| kernel graph | graph equals spec | " in page
    assert "| repair 0 | endomorphism | z3" in page
    assert next(x for x in page.splitlines() if x.startswith("## ")) == "## Evidence on the winners"
    assert "\n| fp32 | " in page
    assert "\n| fp16 | " in page
    assert "bf16 on this GPU: not executed" in page
    assert "nothing was timed" in page
    assert "| case | configs | for | function |" in page
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
    assert "No candidate could be built, for these reasons:" in page
    assert "* rejected 3: repair: no finite rank \\| found" in page
    assert "Not searched: the run ended before." in page


def test_a_verified_one_that_spills_says_why_it_does_not_win():
    case = sample(Path()).cases[0]
    assert case.winner is not None
    spilled = replace(case.winner, stage=Stage.VERIFIED, facts=(Facts("f", "sm_90", 0, 255, 4096),))
    run = replace(sample(Path()), cases=(replace(case, candidates=(spilled, case.winner)),))
    assert report(run).count("registers spill (4096 B): wins only where all do") == 1


def test_a_verdict_stands_once(tmp_path):
    run = judged(tmp_path)
    page = report(run)
    for claim in claims(run):
        cells = (claim.reading, claim.short, claim.evidence, "; ".join(claim.facts))
        assert page.count(f"| {' | '.join(cells)} | {claim.digest[:6]} |") == 1
    headings = [line for line in page.splitlines() if line.startswith("### ")]
    assert headings[:5] == [
        "### Proved: 2",
        "### Sampled: 2",
        "### Measured",
        "### Assumed",
        "### Neither proved nor sampled: 1",
    ]


def test_long_tables_are_folded():
    table = Table("Many", ("a",), tuple((str(i),) for i in range(LONG + 1)))
    lines = list(folded(table))
    assert lines[0] == "<details><summary>Many</summary>"
    assert lines[-2:] == ["</details>", ""]
    assert next(iter(folded(Table("Few", ("a",), (("1",),))))) == "Few"
    assert list(folded(Table("None", ("a",), ()))) == []


def test_other_structures_come_first_of_what_was_only_ranked():
    one = sample(Path()).cases[0].candidates[0]
    loop, again, split = (replace(one, graph=g) for g in GRAPHS)
    assert others_first([], [loop, again, split]) == [loop, split, again]
    assert others_first([again], [loop, split]) == [split, loop]
    assert others_first([split], []) == []
