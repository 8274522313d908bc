from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from superopt.report.tuning import in_a_line
from superopt.report.tuning import print_tuning
from superopt.run import Run
from superopt.tune.outcome import Measured
from superopt.tune.outcome import Tuned
from superopt.tune.outcome import Won
from superopt.tune.record import Figures
from superopt.tune.record import Outcome
from tests.tune.tuning import points

RUN = Run("soft", "h200", 0, "8", (), Path())


def measured(digest, at, us=None, stage="floats"):
    figures = Figures(us, us, us, 3) if us else None
    status = ("timed", "", "") if us else ("failed", stage, "no")
    return Measured(digest * 32, points()[at], Outcome(*status, figures, None), at, 0.1)


def text(*tuned):
    file = io.StringIO()
    print_tuning(Console(file=file, width=110), RUN, tuned)
    return file.getvalue()


def test_a_row_for_each_structure_and_one_for_all():
    found = (
        measured("a", 0, 10.0),
        measured("a", 9, 20.0),
        measured("a", 20, 30.0),
        measured("b", 3),
        measured("b", 4, stage="compile"),
        measured("b", 5, stage="compile"),
    )
    won = Won("a" * 32, points()[0], found[0].outcome.figures, None, True)
    lines = text(Tuned("small", found, won)).splitlines()
    a, b, both = (next(line for line in lines if word in line) for word in ("aaaa", "bbbb", " all"))
    assert [w.strip() for w in a.strip("│").split("│")] == [
        *("small", "a" * 12, "3", "0", "10.0", "33.0", "1.00", "winner")
    ]
    assert "2 compile, 1 floats" in b
    assert "winner" not in b
    assert [w.strip() for w in both.strip("│").split("│")][2] == "6"
    assert "…" not in "".join(lines)


def test_a_case_in_a_line():
    found = (measured("a", 0, 10.0), measured("b", 3))
    won = Won("a" * 32, points()[0], found[0].outcome.figures, None, True)
    line = in_a_line(Tuned("small", found, won))
    assert line == "2 Configs tried, 1 failed; winner aaaaaaaaaaaa 10.0 us (10.0 to 10.0)"
    assert in_a_line(Tuned("small", found[1:], None, "no")).endswith("no timed kernel: no")
