from __future__ import annotations

import numpy as np
import pytest

from superopt.errors import IllTyped
from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.values import from_memory
from superopt.ugraph.values import to_memory
from superopt.ugraph.values import varying
from tests.samples import add
from tests.samples import exp
from tests.samples import mul
from tests.samples import total

D = FloatDomain()
X, G = Input("x", ("n", "m")), Input("g", ("n",))


def test_a_node_is_evaluated_from_known_subterms():
    state = State("p", ("m",), old=True)
    value = evaluate_node(
        add(state, total("n", mul(X, G))),
        D,
        {state: np.array([1.0, 2.0]), X: np.ones((2, 3)), G: np.array([1.0, 2.0, 3.0])},
        {"m": 2, "n": 3},
    )
    assert value.tolist() == [7.0, 8.0]
    assert evaluate_node(exp(X), D, {exp(X): np.zeros((2, 3))}, {}).shape == (2, 3)


def test_sizes_and_positions_need_no_array():
    assert evaluate_node(mul(Index("n"), Size("n")), D, {}, {"n": 3}).tolist() == [0, 3, 6]


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (State("p", ("m",)), "the new state of 'p'"),
        (X, "nothing is known"),
        (Size("k"), "the size of axis 'k' is not given"),
        (Index("k"), "axis 'k' has no range"),
    ],
)
def test_what_is_not_known_is_named(node, message):
    with pytest.raises(IllTyped, match=message):
        evaluate_node(node, D, {}, {"m": 2, "n": 3})


def test_a_shared_node_is_computed_once():
    calls = []

    class Counting(FloatDomain):
        def apply(self, fn, args):
            calls.append(fn)
            return super().apply(fn, args)

    node: Node = Index("n")
    for _ in range(100):
        node = add(node, node)
    evaluate_node(node, Counting(), {}, {"n": 2})
    assert len(calls) == 100


def test_memory_order_is_left_and_restored():
    x = np.arange(24).reshape(2, 3, 4)
    held = from_memory(D, x, ("n", "b", "m"))
    assert held.shape == (3, 4, 2)
    assert (to_memory(D, held, ("n", "b", "m")) == x).all()


def test_what_varies_with_a_walk():
    state = State("p", ("m",))
    roots = [add(exp(state), total("n", X)), exp(Input("y", ("m",)))]
    assert varying(roots, ["n"], ["p"]) == {state, exp(state), X, total("n", X), roots[0]}
