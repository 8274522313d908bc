"""The texts that are read in the place of a mutated statement."""

from __future__ import annotations

from superopt.mutate.assigned import assigned
from superopt.mutate.assigned import numbered
from superopt.mutate.reasons import AGAIN
from superopt.mutate.reasons import LAUNCH
from superopt.mutate.reasons import NUMBERED
from superopt.mutate.reasons import UNREAD
from superopt.mutate.source import source_mutants
from tests.mutate.subjects import subject


def tries(name, graph, before, after, made=assigned):
    one = subject(name, graph)
    found = source_mutants(one.text, one.function, 0)
    (mutant,) = [m for m in found if m.before == before and m.after == after]
    return dict(made(one, mutant))


def test_a_value_gets_a_name_that_nobody_reads():
    (text,) = tries("softmax", 0, "m_tile = pid", "pass")[UNREAD]
    assert "    never_read = pid\n" in text
    assert "m_tile = pid" not in text


def test_what_is_done_again_is_compared():
    same = "m = tl.maximum(m, max_3, propagate_nan=tl.PropagateNan.ALL)"
    (text,) = tries("decode", 0, same, f"{same}; again")[AGAIN]
    assert f"{same}; m = tl.where(({same[4:]}) == m, m, m - m + 8 * 8)" in text


def test_every_launch_of_the_plan_is_tried():
    texts = tries("decode", 0, "launch = plan.launches[1]", "pass")[LAUNCH]
    assert ["launch = plan.launches[0]" in t for t in texts] == [True, True]
    assert len(set(texts)) == 2


def test_tiles_are_numbered_otherwise_in_both_texts():
    before = "m_tile, c_tile = tl.swizzle2d(m_tile, c_tile, m_tiles, c_tiles, GROUP)"
    texts = tries("columns", 0, before, "pass", numbered)[NUMBERED]
    assert len(texts) == 4
    assert sum("m_tile = (m_tile + 1) % m_tiles" in t for t in texts) == 2
    assert sum(before in t for t in texts) == 2
