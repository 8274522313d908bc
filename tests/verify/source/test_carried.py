"""A loop carries no value whose type changes on the way."""

from __future__ import annotations

import pytest

from superopt.verify.source.field import read_field
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import accepted
from tests.emit.cases import CASES

CHANGED = {
    "a dtype": ("l = tl.full([TILE_M], 0.0, tl.float32)", "l = tl.full([TILE_M], 0.0, tl.float16)"),
    "a shape": ("l = tl.full([TILE_M], 0.0", "l = tl.full([1], 0.0"),
    "a dtype in the body": ("        m = m_new", "        m = m_new.to(tl.float16)"),
}


def read(change=lambda text: text):
    case = CASES["softmax"]()
    return read_field(change(case.text()), case.program, case.graphs[0], minimise=False)


def test_printed_loops_keep_their_types():
    assert accepted(read())


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_type_is_refuted(name):
    old, new = CHANGED[name]
    assert old in CASES["softmax"]().text()
    verdict = read(lambda text: text.replace(old, new))
    assert isinstance(verdict, Refuted)
    assert "before a loop" in verdict.what
