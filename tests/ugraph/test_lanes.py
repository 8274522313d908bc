"""Limits of axes that are whole in the tile."""

from __future__ import annotations

import pytest

from superopt.ugraph.lanes import lanes
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.ranges import claims
from superopt.ugraph.scalar import Fn
from superopt.verify.ranges_proof import prove_limits
from superopt.verify.verdict import Proved
from tests import samples

X, Y = Input("x", ("b", "m", "n")), Input("y", ("b", "n"))
M, N = Index("m"), Index("n")
LAST, FIRST = Input("last", ("b",), "int32"), Input("first", ("b", "m"), "int32")
BEFORE = Map(Fn.LT, (N, LAST))


def kernel(condition, order=("b", "m"), fold=True):
    s = samples.where(condition, X, samples.NEG_INF)
    weights = samples.softmax(s, "n")
    value = samples.total("n", samples.mul(weights, Y)) if fold else weights
    places = (("b", Grid(tiled=False)), ("m", Grid()), ("n", Whole()))
    return BlockGraph(places, (), (Store("out", order, None, value),), (Turn("b"), Turn("m")))


def both(*args):
    return Map(Fn.AND, args)


def bound(offset):
    return Bound((), offset)


@pytest.mark.parametrize(
    ("condition", "start", "stop"),
    [
        (BEFORE, (), (LAST,)),
        (both(BEFORE, Map(Fn.LE, (FIRST, N))), (FIRST,), (LAST,)),
        (both(BEFORE, Map(Fn.LE, (N, M))), (), (LAST,)),  # what depends on the row is not asked
        (Map(Fn.LT, (N, Scalar("length", "int32"))), (), (Scalar("length", "int32"),)),
    ],
)
def test_limits_that_masks_imply_and_their_proofs(condition, start, stop):
    block = kernel(condition)
    (found,) = lanes(block)
    assert found.axis == "n"
    assert found.start == tuple(map(bound, start))
    assert found.stop == tuple(map(bound, stop))
    verdicts = [v for _, v in prove_limits(block)]
    assert len(verdicts) == len(start) + len(stop)
    assert all(isinstance(v, Proved) for v in verdicts)


@pytest.mark.parametrize(
    "condition",
    [
        Map(Fn.LE, (N, M)),  # depends on the row
        Map(Fn.OR, (BEFORE, Map(Fn.LE, (FIRST, N)))),
        Map(Fn.LT, (N, Size("n"))),  # says nothing
        Map(Fn.LT, (N, Input("until", ("n",), "int32"))),  # differs from lane to lane
    ],
)
def test_masks_without_a_limit(condition):
    assert lanes(kernel(condition)) == ()
    assert claims(kernel(condition)) == ()


def test_what_is_stored_keeps_all_lanes():
    assert lanes(kernel(BEFORE, ("b", "m", "n"), fold=False)) == ()


def test_a_fold_without_the_mask_keeps_all_lanes():
    block = kernel(BEFORE)
    (store,) = block.stores
    value = samples.add(store.value, samples.total("n", Y))
    more = BlockGraph(block.places, (), (Store("out", ("b", "m"), None, value),), block.order)
    assert lanes(more) == ()
