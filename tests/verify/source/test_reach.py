"""Numbers that only sizes reach which no reading has."""

from __future__ import annotations

import pytest

from superopt.verify.source.field import read_field
from superopt.verify.source.load import read_text
from superopt.verify.source.reach import unreached
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from tests.emit.cases import CASES


def found(name, old="", new="", index=0):
    printed = CASES[name]()
    assert old in printed.text()
    text = read_text(printed.text().replace(old, new, 1) if old else printed.text())
    return unreached(text, printed.program, printed.graphs[index], index, printed.program.name)


@pytest.mark.parametrize("name", CASES)
def test_no_text_of_ours_has_one(name):
    for index in range(len(CASES[name]().graphs)):
        assert found(name, index=index) is None


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("softmax", "n_at = n_first + n_lane", "n_at = (n_first + n_lane) & 4095"),
        ("softmax", "(n_at < n_size)", "(n_at < min(n_size, 50000))"),
        ("softmax", "\n    if plan", "\n    if m_size == 4096:\n        x = out\n    if plan"),
        ("softmax", "if programs > 0:", "if programs > 0 and n_size < 3000:"),
        ("window", "m_at = m_first + m_lane", "m_at = (m_first + m_lane) % 1000"),
    ],
)  # fmt: skip
def test_a_number_of_neither_spec_nor_graph_is_named(name, old, new):
    assert "beyond the positions that are read" in found(name, old, new)


def test_a_text_with_one_is_not_accepted():
    """It is equal at every size that is read, and was ``Sampled`` for that."""
    printed = CASES["softmax"]()
    text = printed.text()
    old = "n_at = n_first + n_lane"
    plain = read_field(read_text(text), printed.program, printed.graphs[0])
    assert isinstance(plain, Sampled)
    changed = read_text(text.replace(old, "n_at = (n_first + n_lane) & 4095"))
    verdict = read_field(changed, printed.program, printed.graphs[0])
    assert isinstance(verdict, Unknown)
    assert "4095" in verdict.why


@pytest.mark.parametrize("line", ["import nowhere", "tl.where = elsewhere", "1 / 0"])
def test_a_file_that_cannot_be_loaded_is_refused_and_not_a_crash(line):
    printed = CASES["softmax"]()
    text = read_text(f"{printed.text()}\n\n{line}\n")
    verdict = read_field(text, printed.program, printed.graphs[0])
    assert isinstance(verdict, Unknown)
    assert "(line" in verdict.why
