from __future__ import annotations

from superopt.report import tables
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
