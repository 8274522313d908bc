"""Which functions touch memory, themselves or through others."""

from __future__ import annotations

import pytest

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.memory import touches
from tests.verify.source.symbolic.test_kernel import read_of

HELPER = """
@triton.jit
def inner(a):
    return {}


@triton.jit
def helper(a):
    return inner(a) + 1


@triton.jit
def f(x_ptr, n, T):
    tl.load(x_ptr + helper(n), mask=n < 1)
"""


@pytest.mark.parametrize(
    ("what", "found"),
    [
        ("tl.sum(a)", False),
        ("a.load([0])", True),  # of a descriptor, say
        ("tl.load(a)", True),
        ("gl.store(a, 1)", True),
        ("tl.atomic_xchg(a, 1)", True),
        ("tl.inline_asm_elementwise(a)", True),
        ("tma.async_copy_shared_to_global(a)", True),
    ],
)
def test_a_helper_of_a_helper_counts(what, found):
    assert touches(read_text(HELPER.format(what)), "helper") is found


def test_a_helper_that_touches_memory_has_no_meaning():
    with pytest.raises(OutsideVocabularyError, match="helper"):
        read_of(HELPER.format("tl.load(a)"))
