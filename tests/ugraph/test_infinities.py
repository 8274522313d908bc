from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.infinities import ANY
from superopt.ugraph.infinities import FINITE
from superopt.ugraph.infinities import UNDEFINED
from superopt.ugraph.infinities import Infinities
from superopt.ugraph.infinities import learned
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import div
from tests.samples import eq
from tests.samples import exp
from tests.samples import finite
from tests.samples import mul
from tests.samples import num
from tests.samples import online_attention
from tests.samples import positive
from tests.samples import rsqrt
from tests.samples import sub
from tests.samples import total
from tests.samples import where
from tests.ugraph.strategies import PARAMS
from tests.ugraph.strategies import SIZES
from tests.ugraph.strategies import nodes

X = Input("x", ("m", "n"))
EMPTY = Infinities(BlockGraph((), (), ()))
DOMAIN = FloatDomain()


@settings(max_examples=300)
@given(nodes(), st.integers(0, 50))
def test_what_is_excluded_does_not_occur(node, seed):
    rng = np.random.default_rng(seed)
    known = {}
    for p in PARAMS:
        shape = [SIZES[a] for a in p.axes]
        small = rng.integers(-2, 3, shape)
        known[p] = DOMAIN.array(small if p.kind.value == "int" else small + 0.0)
    value = evaluate_node(node, DOMAIN, known, SIZES)
    possible = EMPTY.of(node)
    # Overflow is a matter of floats; the analysis is about reals.
    values = [evaluate_node(n, DOMAIN, known, SIZES) for n in topo([node])]
    if any(np.abs(v[np.isfinite(v)] + 0.0).max(initial=0) > 1e9 for v in values):
        return
    assert UNDEFINED in possible or not np.isnan(value).any()
    assert -INF in possible or not (value == -INF).any()
    assert INF in possible or not (value == INF).any()


@given(nodes(), st.integers(0, 50))
def test_positive_is_positive(node, seed):
    rng = np.random.default_rng(seed)
    known = {p: DOMAIN.array(rng.normal(size=[SIZES[a] for a in p.axes])) for p in PARAMS}
    value = evaluate_node(node, DOMAIN, known, SIZES)
    if EMPTY.positive(node):
        assert not (value < 0).any()  # exp may round to 0
    if EMPTY.nonnegative(node):
        assert not (value < 0).any()


def test_states_are_as_special_as_their_terms():
    facts = Infinities(online_attention(causal=True).kernels[0])
    m = State("m", ("b", "h", "m"))
    assert facts.of(m) == {-INF}
    assert facts.of(finite(m)) == FINITE
    assert facts.of(State("l", ("b", "h", "m"))) == FINITE
    assert facts.of(State("o", ("b", "h", "m", "e"))) == FINITE
    assert facts.nonzero(positive(State("l", ("b", "h", "m"))))
    assert facts.of(State("z", ())) == ANY


def test_differences_of_infinities_are_undefined():
    s = where(Map(Fn.LT, (X, num(0))), X, NEG_INF)
    assert EMPTY.of(s) == {-INF}
    assert EMPTY.of(sub(s, s)) == {-INF, INF, UNDEFINED}
    assert EMPTY.of(exp(s)) == FINITE
    assert EMPTY.of(total("n", s)) == {-INF}
    assert EMPTY.of(mul(s, num(2))) == {-INF}
    assert EMPTY.of(mul(num(-2), s)) == {INF}
    assert EMPTY.of(mul(s, X)) == ANY
    assert EMPTY.of(Map(Fn.MAX, (s, num(0)))) == FINITE
    assert EMPTY.of(Map(Fn.MAX, (s, s))) == {-INF}


def test_division_needs_a_denominator_that_is_not_zero():
    assert EMPTY.of(div(X, X)) == ANY
    assert EMPTY.of(div(X, Size("n"))) == FINITE
    assert EMPTY.of(rsqrt(add(total("n", mul(X, X)), num(1)))) == FINITE
    assert EMPTY.of(rsqrt(total("n", mul(X, X)))) == ANY


def test_a_condition_teaches_what_a_value_is_not():
    is_empty = eq(X, NEG_INF)
    assert learned(is_empty, holds=False) == {(X, -INF)}
    assert learned(is_empty, holds=True) == frozenset()
    assert learned(Map(Fn.NOT, (is_empty,)), holds=True) == {(X, -INF)}
    assert learned(Map(Fn.LT, (NEG_INF, X)), holds=True) == {(X, -INF)}
    assert learned(Map(Fn.LE, (X, NEG_INF)), holds=False) == {(X, -INF)}
    either = Map(Fn.OR, (is_empty, eq(X, num(0))))
    assert learned(either, holds=False) == {(X, -INF), (X, num(0).value)}
    assert learned(either, holds=True) == frozenset()
