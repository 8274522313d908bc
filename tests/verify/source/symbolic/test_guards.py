"""A check of the launcher counts only where it stands in every call's way."""

from __future__ import annotations

import pytest

from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic import guards
from tests.emit.cases import softmax_case

TEXT = softmax_case().text()
ALL = {
    n: getattr(guards, n)
    for n in ("SIZES", "SAME", "RANK", "DTYPE", "INNERMOST", "SHAPE", "OUTPUT_DTYPE", "APART")
} | {"OUTPUT_INNERMOST": guards.OUTPUT_INNERMOST, "OTHERS": guards.OTHERS}


def found(text):
    return guards.guards(read_text(text))


@pytest.mark.parametrize("name", ALL)
def test_what_is_printed_has_every_check(name):
    assert ALL[name] in found(TEXT)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("SIZES", "if size >= LARGEST:", "if size > LARGEST:"),
        ("SAME", "if size != known:", "if False:"),
        ("APART", "if stride <= reach and", "if stride < reach and"),
        ("APART", "        reach += (size - 1) * stride\n", ""),
        ("SHAPE", "if tensor.shape != shape:", "if False:"),
        (
            "RANK",
            "    if tensor.dim() != len(axes):",
            "    return\n    if tensor.dim() != len(axes):",
        ),
        (
            "OTHERS",
            "        if first < end and start < stop:",
            "        break\n        if first < end:",
        ),
    ],
)
def test_a_check_that_is_changed_or_passed_by_does_not_count(name, old, new):
    assert old in TEXT
    assert ALL[name] not in found(TEXT.replace(old, new))


def test_helpers_are_known_by_their_text():
    text = read_text(TEXT)
    assert guards.returns(text, "_even") == guards.EVEN
    assert guards.returns(text, "_whole") == guards.WHOLE
    assert guards.returns(text, "nothing") == ""
