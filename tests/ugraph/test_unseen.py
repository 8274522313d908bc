"""Which tensors masks by data hide in part, and which of these must not be loaded."""

from __future__ import annotations

import pytest

from superopt.ugraph.described import described
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.ugraph.unseen import everywhere
from superopt.ugraph.unseen import unseen
from tests import samples
from tests.samples import num
from tests.samples import where

X, Y, W = Input("x", ("b", "m", "n")), Input("y", ("b", "n")), Input("w", ("n", "e"))
KEEP, ROW = Input("keep", ("b", "n"), "bool"), Input("row", ("m", "n"), "bool")
LAST = Input("last", ("b",), "int32")
BEFORE = Map(Fn.LT, (Index("n"), LAST))


def kernel(value: Node, order: tuple[str, ...] = ("b", "m"), tiled: bool = False) -> BlockGraph:
    places = (("b", Grid(tiled)), ("m", Grid()), ("n", Whole()), ("e", Whole()))
    return BlockGraph(places, (), (Store("out", order, None, value),), (Turn("b"), Turn("m")))


def weighed(condition: Node, *values: Node) -> Node:
    weights = samples.softmax(where(condition, X, samples.NEG_INF), "n")
    total = weights
    for value in values:
        total = samples.mul(total, value)
    return samples.total("n", total)


def negated(condition: Node) -> Node:
    return Map(Fn.NOT, (condition,))


def test_what_is_only_weighed_is_hidden_and_what_is_chosen_needs_nothing():
    assert unseen(kernel(weighed(KEEP, Y))) == {Y: (KEEP,)}
    chosen = samples.total("n", where(KEEP, samples.mul(X, Y), num(0)))
    assert unseen(kernel(chosen)) == {}


@pytest.mark.parametrize(
    ("condition", "masks"),
    [
        (Map(Fn.AND, (KEEP, Map(Fn.LE, (Index("n"), Index("m"))))), (KEEP,)),
        (Map(Fn.OR, (KEEP, Map(Fn.LE, (Index("n"), Index("m"))))), ()),
        (negated(KEEP), (negated(KEEP),)),
        (Map(Fn.AND, (KEEP, ROW)), (KEEP,)),  # rows differ in what they mask
        (ROW, ()),
        (BEFORE, ()),  # a limit of lanes says it
    ],
)
def test_every_row_must_mask_it(condition: Node, masks: tuple[Node, ...]):
    assert unseen(kernel(weighed(condition, Y))).get(Y, ()) == masks


def test_a_length_is_a_mask_of_rows_that_share_a_tile():
    assert unseen(kernel(weighed(BEFORE, Y), tiled=True)) == {Y: (BEFORE,)}


def test_a_tensor_that_all_rows_share_is_hidden_from_none_that_differ():
    assert unseen(kernel(weighed(KEEP, W), ("b", "m", "e"))) == {W: (KEEP,)}
    assert unseen(kernel(weighed(KEEP, W), ("b", "m", "e"), tiled=True)) == {}


def test_what_something_else_takes_in_is_not_hidden():
    both = samples.add(weighed(KEEP, Y), samples.total("n", Y))
    assert unseen(kernel(both)) == {}


def test_tensors_that_are_hidden_in_part_have_no_descriptor():
    k, q = Input("k", ("b", "n", "d")), Input("q", ("b", "m", "d"))
    v = Input("v", ("b", "n", "e"))
    scores = samples.total("d", samples.mul(q, k))
    places = (("b", Grid(False)), ("m", Grid()), ("n", Whole()), ("d", Whole()), ("e", Whole()))

    def block(scores: Node) -> BlockGraph:
        value = samples.total("n", samples.mul(samples.softmax(scores, "n"), v))
        return BlockGraph(places, (), (Store("out", ("b", "m", "e"), None, value),), (Turn("b"),))

    assert v in described(block(scores))
    hidden = block(where(KEEP, scores, samples.NEG_INF))
    assert everywhere(hidden) == {v: (KEEP,)}
    assert v not in described(hidden)
    assert k in described(hidden)
