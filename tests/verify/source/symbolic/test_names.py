"""A name that is bound twice, or decorated, is none whose text says what is called."""

from __future__ import annotations

import pytest

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.names import check_names
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.verdict import Unknown
from tests.emit.cases import CASES

TEXT = CASES["softmax"]().text()


@pytest.mark.parametrize("name", CASES)
def test_no_file_of_ours_does_so(name):
    check_names(read_text(CASES[name]().text()))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("PLANS = ()", "PLANS is bound 2 times"),
        ("if True:\n    def _even(size, tile):\n        return True", "_even is bound 2 times"),
        ("for _even in (abs,):\n    pass", "_even is bound 2 times"),
        ("import math as tl", "tl is bound 2 times"),
        ("LARGEST = 2**40", "LARGEST is bound 2 times"),
        ("@abs\ndef mine():\n    pass", "mine is decorated by abs"),
    ],
)
def test_what_python_would_call_instead_is_named(more, words):
    """The first of them was read, the last one is what runs."""
    text = f"{TEXT}\n\n{more}\n"
    with pytest.raises(OutsideVocabularyError, match=words):
        check_names(read_text(text))
    ((claim, verdict),) = read_symbolic(text, "softmax").claims
    assert (claim, verdict) == ("softmax: memory", Unknown(verdict.why))
    assert words in verdict.why
