"""What conditions say about positions, against all positions of small sizes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Bound
from superopt.ugraph.limits import Limits
from superopt.ugraph.limits import bounds
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from tests.samples import num
from tests.ugraph.test_ranges import CONDITION
from tests.ugraph.test_ranges import LENGTHS
from tests.ugraph.test_ranges import M
from tests.ugraph.test_ranges import N
from tests.ugraph.test_ranges import W
from tests.ugraph.test_ranges import le
from tests.ugraph.test_ranges import masked_sum

SIZES = {"m": 5, "n": 6}


def evaluated(node: Node, w: int, lengths: list[int]) -> np.ndarray:
    """``node`` at every (m, n)."""
    known = {W: np.asarray(w), LENGTHS: np.asarray(lengths, np.int64)}
    value = np.asarray(evaluate_node(node, FloatDomain(np.float64), known, SIZES))
    shape = [SIZES[a] if a in node.axes else 1 for a in ("m", "n")]
    return np.broadcast_to(value.reshape(shape), (5, 6))


def inside(limits, w: int, lengths: list[int]) -> np.ndarray:
    """Where the position walked is within all ``limits`` at its row."""
    found = np.ones((5, 6), bool)
    for side, of_side in bounds(limits, "n").items():
        for bound in of_side:
            value = evaluated(bound.value, w, lengths)
            found &= np.arange(6) >= value if side == "start" else np.arange(6) < value
    return found


@settings(max_examples=200, deadline=None)
@given(CONDITION, st.integers(-3, 6), st.lists(st.integers(-3, 8), min_size=5, max_size=5))
def test_no_position_outside_of_what_is_implied_and_all_within_what_is_assured(
    condition, w, lengths
):
    known = Limits(masked_sum(le(N, M)), "n")
    true = evaluated(condition, w, lengths)
    implied, assured = known.implied(condition), known.assured(condition)
    assert (
        not (true & ~inside(implied, w, lengths)).any() if implied is not None else not true.any()
    )
    if assured is not None:
        assert true[inside(assured, w, lengths)].all()


def test_data_along_the_walk_or_along_another_one_limits_nothing():
    known = Limits(masked_sum(le(N, M)), "n")
    for order in (("n",), ("k",), ("m", "n")):
        condition = le(N, Input("i", order, "int32"))
        assert known.implied(condition) == {}
        assert known.assured(condition) is None


def test_values_of_bounds_are_nodes():
    bound = Bound((("m", 1), ("b", -2)), num(3))
    turned = Map(Fn.MUL, (num(-2), Index("b")))
    assert bound.value == Map(Fn.ADD, (M, Map(Fn.ADD, (turned, num(3)))))
    assert bound.axes == ("m", "b")
    assert Bound((("m", 1),), LENGTHS).axes == ("m",)
