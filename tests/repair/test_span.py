from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.repair.span import FINITE
from superopt.repair.span import POSITIVE
from superopt.repair.span import Span
from superopt.repair.span import at
from superopt.repair.span import span
from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import div
from tests.samples import eq
from tests.samples import exp
from tests.samples import finite
from tests.samples import mul
from tests.samples import num
from tests.samples import positive
from tests.samples import rsqrt
from tests.samples import sub
from tests.samples import where

A, B, C = (Scalar(name) for name in "abc")
VALUES = (-INF, INF, *map(Fraction, (-2, -1, 0, 1, 2, Fraction(1, 3))))
REALS = [fn for fn in Fn if fn not in (Fn.AND, Fn.OR, Fn.NOT, Fn.WHERE, Fn.LT, Fn.LE, Fn.EQ)]


def holds(found: Span, value: float) -> bool:
    """Whether a value that occurred is in a span."""
    if np.isnan(value):
        return found.nan
    if value == 0 and not found.zero:
        return False
    if np.isinf(value) and not (found.inf if value > 0 else found.ninf):
        return False
    slack = 1e-9 * max(1.0, abs(value)) if np.isfinite(value) else 0.0
    return float(found.lo) - slack <= value <= float(found.hi) + slack


def terms(depth: int) -> st.SearchStrategy[Node]:
    if not depth:
        return st.sampled_from([A, B, C, NEG_INF, num(0), num(1), num(Fraction(-1, 2))])
    inner = terms(depth - 1)

    def apply(fn: Fn, args: tuple[Node, ...]) -> Node:
        return Map(fn, args[: fn.value.arity])

    plain = st.builds(apply, st.sampled_from(REALS), st.tuples(inner, inner))
    guard = st.builds(lambda a, b, c, d: where(eq(a, b), c, d), inner, inner, inner, inner)
    chosen = st.builds(lambda a, c: where(Map(Fn.LE, (a, c)), a, c), inner, inner)
    return st.one_of(inner, plain, guard, chosen)


@settings(max_examples=400, deadline=None)
@given(terms(3), st.tuples(*[st.sampled_from(VALUES)] * 6))
def test_every_value_that_occurs_is_in_the_span(term, values):
    pairs = {n: (values[2 * i], values[2 * i + 1]) for i, n in enumerate((A, B, C))}
    known: dict[Node, Span] = {}
    for leaf, (one, two) in pairs.items():
        a, b = at(one), at(two)
        hull = (min(one, two), max(one, two))
        known[leaf] = Span(*hull, a.zero or b.zero, a.inf or b.inf, a.ninf or b.ninf)
    found = span(term, known)
    for pick in range(8):
        given_ = {n: np.array(float(v[pick >> i & 1])) for i, (n, v) in enumerate(pairs.items())}
        value = evaluate_node(term, FloatDomain(np.float64), given_, {})
        if abs(float(value)) < 1e-300 and float(value) != 0:
            continue  # underflow is not in the algebra
        if abs(float(value)) > 1e15:
            continue  # neither is overflow
        assert holds(found, float(value)) or _rounded(term), (found, value)


def _rounded(term: Node) -> bool:
    """Rounding may reach values (1 of tanh, 0 of exp) that reals do not."""
    text = repr(term)
    return any(f"Fn.{n}" in text for n in ("EXP", "TANH", "ERF", "SIGMOID", "EXP2"))


def test_guards_are_understood():
    anywhere = {A: Span(-INF, INF, True, False, True)}
    assert span(finite(A), anywhere).finite
    assert not span(A, anywhere).finite
    assert span(positive(A), {A: Span(Fraction(0), INF)}).positive
    assert not span(positive(A), {A: FINITE}).positive


def test_points_are_exact():
    assert span(exp(sub(NEG_INF, num(3))), {}).point == 0
    assert span(mul(num(0), A), {}).point == 0
    assert span(where(eq(NEG_INF, NEG_INF), num(2), A), {}).point == 2
    assert span(sub(NEG_INF, A), {A: FINITE}).point == -INF
    assert span(exp(sub(NEG_INF, A)), {A: FINITE}).point == 0
    assert span(sub(NEG_INF, A), {A: Span(-INF, INF, ninf=True)}).nan


@pytest.mark.parametrize(
    "term",
    [sub(NEG_INF, NEG_INF), mul(num(0), NEG_INF), div(num(0), num(0)), div(num(1), num(0))],
)
def test_undefined_is_seen(term: Node):
    assert span(term, {}).nan


def test_a_logarithm_has_a_sign_on_either_side_of_one():
    a = Scalar("a")
    below, above = Map(Fn.SIGMOID, (a,)), Map(Fn.ADD, (Const(Fraction(1)), Map(Fn.EXP, (a,))))
    assert span(Map(Fn.LOG, (below,)), {}).hi == 0
    found = span(Map(Fn.LOG, (above,)), {})
    assert found.nonnegative
    assert found.finite
    both = span(Map(Fn.LOG, (Map(Fn.ABS, (a,)),)), {})
    assert both.ninf
    assert (both.lo, both.hi) == (-INF, INF)


def test_signs():
    assert span(exp(A), {}).positive
    assert span(mul(A, A), {}).nonnegative
    assert not span(mul(A, B), {}).nonnegative
    assert span(rsqrt(add(div(mul(A, A), Size("n")), num(1))), {}).positive
    assert span(div(num(1), Size("n")), {}).positive
    assert POSITIVE.nonzero
    assert Const(INF).kind is Kind.REAL
