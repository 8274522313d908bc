"""Normal forms of components, and components that a walk keeps already."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.repair.apply import repair
from superopt.repair.record import Guard
from superopt.repair.shared import normal
from superopt.repair.shared import shared
from superopt.repair.span import FINITE
from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.verify.obligations import judge_repair
from superopt.verify.verdict import accepted
from tests.repair.cases import TOP
from tests.repair.cases import X
from tests.repair.cases import fused
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import div
from tests.samples import eq
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import sub
from tests.samples import total
from tests.samples import where

STATE = State("max0", ("m",))
SHIFTED = sub(X, STATE)
POWER = Map(Fn.EXP2, (mul(SHIFTED, Named(Constant.LOG2E)),))
MASK = eq(X, NEG_INF)
FACTORS = (SHIFTED, exp(SHIFTED), POWER, STATE, num(3), X, exp(STATE), mul(STATE, SHIFTED))
KNOWN: dict[Node, object] = {STATE: FINITE}


def test_a_factor_is_divided_where_the_term_divides_it():
    """Numbers that cancel are rounded alike: as one quotient, not as a product over the divisor."""
    y, scale = Input("y", ("n",)), add(STATE, num(1))
    share = div(exp(SHIFTED), scale)
    term = mul(sub(share, y), X)
    assert normal(div(mul(X, exp(SHIFTED)), scale), KNOWN, [term]) is mul(X, share)
    assert normal(div(mul(exp(SHIFTED), mul(X, y)), scale), KNOWN, [term]) is mul(share, mul(X, y))
    assert normal(share, KNOWN, [term]) is share
    for other in (div(mul(X, y), scale), div(mul(X, exp(SHIFTED)), STATE), div(X, exp(SHIFTED))):
        assert normal(other, KNOWN, [term]) is other


def entropy(mask: bool = True) -> Node:
    """Of a row; without a mask where nothing is masked."""
    shifted = sub(X, TOP)
    terms = mul(exp(shifted), shifted)
    return div(total("n", where(MASK, num(0), terms) if mask else terms), total("n", exp(shifted)))


def values(term: Node, xs: list[float], top: float) -> np.ndarray:
    """``term`` at every ``x``, with ``top`` as the state."""
    t = Input("t", ("m",), "fp32")
    value = substitute(term, {STATE: t})
    program = Program("f", (X, t), (Store("out", ("m", "n"), "fp32", value),))
    data = {"x": np.array([xs]), "t": np.array([top])}
    sizes = {"m": 1, "n": len(xs)}
    return evaluate_program(program, FloatDomain(), data, sizes)["out"]


@st.composite
def terms(draw) -> Node:
    """Products of masked and plain factors, masked as a whole or not."""
    node: Node = draw(st.sampled_from(FACTORS))
    for _ in range(draw(st.integers(0, 2))):
        other = draw(st.sampled_from((*FACTORS, where(MASK, num(0), num(1)))))
        node = mul(node, other) if draw(st.booleans()) else mul(other, node)
        if draw(st.booleans()):
            node = where(MASK, num(draw(st.sampled_from((0, 0, 1)))), node)
    return node


@settings(max_examples=150, deadline=None)
@given(
    terms(),
    st.lists(st.one_of(st.just(float("-inf")), st.floats(-5, 5)), min_size=1, max_size=6),
    st.floats(-5, 5),
)
def test_a_normal_form_is_the_same_value_at_masked_positions_too(term, xs, top):
    seen = values(normal(term, KNOWN, [POWER]), xs, top)
    expected = values(term, xs, top)
    # A weight that vanishes where its mask made 0 * -inf of it may be defined where it was not.
    defined = ~np.isnan(expected)
    assert np.allclose(seen[defined], expected[defined], rtol=1e-12)


def test_a_mask_goes_where_an_exponential_vanishes_by_itself():
    assert normal(mul(where(MASK, num(0), num(1)), exp(SHIFTED)), KNOWN, []) is exp(SHIFTED)
    assert normal(where(MASK, num(0), exp(SHIFTED)), KNOWN, []) is exp(SHIFTED)


@pytest.mark.parametrize(
    "term",
    [
        where(MASK, num(1), exp(SHIFTED)),  # another value than the exponential's
        where(MASK, num(0), exp(STATE)),  # which does not vanish
        where(Map(Fn.LE, (X, num(0))), num(0), exp(SHIFTED)),  # not a comparison with one value
        where(MASK, num(0), mul(exp(STATE), num(3))),  # nothing in it needs the mask
        where(MASK, num(0), mul(SHIFTED, SHIFTED)),  # both factors do
    ],
)
def test_a_mask_that_does_something_stays_where_it_is(term):
    assert normal(term, KNOWN, []) is term


def test_exponentials_are_spelled_as_the_walk_spells_them():
    assert normal(exp(SHIFTED), KNOWN, [POWER]) is POWER
    assert normal(exp(SHIFTED), KNOWN, [exp(STATE)]) is exp(SHIFTED)


def test_the_mask_of_a_product_goes_to_the_factor_that_needs_it():
    term = where(MASK, num(0), mul(POWER, SHIFTED))
    assert normal(term, KNOWN, []) is mul(POWER, where(MASK, num(0), SHIFTED))


@pytest.mark.parametrize("mask", [True, False])
def test_the_sum_of_weights_is_kept_once(mask):
    """Entropy needs it for its terms' sum to move, and has it as the normaliser."""
    block, found = repair(fused(("m",), entropy(mask)))
    (walk,) = block.walks
    assert len(walk.carries) == 3
    assert [r.rank for r in found] == [1, 2] or [r.rank for r in found] == [2, 1]
    two = next(r for r in found if r.rank == 2)
    for one in found:
        claims = judge_repair(one, block)
        assert all(accepted(v) for _, v in claims), claims
    assert {c.name for c in two.components} <= set(walk.components)


