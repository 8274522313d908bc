from __future__ import annotations

import pytest

from superopt.rewrite.rule import RULES
from superopt.rewrite.rule import AxisFree
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import finite
from superopt.rewrite.rule import rule


def test_a_law_is_named_after_its_function_and_has_a_reason() -> None:
    for name, law in RULES.items():
        assert law.name == name
        assert law.reason


def test_a_law_without_a_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="gives no reason"):

        @rule()
        def silent(a: Pattern) -> tuple[Pattern, Pattern]:
            return a, a


def test_two_laws_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="exists twice"):

        @rule()
        def cancel_quotient(a: Pattern) -> tuple[Pattern, Pattern]:
            """Again."""
            return a, a


def test_scopes_are_the_axes_around_every_occurrence() -> None:
    law = RULES["factor_out_of_sum"]
    assert law.scopes == {"a": frozenset({"n"}), "c": frozenset()}


def test_needs_read_as_text() -> None:
    assert str(finite("c", given="n")[0]) == "c finite unless n is empty"
    assert str(AxisFree("c", "n")) == "c without axis n"


def test_needs_and_fallbacks_speak_of_what_exists() -> None:
    for law in RULES.values():
        for need in law.needs:
            assert need.hole in law.holes
        if law.fallback is not None:
            assert RULES[law.fallback].holes == law.holes
