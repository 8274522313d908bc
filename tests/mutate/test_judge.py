"""A sample of mutants over several kernels: each is found, or shown to compute the same."""

from __future__ import annotations

from collections import Counter

from superopt.mutate.judge import EQUIVALENT
from superopt.mutate.judge import outcome
from superopt.mutate.outcome import FIELD
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.source import balanced
from superopt.mutate.source import source_mutants
from tests.mutate.subjects import subject

# Small ones: about half of the time goes to the one in ten that has to be explained.
CASES = [("distances", 0, 80), ("decode", 0, 40), ("softmax", 1, 30)]
ROUNDING = "cast"  # to fewer bits: found by executions alone


def test_no_mutant_of_a_sample_survives():
    count = Counter()
    survivors = []
    for name, graph, many in CASES:
        one = subject(name, graph)
        for mutant in balanced(source_mutants(one.text, one.function, 0), many, 7):
            found = outcome(one, mutant)
            count[found.by] += 1
            if found.by == SURVIVED and found.kind != ROUNDING:
                survivors.append((name, found.diff))
            assert found.by == FIELD or found.said or found.by == SURVIVED
    assert survivors == []
    assert count.total() == 150
    assert count[FIELD] > count.total() / 3
    assert count[EQUIVALENT] < count.total() / 4
