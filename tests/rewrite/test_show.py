from __future__ import annotations

from superopt.rewrite.rule import RULES
from superopt.rewrite.show import node_text
from superopt.rewrite.show import pattern_text
from superopt.ugraph.node import Input
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import mul
from tests.samples import total

A, B = Input("a", ("n",)), Input("b", ("n",))


def test_terms_are_infix_with_brackets_where_needed() -> None:
    assert node_text(mul(add(A, B), exp(A))) == "(a + b) * exp(a)"
    assert node_text(total("n", div(A, add(A, B)))) == "sum_n(a / (a + b))"


def test_deep_terms_are_abbreviated() -> None:
    assert node_text(exp(exp(exp(A))), depth=2) == "exp(exp(...))"


def test_patterns() -> None:
    assert pattern_text(RULES["factor_out_of_sum"].left) == "sum_n(a * c)"
