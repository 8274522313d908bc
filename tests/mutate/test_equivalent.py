"""Survivors are explained by machine, and what matters is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.mutate import reasons
from superopt.mutate.assigned import walked
from superopt.mutate.equivalent import _tries
from superopt.mutate.equivalent import explained
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.source import source_mutants
from tests.mutate.subjects import subject

SWIZZLE = "m_tile, c_tile = tl.swizzle2d(m_tile, c_tile, m_tiles, c_tiles, GROUP)"
LARGEST = "m = tl.maximum(m, max_3, propagate_nan=tl.PropagateNan.ALL)"
END = "tl.minimum(n_length, n_size - n_begin)"
LEADS = "tl.extra.cuda.gdc_launch_dependents"
CAPABLE = "torch.cuda.get_device_capability(device) >= (9, 0)"
LEAST = "least = tl.minimum(least, min_5, propagate_nan=tl.PropagateNan.ALL)"
MOVED = "tl.where(m == float('-inf'), 1.0, tl.exp2((m - where_4) * LOG2E))"

CASES = [
    ("softmax", 0, "mask dropped", "(n_at < n_size) | EVEN_N", "n_at < n_size", "SAME"),
    ("softmax", 1, "constant", "1", "2", "NUMBER"),
    ("softmax", 1, "constant", "1.0", "2.0", "NOTHING"),
    ("columns", 0, "statement", SWIZZLE, "pass", "NUMBERED"),
    ("decode", 0, "statement", LARGEST, f"{LARGEST}; again", "AGAIN"),
    ("decode", 0, "function", END, "n_size - n_begin", "FURTHER"),
    ("softmax", 0, "guard", MOVED, MOVED[MOVED.index("tl.exp2") : -1], "ANYWHERE"),
    ("decode", 0, "statement", f"{LEADS}()", "pass", "TIMING"),
    ("decode", 0, "comparison", CAPABLE, CAPABLE.replace(">=", ">"), "LESS"),
    ("integers", 0, "statement", LEAST, f"{LEAST}; again", "AGAIN"),  # a whole number is not NaN
    ("softmax", 0, "comparison", "n_at < n_size", "n_at <= n_size", ""),
    ("softmax", 0, "factor", "m - where_4", "m", ""),
]


def mutant(name, graph, kind, before, after):
    one = subject(name, graph)
    found = source_mutants(one.text, one.function, 0)
    same = [m for m in found if (m.kind, m.before, m.after) == (kind, before, after)]
    return one, same[-1]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[2]}: {c[3]}")
def test_the_reason(case):
    *which, reason = case
    assert explained(*mutant(*which)) == (getattr(reasons, reason) if reason else "")


def test_what_is_chosen_may_be_anything_where_two_conditions_differ():
    """The factor of an empty part multiplies zeros, that of any other one does not."""
    one = subject("attention", 1)
    found = source_mutants(one.text, one.function, 0)
    (turned,) = [
        m for m in found if m.after == "float('inf')" and "part0_m ==" in m.diff(one.text.text)
    ]
    (text,) = next(texts for reason, texts in _tries(one, turned) if reason == reasons.ANYWHERE)
    apart = "(part0_m == float('-inf')) & ~(part0_m == float('inf'))"
    assert text.count(apart) == 1
    assert one.in_field(text).by == SURVIVED
    assert one.in_field(text.replace(apart, "(part0_m < float('inf'))")).by != SURVIVED


def test_what_a_masked_load_gives_may_be_anything_where_it_is_masked_again():
    one = subject("softmax", 1)
    found = source_mutants(one.text, one.function, 0)
    loads = [m for m in found if m.kind == "other value"]
    assert [explained(one, m) for m in loads] == [reasons.NOTHING] * len(loads)


def test_a_walk_may_take_its_tiles_in_another_order():
    one, turned = mutant("window", 0, "factor", "n_count - 1 - n_step", "n_step")
    (reason,) = walked(one, turned)
    assert reason[0] == reasons.WALKED
    assert all(one.in_field(text).by == SURVIVED for text in reason[1])
    shifted = replace(turned, after="n_step + 1")  # one tile is past the end, one is left out
    ((_, texts),) = walked(one, shifted)
    assert "(n_step + 1) + 1) % (n_count)" in texts[1]


def test_a_value_that_nobody_reads_may_go():
    one, kept = mutant("softmax", 0, "statement", "m_tile = pid", "pass")
    assert explained(one, kept) == ""
