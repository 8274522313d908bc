"""Descriptors are known to describe whole tensors in the form in which they are printed, alone."""

from __future__ import annotations

import pytest

from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.descriptors import PLAIN
from superopt.verify.source.symbolic.descriptors import SHARED
from superopt.verify.source.symbolic.descriptors import known
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.verdict import Unknown
from tests.emit.cases import CASES
from tests.verify.source.concurrent.subjects import attention


def texts():
    return {PLAIN: CASES["rms"]().text(descriptors=True), SHARED: attention().text}


def test_what_is_printed_is_known():
    assert all(known(read_text(text), name) for name, text in texts().items())
    assert not known(read_text(texts()[PLAIN]), SHARED)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (PLAIN, "[*tensor.stride()[:-1], 1]", "[*tensor.stride()[1:], 1]"),
        (PLAIN, "shape, steps = list(tensor.shape)", "shape, steps = [9, *tensor.shape[1:]]"),
        (PLAIN, "found.append(TensorDescriptor(tensor,", "found.append(TensorDescriptor(box,"),
        (SHARED, "steps, list(box), layout))", "steps[::-1], list(box), layout))"),
        (SHARED, "list(tensor.shape), steps", "[n + 1 for n in tensor.shape], steps"),
        (SHARED, "steps[-1] = 1", "steps[-1] = 2"),
        (SHARED, "def _shared_descriptors(boxes):", "def _shared_descriptors(boxes, more=0):"),
    ],
)
def test_another_form_is_not(name, old, new):
    assert texts()[name].count(old) == 1
    assert not known(read_text(texts()[name].replace(old, new)), name)


def test_nothing_is_claimed_of_a_file_that_makes_them_otherwise():
    changed = texts()[PLAIN].replace("[*tensor.stride()[:-1], 1]", "[*tensor.stride()[1:], 1]")
    verdicts = [v for _, v in read_symbolic(changed, "rms_linear").claims]
    assert set(verdicts) == {Unknown("launcher: _descriptors is not known in this form")}
