"""Functions of numbers that launchers are printed with: at every sort of number."""

from __future__ import annotations

import pytest

from superopt.emit.runtime import ARITHMETIC
from superopt.verify.source.arithmetic import NAMES
from superopt.verify.source.arithmetic import NEAREST
from superopt.verify.source.arithmetic import wrong_number
from superopt.verify.source.field import read_field
from superopt.verify.source.load import read_text
from superopt.verify.verdict import Refuted
from tests.emit.cases import CASES

PRINTED = "import math\n" + "".join(ARITHMETIC.values())
FAULTS = [
    ("_div", "    if b == 0:", "    if False:"),
    ("_div", "a == 0 or a != a", "a == 0"),
    ("_div", "math.copysign(math.inf, a)", "math.inf"),
    ("_div", "return a / b", "return b / a"),
    ("_nearest", "not math.isfinite(a)", "False"),
    ("_nearest", "[1] - 1, least)", "[1] - 1, least + 1)"),
    ("_nearest", "max(round", "min(round"),
    ("_nearest", ", largest)\n", ", lowest)\n"),
    ("_sqrt", "a >= 0", "a >= 1"),
    ("_sqrt", "a >= 0", "a > 0"),
    ("_exp2", "a < 1024", "a < 2048"),
    ("_exp2", "a < 1024", "a < 1023"),
    ("_exp2", "a * math.inf", "math.inf"),
    ("_log2", "a > 0", "a > 1"),
    ("_log2", "-math.inf if a == 0", "math.nan if a == 0"),
    ("_log2", "else math.nan", "else 0.0"),
]


def test_what_is_printed_is_right():
    text = read_text(PRINTED)
    assert {*NAMES, NEAREST} < set(text.functions)
    assert wrong_number(text) is None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f"{f[0]}: {f[2]}")
def test_a_changed_one_is_refuted_at_numbers(fault):
    name, old, new = fault
    assert ARITHMETIC[name].count(old) == 1
    found = wrong_number(
        read_text(PRINTED.replace(ARITHMETIC[name], ARITHMETIC[name].replace(old, new)))
    )
    assert isinstance(found, Refuted)
    assert found.what.startswith(f"{name} gives ")
    assert found.at[0][0] == "a"


def test_a_branch_that_no_size_takes_is_read():
    case = CASES["attention"]()
    text = case.text().replace("if a >= 0 else math.nan", "if a >= 1 else math.nan")
    assert text != case.text()
    verdict = read_field(read_text(text), case.program, case.graphs[0])
    assert isinstance(verdict, Refuted)
    assert verdict.what == "_sqrt gives nan, and sqrt is 0.0"
