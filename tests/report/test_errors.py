from __future__ import annotations

import pytest

from superopt.report.errors import LEAST
from superopt.report.errors import MOST
from superopt.report.errors import errors
from superopt.report.errors import families
from superopt.report.errors import share
from superopt.verify.run.checks import Figure


def figure(label, rel, dtype="fp32", limit=1e-3):
    return Figure(label, dtype, 0, (), "out", rel, 0.0, limit, limit, rel <= limit)


FIGURES = (
    figure("ordinary", 5e-4),
    figure("ordinary", 2e-4, "fp16"),
    figure("ties", 0.0),
    figure("-inf", 2e-3),
    figure("nan", float("nan")),
    figure("did not run", float("inf"), limit=0.0),
)


def test_each_output_that_was_compared_has_a_point():
    (axes,) = errors(FIGURES).axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    points = [
        (line.get_label(), x, y)
        for line in (lines["fp32"], lines["fp16"])
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    ]
    assert points == [
        ("fp32", pytest.approx(0.5), 0),
        ("fp32", LEAST, 1),
        ("fp32", pytest.approx(2.0), 2),
        ("fp32", MOST, 3),
        ("fp16", pytest.approx(0.2), 0),
    ]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["ordinary", "ties", "-inf", "nan"]


def test_families_are_in_order_and_hold_what_was_compared():
    found = families(FIGURES)
    assert list(found) == ["ordinary", "ties", "-inf", "nan"]
    assert sum(map(len, found.values())) == len(FIGURES) - 1


@pytest.mark.parametrize(
    ("rel", "where"), [(0.0, LEAST), (1e-3, 1.0), (1.0, MOST), (float("inf"), MOST)]
)
def test_where_a_point_lies(rel, where):
    assert share(figure("x", rel)) == pytest.approx(where)
