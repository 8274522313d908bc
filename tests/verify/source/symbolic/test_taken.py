"""Roles are launched where the launcher has seen that they may be, and it sees to all they need."""

from __future__ import annotations

import functools

import pytest

from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.verdict import Proved
from superopt.verify.verdict import spoken
from tests.verify.source.concurrent.subjects import attention
from tests.verify.source.concurrent.test_tle import text_of

WORDS = ("gluon", "tle")


@functools.cache
def text(words):
    return attention().text if words == "gluon" else text_of(attention())


def said(changed):
    """What is not proved, and why."""
    found = read_symbolic(changed, "attention", refute=False).claims
    return "; ".join(f"{c}: {spoken(v)}" for c, v in found if not isinstance(v, Proved))


@pytest.mark.parametrize("words", WORDS)
def test_the_printed_launcher_is_known(words):
    assert said(text(words)) == ""


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('        if 0 in tensor.shape:\n            return "a tensor is empty"\n', "", "_without"),
        ("if case.itemsize != 2:", "if case.itemsize > 4:", "_without"),
        ("% 16 or any(", "% 16 and any(", "_without"),
        ("if launch.stages < fewest", "if launch.stages < 0 * fewest", "_without"),
        ("!= (9, 0):", "!= (9, 0) and False:", "_room"),
        ("return next(launches, plan.launches[index])", "return Launch({'m': 8})", "_instead"),
    ],
    ids=["empty", "width", "strides", "slots", "device", "instead"],
)
def test_a_condition_of_roles_in_another_form_is_not_known(words, old, new, named):
    """It was: roles on tensors without elements, say, were read like all others."""
    assert text(words).count(old) == 1
    found = said(text(words).replace(old, new))
    assert f"launcher: {named}" in found
    assert found.endswith("is not known in this form")


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("new", ["if launch", "if why and launch", "if not case and launch"])
def test_roles_that_are_taken_unasked_are_refused(words, new):
    old = "if not why and launch"
    assert text(words).count(old) == 1
    assert "without asking _without_roles" in said(text(words).replace(old, new))
