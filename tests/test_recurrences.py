"""Recurrences in specs: steps are taken apart as they mean, or refused with the term."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt import exp
from superopt import index
from superopt import maximum
from superopt import where
from superopt.errors import SpecError
from superopt.library import last
from superopt.recurrences import recur
from superopt.tensor import Tensor
from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import ONE
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur

Step = Callable[[Tensor], Tensor]
Array = npt.NDArray[np.float64]
SIZES = {"n": 3, "d": 2, "e": 3}
ORDERS = {"a": ("n",), "k": ("n", "d"), "v": ("n", "e"), "c": ("d", "e")}
INPUTS = [Input(name, order) for name, order in ORDERS.items()]
A, K, V, C = map(Tensor, INPUTS)
DOMAIN = FloatDomain(np.float64)
SCALES = st.sampled_from([A, K, V, C, Tensor(Const(ONE.value)), Tensor(Input("r", ()))])


def scaled(step: Step, by: Tensor) -> Step:
    return lambda s: by * step(s)


def divided(step: Step, by: Tensor) -> Step:
    return lambda s: step(s) / (1 + by * by)


def summed(step: Step, axes: tuple[str, ...]) -> Step:
    return lambda s: (step(s) + 0 * s).sum(*axes)


def chosen(step: Step, other: Step) -> Step:
    return lambda s: where(A < 1, step(s), other(s))


STEPS: st.SearchStrategy[Step] = st.recursive(
    st.sampled_from([lambda s: s, lambda s: K * V, lambda s: C - s, lambda s: -s]),
    lambda inner: st.one_of(
        st.builds(scaled, inner, SCALES),
        st.builds(divided, inner, SCALES),
        st.builds(summed, inner, st.sampled_from([("d",), ("e",), ("d", "e")])),
        st.builds(chosen, inner, inner),
        st.builds(lambda f, g: lambda s: f(s) - g(s), inner, inner),
    ),
    max_leaves=5,
)


def taken_apart(step: Step, first: Tensor) -> Tensor | None:
    """The states; None if a sum is scaled, or chosen, along its own axis and summed once more."""
    try:
        return recur("n", "d e", step, first)
    except SpecError as error:
        if "summed again" not in str(error) and "is chosen along" not in str(error):
            raise
        return None


@given(STEPS, st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_a_step_is_what_it_says_of_any_state(step: Step, seed: int):
    """The states are those that the step itself makes, one after another."""
    whole = scaled(lambda s: s + step(s), Tensor(Const(ONE.value)))
    states = taken_apart(lambda s: whole(s) + A * K * V, C)
    assume(states is not None)
    assert states is not None
    rng = np.random.default_rng(seed)
    held: dict[Node, Array] = {
        i: rng.integers(-2, 3, [SIZES[x] for x in i.axes]).astype(np.float64)
        for i in [*INPUTS, Input("r", ())]
    }
    got = evaluate_node(states.node, DOMAIN, held, SIZES)
    state = held[C.node]
    symbol = Input("s", ("d", "e"))
    after = (whole(Tensor(symbol)) + A * K * V).node
    for at in range(SIZES["n"]):
        found = evaluate_node(after, DOMAIN, {**held, symbol: state}, SIZES)
        state = found.take(at, axis=after.axes.index("n"))
        place = states.node.axes.index("n")
        np.testing.assert_allclose(got.take(at, axis=place), state, 1e-9, 1e-9)


def test_the_delta_rule_is_one_rank_one_step():
    states = recur("n", "d e", lambda s: A * s + K * (V - (K * (A * s)).sum("d")))
    node = states.node
    assert isinstance(node, Recur)
    assert node.along == (("d",),)
    assert node.args == (A.node, (K * V).node, (K * -1).node, (K * A).node)
    assert last(states, "n").node is Recur("n", node.along, node.args, last=True)


def test_the_last_value_along_an_axis_is_that_of_any_tensor():
    values = evaluate_node(last(K, "n").node, DOMAIN, {K.node: np.arange(6.0).reshape(2, 3)}, SIZES)
    np.testing.assert_array_equal(values, [2, 5])


def test_sums_of_equal_terms_are_one():
    twice = recur("n", "d e", lambda s: K * (K * s).sum("d") + V * (K * s).sum("d")).node
    assert isinstance(twice, Recur)
    assert twice.args == (ZERO, ZERO, (K + V).node, K.node)
    decay = recur("n", "d e", lambda s: K * V * s + C).node
    assert isinstance(decay, Recur)
    assert (decay.along, decay.args) == ((), ((K * V).node, C.node))


def test_a_sum_that_is_scaled_along_its_own_axis_may_be_summed_over_another():
    node = recur("n", "d e", lambda s: C * V + K * s.sum("d") + (K * s.sum("d")).sum("e")).node
    assert isinstance(node, Recur)
    assert node.along == (("d",), ("d", "e"))
    assert node.args[2:] == (K.node, ONE, K.node, ONE)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (lambda s: s * s + K * V, "not affine in its state in mul"),
        (lambda s: exp(s) + K * V, "not affine in its state in exp"),
        (lambda s: maximum(s, K * V), "not affine in its state in max"),
        (lambda s: K * V / s, "not affine in its state in div"),
        (lambda s: where(s < K * V, 1, 0), "not affine in its state in lt"),
        (lambda s: s.max("d") + K * V, "not affine in its state in max"),
        (lambda s: (K * s).sum("n") + V, "sees one position of 'n'"),
        (lambda s: (K * s).cumsum("n") + V, "not affine in its state in scan_add"),
        (lambda s: (C * s.sum("e")).sum("d") * K, "is affine.*along that and summed again"),
        (
            lambda s: where(index("d") < 1, (K * s).sum("d"), V),
            "is affine.*chosen along what it sums over",
        ),
        (lambda s: s + A, "recur names 'd', 'e' .* makes varies over no axes"),
        (lambda s: s + Tensor(Input("x", ("n", "d", "e", "z"))), "varies over 'd', 'e', 'z'"),
        (lambda s: s + C, "no step of the recurrence depends on its axis 'n'"),
        (lambda s: recur("n", "d e", lambda t: t + K * V * s), "not affine in its state in recur"),
        (lambda s: "s", "expected a tensor"),
    ],
)
def test_what_is_no_affine_step_is_refused_by_its_term(step, why):
    with pytest.raises(SpecError, match=why):
        recur("n", "d e", step)


def test_axes_are_one_string_and_a_step_is_a_function():
    with pytest.raises(SpecError, match=r"named by one string.*got \['d', 'e'\]"):
        recur("n", ["d", "e"], lambda s: s + K * V)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match=r"a step is a function of the state.*got a Tensor"):
        recur("n", "d e", K)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match=": a function is no name of an axis"):
        recur(lambda s: s, "n", "d e")  # type: ignore[arg-type]


def test_a_state_has_no_positions():
    with pytest.raises(SpecError, match="begins before any of its positions"):
        recur("n", "d e", lambda s: s + K * V, K)
    with pytest.raises(SpecError, match="it has no such axis"):
        recur("n", "n e", lambda s: s + V)
