from __future__ import annotations

from superopt.report import tables
from superopt.report.claims import Claim
from superopt.report.evidence import winners
from superopt.report.restore import run_from
from superopt.verify.verdict import Proved
from tests.report.sample import TIMING
from tests.report.sample import case_run
from tests.report.sample import sample


def test_rows_have_as_many_cells_as_there_are_heads(tmp_path):
    run, result = sample(tmp_path), case_run("large", True)
    found = (
        tables.overview(run),
        tables.peers(run),
        tables.gone(result),
        tables.fastest(result, TIMING),
        tables.failures(TIMING),
    )
    for table in found:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.heads)}, table.title
        assert all(column < len(table.heads) for column in table.numbers)


def test_the_fastest_are_in_order_and_the_winner_is_marked():
    table = tables.fastest(case_run("large", True), TIMING)
    assert [row[2].split()[0] for row in table.rows] == ["250.0", "262.0", "290.0", "301.0"]
    assert table.won == 0
    assert tables.fastest(case_run("later", False), TIMING.of("later")).rows == ()


def test_the_nearest_peer_is_the_best_one(tmp_path):
    timed, untimed = tables.overview(sample(tmp_path)).rows
    assert timed[-1].startswith("eager: 0.96x")
    assert untimed[2:] == ("not timed", "", "220.0 us", "", "")


def test_empty_columns_go(tmp_path):
    """Nothing is timed, so nothing is said of peers; numbers stay numbers."""
    table = tables.trimmed(tables.overview(sample(tmp_path, timed=False)))
    assert table.heads == ("case", "winner", "measured (quartiles)", "by the model")
    assert table.numbers == (2, 3)
    assert {len(row) for row in table.rows} == {4}
    whole = tables.overview(sample(tmp_path))
    assert tables.trimmed(whole) == whole


def test_claims_of_one_graph_that_differ_by_case_name_their_cases():
    def claim(text, *cases):
        return Claim("abcdef123", text, Proved("z3", ("0 < n",)), cases, True)

    table = tables.of_claims("Proved", (claim("a", "one", "two"), claim("b", "two")))
    assert table.title == "Proved: 2"
    assert [row[-1] for row in table.rows] == ["abcdef", "abcdef (two)"]
    assert [row[-2] for row in table.rows] == ["0 < n", "0 < n"]


def test_what_was_compared_and_compiled_has_a_row_each(searched):
    run = run_from(searched.record, searched.directory)
    for winner, _ in winners(run):
        table = tables.compared(winner)
        assert len(table.rows) == len(winner.figures) > 0
        assert {len(row) for row in table.rows} == {len(table.heads)}
    own = [(c.case.name, c.winner) for c in run.cases]
    compiled = tables.compiled(own)
    assert len(compiled.rows) == sum(len(w.facts) for _, w in own) > 0
    assert {len(row) for row in compiled.rows} == {len(compiled.heads)}


def test_claims_that_were_reached_alike_share_a_row():
    def claim(text, by="z3", digest="a"):
        return Claim(digest, f"f: {text}", Proved(by, ("sizes fit",)), ("one",), True)

    table = tables.of_claims(
        "Proved",
        (claim("loads"), claim("other", by="cvc5"), claim("stores"), claim("far", "z3", "b")),
    )
    assert table.title == "Proved: 4"
    assert [row[1] for row in table.rows] == ["loads; stores", "other", "far"]
    assert {row[3] for row in table.rows} == {"sizes fit"}