def carry(name: str, term: Node, *moves: Move, fold: Fn = Fn.ADD) -> Carry:
    return Carry(name, ("m",), fold, term, moves)


def test_equal_components_are_one_and_their_readers_know():
    old = carry("a", exp(SHIFTED), Move("a", STATE))
    first = carry("b", SHIFTED, Move("b", STATE), Move("b_1", num(2)))
    same = carry("b_1", exp(SHIFTED), Move("b_1", STATE))
    guard = Guard("b_1", eq(STATE, NEG_INF), True, "why")
    kept, guards = shared([first, same], [guard], [old])
    assert kept == (carry("b", SHIFTED, Move("b", STATE), Move("a", num(2))), old)
    assert guards == (Guard("a", eq(STATE, NEG_INF), True, "why"),)


@pytest.mark.parametrize(
    "other",
    [
        carry("a", exp(X), Move("a", STATE)),
        carry("a", exp(SHIFTED), Move("a", num(2))),
        carry("a", exp(SHIFTED)),
        carry("a", exp(SHIFTED), Move("a", STATE), fold=Fn.MAX),
        carry("a", exp(SHIFTED), Move("a", STATE), Move("c", STATE)),
        Carry("a", (), Fn.ADD, exp(SHIFTED), (Move("a", STATE),)),
    ],
)
def test_what_differs_in_anything_is_not_shared(other):
    first = carry("b", add(SHIFTED, num(1)), Move("b", STATE), Move("b_1", num(2)))
    mine = carry("b_1", exp(SHIFTED), Move("b_1", STATE))
    assert shared([first, mine], [], [other]) == ((first, mine), ())


def test_a_mask_that_is_wrongly_dropped_is_not_proved():
    """The obligations look at masked positions as well, where 0 * -inf is no number."""
    block, found = repair(fused(("m",), entropy()))
    two = next(r for r in found if r.rank == 2)
    first = two.components[0]
    masked = next(n for n in topo([first.term]) if isinstance(n, Map) and n.args[0] is MASK)
    bare = replace(first, term=substitute(first.term, {masked: masked.args[2]}))
    (walk,) = block.walks
    carries = tuple(bare if c is first else c for c in walk.carries)
    wrong = replace(two, components=(bare, *two.components[1:]))
    claims = judge_repair(wrong, replace(block, walks=(replace(walk, carries=carries),)))
    assert not accepted(dict(claims)["separation"])
