from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.merge.tidy import tidy
from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn

X = Input("x", ("p",), "fp32")
ZERO, ONE = Const(Fraction(0)), Const(Fraction(1))
LOWEST = Const(float("-inf"))
EMPTY = Map(Fn.EQ, (X, LOWEST))


def where(condition, then, otherwise):
    return Map(Fn.WHERE, (condition, then, otherwise))


def test_numbers_are_computed_and_neutral_ones_left_out():
    assert tidy(Map(Fn.SUB, (X, Map(Fn.LOG, (ONE,))))) is X
    assert tidy(Map(Fn.MUL, (Map(Fn.ADD, (ONE, ZERO)), X))) is X
    assert tidy(Map(Fn.MUL, (ZERO, X))) is ZERO


def test_a_choice_is_made_once():
    guarded, kept = where(EMPTY, ZERO, ONE), where(EMPTY, ONE, X)
    assert tidy(Map(Fn.MUL, (guarded, kept))) is where(EMPTY, ZERO, X)
    assert tidy(where(Map(Fn.EQ, (guarded, ZERO)), ONE, guarded)) is ONE
    assert tidy(where(Map(Fn.EQ, (guarded, ONE)), X, ZERO)) is where(EMPTY, ZERO, X)


def test_a_fold_keeps_its_axis():
    here = Map(Fn.LE, (ZERO, Index("p")))
    total = tidy(Reduce(Fn.ADD, "p", where(here, ONE, ONE)))
    found = evaluate_node(total, FloatDomain(), {}, {"p": 5})
    assert float(found) == 5


NODES = st.recursive(
    st.sampled_from([X, ZERO, ONE, Const(Fraction(-2))]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from([Fn.ADD, Fn.SUB, Fn.MUL]), st.tuples(inner, inner)).map(
            lambda t: Map(*t)
        ),
        st.tuples(
            st.tuples(st.sampled_from([Fn.EQ, Fn.LT, Fn.LE]), st.tuples(inner, inner)).map(
                lambda t: Map(*t)
            ),
            inner,
            inner,
        ).map(lambda t: Map(Fn.WHERE, t)),
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(NODES)
def test_the_value_stays(node):
    arrays = {X: FloatDomain().array([-2.0, 0.0, 1.0, 3.0])}
    sizes = {"p": 4}
    before, after = (evaluate_node(n, FloatDomain(), arrays, sizes) for n in (node, tidy(node)))
    assert (before == after).all()
