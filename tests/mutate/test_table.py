"""The table of outcomes."""

from __future__ import annotations

from superopt.mutate.judge import EQUIVALENT
from superopt.mutate.judge import Outcome
from superopt.mutate.outcome import FIELD
from superopt.mutate.table import counted
from superopt.mutate.table import lines


def test_outcomes_are_counted_by_name_and_reading():
    found = [Outcome("cast", FIELD, "", ""), Outcome("cast", EQUIVALENT, "", "")]
    found.append(Outcome("mask", FIELD, "", ""))
    assert lines("kind", counted((o.kind, o) for o in found)) == [
        "| kind | mutants | field | equivalent |",
        "|---|---|---|---|",
        "| cast | 2 | 1 | 1 |",
        "| mask | 1 | 1 | 0 |",
        "| all | 3 | 2 | 1 |",
    ]
