"""A graph's mutants are found by its equality with the spec, or by the readings of its text."""

from __future__ import annotations

import pytest

from superopt.emit.plan import Row
from superopt.mutate.graph import graph_mutants
from superopt.mutate.graph_outcome import graph_outcome
from superopt.mutate.judge import EQUIVALENT
from superopt.mutate.outcome import GRAPH
from tests.emit.cases import CASES
from tests.mutate.subjects import subject

WANTED = [
    ("term of l: sub -> add", GRAPH),
    ("fold min of m", GRAPH),
    ("no moves of l", GRAPH),
    ("move of l: 1 -> 2", EQUIVALENT),
]


@pytest.mark.parametrize(("what", "by"), WANTED)
def test_a_change_is_found_by(what, by):
    one = subject("softmax", 0)
    case = CASES["softmax"]()
    row = Row("case", 0, case.configs(one.graph), tuple(case.sizes[0].items()))
    mutant = next(m for m in graph_mutants(one.graph) if m.what.endswith(what))
    found = graph_outcome(one, mutant, row)
    assert found.by == by, found
    assert found.diff == mutant.what
