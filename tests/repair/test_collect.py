from __future__ import annotations

from fractions import Fraction

import pytest

from superopt.repair.collect import fewest
from superopt.repair.span import FINITE
from superopt.repair.span import POSITIVE
from superopt.repair.span import Span
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from tests.repair.cases import U
from tests.repair.cases import X
from tests.repair.cases import Y
from tests.samples import add
from tests.samples import div
from tests.samples import mul
from tests.samples import num

S = State("s", ("m",))
C = Scalar("c")


def rank(term: Node, known: dict[Node, Span] | None = None) -> int:
    return len(fewest("n", frozenset({S}), known or {S: FINITE}, term)[2])


@pytest.mark.parametrize(
    ("term", "want"),
    [
        # The same function of u, under two symbols and one.
        (add(mul(mul(S, X), X), mul(mul(S, S), mul(X, X))), 1),
        (add(mul(S, Y), mul(mul(S, S), mul(num(-1), Y))), 1),
        # A sum of functions of u beside its summands.
        (add(add(mul(S, X), mul(mul(S, S), Y)), mul(mul(mul(S, S), S), add(X, Y))), 2),
        # A sum of functions of x beside its summands.
        (add(add(X, mul(S, Y)), mul(add(S, num(1)), U)), 2),
        # Three functions of x, one of u.
        (add(add(X, mul(S, X)), mul(mul(S, S), X)), 1),
    ],
)
def test_symbols_made_of_the_same_leaves_hide_no_relation(term: Node, want: int):
    assert rank(term) == want


def test_nothing_is_divided_by_a_constant_that_may_be_zero():
    cube = mul(mul(S, S), S)
    term = add(mul(add(X, Y), mul(C, cube)), add(mul(C, X), mul(mul(S, S), Y)))
    reading, _, parts = fewest("n", frozenset({S}), {S: FINITE}, term)
    below = [
        n.args[1]
        for p in parts
        for e in (p.a, p.b)
        for n in topo([reading.write(e)])
        if isinstance(n, Map) and n.fn is Fn.DIV
    ]
    assert C not in below
    assert len(parts) == 2


def test_a_constant_that_is_not_zero_is_a_coefficient():
    term = add(mul(mul(C, S), X), mul(mul(mul(C, C), mul(S, S)), X))
    assert rank(term, {S: FINITE, C: POSITIVE}) == 1
    assert rank(div(term, add(C, num(Fraction(1, 2)))), {S: FINITE, C: POSITIVE}) == 1
