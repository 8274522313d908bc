from __future__ import annotations

from fractions import Fraction

import pytest

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.live import Live
from superopt.ugraph.live import both
from superopt.ugraph.live import either
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import rsqrt
from tests.samples import sub
from tests.samples import total
from tests.samples import where

X, V = Input("x", ("m", "n")), Input("v", ("n",))
MASK = Map(Fn.LE, (Index("n"), Index("m")))
MASKED = where(MASK, X, NEG_INF)
ZEROED = where(MASK, X, num(0))
LIVE = Live(BlockGraph((), (), ()))


@pytest.mark.parametrize(
    ("node", "value"),
    [
        (MASKED, -INF),
        (mul(MASKED, rsqrt(Size("n"))), -INF),
        (mul(num(-2), MASKED), INF),
        (add(MASKED, V), -INF),
        (sub(MASKED, V), -INF),
        (sub(V, MASKED), INF),
        (div(MASKED, Size("n")), -INF),
        (Map(Fn.MAX, (MASKED, NEG_INF)), -INF),
        (Map(Fn.MIN, (MASKED, V)), -INF),
        (Map(Fn.LOG, (exp(MASKED),)), -INF),
        (exp(MASKED), 0),
        (exp(sub(MASKED, V)), 0),
        (mul(exp(MASKED), V), 0),
        (mul(V, ZEROED), 0),
        (div(ZEROED, Size("n")), 0),
        (add(ZEROED, mul(ZEROED, V)), 0),
        (Map(Fn.SIGMOID, (MASKED,)), 0),
        (Map(Fn.TANH, (ZEROED,)), 0),
        (Map(Fn.MAX, (ZEROED, num(0))), 0),
        (total("d", mul(ZEROED, Input("w", ("n", "d")))), 0),
    ],
)
def test_a_mask_is_seen_through_functions(node, value):
    assert LIVE.differs(node, Fraction(value) if value == 0 else value) is MASK


@pytest.mark.parametrize(
    ("node", "value"),
    [
        (X, 0),
        (add(ZEROED, V), 0),
        (div(ZEROED, V), 0),  # 0 / 0 is not 0
        (mul(ZEROED, Map(Fn.LOG, (V,))), 0),  # nor is 0 times an infinity
        (exp(sub(MASKED, MASKED)), 0),  # nor is exp(-inf - -inf)
        (exp(ZEROED), 0),
        (mul(MASKED, V), -INF),  # the sign of v is not known
        (MASKED, 0),
        (Map(Fn.MAX, (MASKED, V)), -INF),
    ],
)
def test_where_nothing_can_be_concluded_everything_counts(node, value):
    assert LIVE.differs(node, Fraction(value) if value == 0 else value) is True


def test_arms_know_their_condition():
    low = Map(Fn.EQ, (MASKED, NEG_INF))
    guarded = where(low, num(0), exp(sub(MASKED, MASKED)))
    assert LIVE.differs(where(low, num(0), num(0)), Fraction(0)) is False
    assert LIVE.differs(guarded, Fraction(0)) is not False
    inverted = where(Map(Fn.NOT, (MASK,)), num(0), X)
    assert LIVE.differs(inverted, Fraction(0)) is Map(Fn.NOT, (Map(Fn.NOT, (MASK,)),))


def test_conditions_are_combined_without_trivial_parts():
    other = Map(Fn.LT, (Index("n"), Size("m")))
    assert both(True, MASK) is MASK
    assert both(MASK, False) is False
    assert both(MASK, MASK) is MASK
    assert either(False, MASK) is MASK
    assert either(MASK, True) is True
    assert either(MASK, other) is Map(Fn.OR, (MASK, other))


def test_deep_and_shared_terms_are_answered_at_once():
    deep = shared = ZEROED
    for _ in range(2000):
        deep = add(deep, V)
        shared = mul(shared, shared)
    assert LIVE.differs(deep, Fraction(0)) is True
    assert LIVE.differs(shared, Fraction(0)) is True
    square = exp(MASKED)
    for _ in range(40):
        square = mul(square, square)
    assert LIVE.differs(square, Fraction(0)) is MASK
