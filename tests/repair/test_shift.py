"""What a part of a split walk may read: prefixes whose offset cancels, and nothing else."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.errors import NoRepair
from superopt.repair.shift import response
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.values import evaluate_node
from superopt.verify.obligations import judge_repair
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import accepted
from tests.repair.cases import DECAY
from tests.repair.cases import LEFT
from tests.repair.cases import Case
from tests.repair.cases import W
from tests.repair.cases import X
from tests.repair.cases import Y
from tests.repair.cases import repaired
from tests.repair.cases import run
from tests.samples import add
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import sub
from tests.samples import total
from tests.samples import where

P, S = State("sum0", ("m",)), Input("s", ("m", "n"))
MOVED = (P, S)
LEAVES = st.sampled_from([P, S, X, num(2), num(Fraction(-1, 2)), Size("n")])
BINARY = st.sampled_from((Fn.ADD, Fn.SUB, Fn.MUL, Fn.MAX))
TERMS = st.recursive(
    LEAVES,
    lambda t: st.one_of(
        st.builds(lambda f, a, b: Map(f, (a, b)), BINARY, t, t),
        st.builds(lambda a: Map(Fn.TANH, (a,)), t),
        st.builds(lambda c, a, b: where(Map(Fn.LE, (c, num(0))), a, b), t, t, t),
    ),
    max_leaves=8,
)


def value(term: Node, offset: float) -> np.ndarray:
    rng = np.random.default_rng(3)
    known = {P: rng.normal(size=3) + offset, S: rng.normal(size=(3, 4)) + offset}
    known[X] = rng.normal(size=(3, 4))
    with np.errstate(all="ignore"):
        return evaluate_node(term, FloatDomain(np.float64), known, {"m": 3, "n": 4})


@given(term=TERMS)
@settings(max_examples=150, deadline=None)
def test_what_has_no_response_does_not_follow_the_offset(term: Node):
    if not response(term, MOVED):
        np.testing.assert_allclose(value(term, 0.0), value(term, 1.25), 1e-9, 1e-9)


@pytest.mark.parametrize(
    ("term", "still"),
    [
        (sub(P, S), True),
        (sub(mul(num(3), S), mul(P, num(3))), True),
        (add(sub(X, S), P), True),
        (sub(mul(Size("n"), P), mul(S, Size("n"))), True),
        (where(Map(Fn.LE, (X, num(0))), sub(P, S), X), True),
        (mul(exp(sub(P, S)), X), True),
        (sub(P, mul(num(2), S)), False),
        (S, False),
        (exp(S), False),
        (mul(sub(P, S), S), False),
        (where(Map(Fn.LE, (S, num(0))), X, X), False),
        (Map(Fn.MAX, (P, S)), False),
    ],
)
def test_an_offset_cancels_in_differences_with_one_factor(term: Node, still: bool):
    assert (not response(term, MOVED)) is still


DECAYS = Case("decay", ("m", "e"), total("n", mul(exp(LEFT), W)), (1,))
PREFIX = Scan(Fn.ADD, "n", DECAY)


@given(n=st.integers(0, 13), seed=st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_parts_are_combined_by_the_action_of_their_totals(n: int, seed: int):
    rng = np.random.default_rng(seed)
    given_ = {"x": rng.normal(size=(3, n)), "y": rng.normal(size=(3, n)), "u": rng.normal(size=n)}
    given_["w"] = rng.normal(size=(n, 2))
    for split in (False, True):
        want, got = run(DECAYS, repaired(DECAYS, split)[0], given_, n, np.float64)
        np.testing.assert_allclose(got, want, 1e-11, 1e-12)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (total("n", mul(PREFIX, W)), "depends on the sum before its part"),
        (total("n", mul(exp(sub(total("n", DECAY), mul(num(2), PREFIX))), W)), "before its part"),
        (total("n", mul(Scan(Fn.MAX, "n", X), W)), "prefixes by max have no offset"),
    ],
)
def test_a_walk_whose_parts_would_have_to_know_each_other_is_not_split(value: Node, why: str):
    case = Case("refused", ("m", "e"), value, ())
    repaired(case)  # in one part it may stand
    with pytest.raises(NoRepair, match=why):
        repaired(case, split=True)


def test_the_obligations_of_a_split_decay_hold():
    block, (found,) = repaired(DECAYS, split=True)
    assert all(accepted(v) for _, v in judge_repair(found, block))


@pytest.mark.parametrize("gate", [Y, mul(Y, Y), add(DECAY, num(1))])
def test_a_gate_that_may_grow_fails_the_range(gate: Node):
    left = sub(total("n", gate), Scan(Fn.ADD, "n", gate))
    block, (found,) = repaired(Case("grows", ("m", "e"), total("n", mul(exp(left), W)), (1,)))
    claims = dict(judge_repair(found, block))
    assert isinstance(claims["range"], Unknown | Refuted)
    assert all(accepted(v) for name, v in claims.items() if name != "range")
