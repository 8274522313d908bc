"""Conversions that may be left out, and those that may not."""

from __future__ import annotations

import pytest

from superopt.mutate import reasons
from superopt.mutate.equivalent import explained
from superopt.mutate.outcome import VOCABULARY
from superopt.mutate.source import source_mutants
from tests.mutate.subjects import subject

CASES = [
    ("rms", 0, "g.to(tl.float32)", "g", "WIDENED"),
    ("columns", 0, "n_at.to(tl.float32)", "n_at", "CONVERTED"),  # beside a float
    ("distances", 0, "n_lane.to(tl.float32)", "n_lane", "CONVERTED"),  # where it is used
    ("decode", 0, "q.to(tl.float32)", "q.to(tl.float16)", ""),
]


def casts(name, graph):
    one = subject(name, graph)
    return one, [m for m in source_mutants(one.text, one.function, 0) if m.kind == "cast"]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[2]}: {c[3]}")
def test_the_reason(case):
    name, graph, before, after, reason = case
    one, found = casts(name, graph)
    mutant = [m for m in found if (m.before, m.after) == (before, after)][-1]
    assert explained(one, mutant) == (getattr(reasons, reason) if reason else "")


def test_what_would_be_computed_in_16_bits_is_none_of_the_readings_texts():
    one, found = casts("layer_norm", 0)
    dropped = [m for m in found if m.before == f"{m.after}.to(tl.float32)"]
    assert dropped
    assert {one.in_field(m.text).by for m in dropped} == {VOCABULARY}
