"""Lists of the best: their meaning, merges in every bracketing, text, and malformed ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.errors import IllTyped
from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.parse import parse
from superopt.ugraph.text import show

X = Input("x", ("m", "n"), "fp32")
NUMBERS = st.sampled_from([-np.inf, -2.0, -1.0, -0.0, 0.0, 1.0, 1.0, 3.0])


def listed(values, places, count, end):
    """Values and places of the best, as plain Python sorts pairs."""
    if any(v != v for v in values):
        return [float("nan")] * count, [end] * count
    pairs = sorted(zip(values, places, strict=True), key=lambda pair: (-pair[0], pair[1]))
    pairs += [(-np.inf, end)] * count
    return [v for v, _ in pairs[:count]], [p for _, p in pairs[:count]]


def best(x, count):
    """Both halves of the list of each row of ``x``, by the evaluator."""
    sizes = {"m": x.shape[0], "n": x.shape[1], "t": count}
    halves = [Best("n", "t", "n", (X, Index("n")), at) for at in (False, True)]
    return [evaluate_node(h, FloatDomain(), {X: x}, sizes) for h in halves]


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, min_size=0, max_size=7), st.integers(1, 4))
def test_the_largest_first_and_of_equal_ones_the_lowest_position(row, count):
    values, places = best(np.array([row]).reshape(1, len(row)), count)
    wanted = listed(row, range(len(row)), count, len(row))
    assert (values[0].tolist(), places[0].tolist()) == wanted


def test_a_nan_is_in_every_value_and_leaves_no_position():
    values, places = best(np.array([[1.0, np.nan, 2.0], [1.0, 5.0, 2.0]]), 2)
    assert np.isnan(values[0]).all()
    assert places[0].tolist() == [3, 3]
    assert values[1].tolist() == [5.0, 2.0]
    assert places[1].tolist() == [1, 2]


def merge(*parts):
    """The list of several lists, by the evaluator."""
    count = len(parts[0][0])
    v, p = Input("v", ("part", "t"), "fp32"), Input("p", ("part", "t"), "int64")
    halves = [Best("part", "t", "n", (v, p), at) for at in (False, True)]
    known = {v: np.array([a for a, _ in parts]), p: np.array([b for _, b in parts])}
    sizes = {"part": len(parts), "t": count, "n": 99}
    return tuple(evaluate_node(h, FloatDomain(), known, sizes).tolist() for h in halves)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(NUMBERS, st.just(np.nan)), min_size=0, max_size=9), st.integers(1, 4))
def test_every_bracketing_of_parts_gives_the_list_of_the_whole(row, count):
    """Associativity, with a list without candidates as the unit."""
    cuts = [0, len(row) // 3, len(row) // 2, len(row)]
    pieces = [range(a, b) for a, b in pairwise(cuts)]
    a, b, c = (listed([row[i] for i in piece], piece, count, 99) for piece in pieces)
    nothing = listed([], [], count, 99)
    whole = listed(row, range(len(row)), count, 99)
    found = [merge(merge(a, b), c), merge(a, merge(b, c)), merge(a, b, c)]
    found += [merge(nothing, whole), merge(whole, nothing), merge(c, b, a)]
    for values, places in found:
        assert np.array_equal(values, whole[0], equal_nan=True)
        assert places == whole[1]


def test_values_that_do_not_vary_over_a_row_are_candidates_at_each_of_its_positions():
    row = Input("y", ("m",), "fp32")
    sizes = {"m": 2, "n": 3, "t": 2}
    known = {row: np.array([4.0, 5.0])}
    node = Best("n", "t", "n", (row, Index("n")), at=True)
    assert evaluate_node(node, FloatDomain(), known, sizes).tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize("at", [False, True])
def test_text_reads_back_to_the_same_node(at):
    node = Best("n", "t", "n", (X, Index("n")), at)
    assert parse(show(node)) is node
    assert node.axes == ("m", "t")


def bad() -> list[tuple[str, tuple[str, str, str], tuple[Node, ...]]]:
    """A part of the message, the axes, and the arguments of a list that is none."""
    n, one = Index("n"), Const(Fraction(1))
    return [
        ("no axis 'k'", ("k", "t", "k"), (X, n)),
        ("no axis 'n'", ("n", "n", "n"), (X, n)),
        ("pairs", ("n", "t", "n"), (X,)),
        ("reals", ("n", "t", "n"), (n, n)),
        ("whole number", ("n", "t", "n"), (X, X)),
        ("pairs", ("n", "t", "n"), (X, n, one)),
    ]


@pytest.mark.parametrize(("message", "axes", "args"), bad())
def test_what_is_no_list_is_refused(message, axes, args):
    with pytest.raises(IllTyped, match=message):
        Best(*axes, args)


def test_torch_ranks_like_numpy():
    torch = pytest.importorskip("torch")
    from superopt.verify.run.torch_domain import TorchDomain

    rng = np.random.default_rng(0)
    choices = [-np.inf, -1.0, 0.0, 2.0, np.nan]
    for count, length in product((1, 3, 6), (0, 1, 5)):
        values = rng.choice(choices, (8, length), p=[0.2, 0.3, 0.2, 0.25, 0.05])
        places = np.broadcast_to(np.arange(length), values.shape).copy()
        for at in (False, True):
            mine = FloatDomain().best(values, places, count, length, at)
            pair = torch.from_numpy(values), torch.from_numpy(places)
            other = TorchDomain("cpu").best(*pair, count, length, at).numpy()
            assert np.array_equal(mine, other, equal_nan=True)
