"""Mutants of functions with roles: none is said to be equal that no reading executed."""

from __future__ import annotations

from functools import cache

import pytest

from superopt.mutate.outcome import FIELD
from superopt.mutate.outcome import ROLES
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.outcome import VOCABULARY
from superopt.mutate.outcome import Subject
from superopt.mutate.variants import PLAIN
from superopt.mutate.variants import reached_by
from superopt.mutate.variants import variants
from superopt.verify.source.load import read_text
from tests.verify.source.concurrent.subjects import attention

RUNNER = "_run_g0"
PRODUCER = "attention_g0_k0_roles2_producer"
CONSUMER = "attention_g0_k0_roles2_consumer"


@cache
def subject() -> Subject:
    case = attention()
    return Subject("attention", read_text(case.text), case.program, case.graph)


def changed(function: str, old: str, new: str) -> str:
    """The text with one thing changed in one function."""
    text = subject().text.text
    head, mark, rest = text.partition(f"\ndef {function}(")
    assert old in rest
    return head + mark + rest.replace(old, new, 1)


def test_the_text_itself_is_accepted_in_each_of_its_forms():
    assert set(subject().forms) == {PLAIN, "roles"}
    assert subject().in_field(subject().text.text).by == SURVIVED


@pytest.mark.parametrize(
    ("function", "old", "new", "by"),
    [
        (PRODUCER, "% K_SLOTS", "* K_SLOTS", ROLES),
        (CONSUMER, "(l * where_7)", "(l + where_7)", ROLES),
        (CONSUMER, "n_first_2 + n_lane", "n_first_2 + n_lane + n_lane", ROLES),
        (CONSUMER, "(n_at < n_size)", "(n_at < n_size - 1)", ROLES),
        ("attention_g0_k0", "(l * where_6)", "(l + where_6)", FIELD),
    ],
)
def test_the_reading_of_the_function_finds_a_change_of_it(function, old, new, by):
    assert subject().in_field(changed(function, old, new)).by == by


@pytest.mark.parametrize(
    ("function", "forms"),
    [
        (PRODUCER, ("roles",)),
        ("attention_g0_k0", (PLAIN,)),
        ("_max", (PLAIN, "roles")),
        (RUNNER, (PLAIN, "roles")),
    ],
)
def test_a_form_is_read_again_if_a_change_reaches_it(function, forms):
    text = subject().text
    other = read_text(changed(function, "):\n", "):\n    never_read = 0\n"))
    assert reached_by(text, other, variants(text, "attention", 0)) == forms


def test_without_a_plan_that_asks_for_roles_nothing_is_known_of_them():
    text = subject().text.text.replace(", consumers=2)", ")")
    one = Subject("attention", read_text(text), subject().program, subject().graph)
    found = one.in_field(text)
    assert found.by == VOCABULARY
    assert "no plan of the file asks" in found.said
