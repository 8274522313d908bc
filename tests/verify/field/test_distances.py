"""Windows that are wider than the sizes at which graphs are compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.masks import cleared
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.ranges import narrow
from superopt.ugraph.scalar import Fn
from superopt.verify.field.distances import shrunk
from superopt.verify.field.graphs import verify_graph
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import accepted
from tests import samples
from tests.samples import NEG_INF
from tests.samples import num
from tests.samples import sub
from tests.samples import where
from tests.verify.field.plain import plain
from tests.verify.field.plain import program

M, N = Index("m"), Index("n")
S = Input("s", ("m", "n"))


def window(back, ahead=33, after=S):
    """Softmax where ``m - n < back`` and ``n - m <= ahead``."""
    seen = Map(Fn.AND, (Map(Fn.LT, (sub(M, N), back)), Map(Fn.LE, (sub(N, M), num(ahead)))))
    return samples.softmax(where(seen, after, NEG_INF), "n")


def verdict(spec, value):
    meaning = program(spec)
    store = Store("out0", meaning.outputs[0].order, None, value)
    return verify_graph(meaning, plain(Program("p", meaning.params, (store,))), 0)


def test_a_wide_window_is_accepted():
    found = verdict(window(num(512)), window(num(512)))
    assert accepted(found)
    assert "distances in masks also read as 2 for 33, 4 for 512" in found.facts


@pytest.mark.parametrize(
    "wrong",
    [
        window(num(513)),
        window(num(511)),
        window(num(512), 34),
        window(num(33), 512),
        samples.softmax(S, "n"),
        samples.softmax(where(Map(Fn.LT, (sub(N, M), num(512))), S, NEG_INF), "n"),
    ],
)
def test_another_window_is_not(wrong):
    assert isinstance(verdict(window(num(512)), wrong), Unknown)


def test_numbers_that_are_no_distance_stay():
    value = window(num(512), after=samples.mul(S, num(512)))
    small, _, names = shrunk(program(value), plain(program(value)))
    assert names == {33: 2, 512: 4}
    assert small.outputs[0].value is window(num(4), 2, samples.mul(S, num(512)))


def test_neighbours_keep_their_difference():
    value = samples.add(window(num(512)), window(num(513)))
    assert shrunk(program(value), plain(program(value)))[2] == {33: 2, 512: 4, 513: 5}


def test_small_and_run_time_distances_stay():
    value = window(Scalar("back", "int32"), 1)
    meaning = program(value)
    assert shrunk(meaning, plain(meaning)) == (meaning, plain(meaning), {})


def test_wide_windows_in_limits_and_on_clear_tiles_are_read_alike():
    """The walk as it is searched for: its limits and what it drops have the same numbers."""
    seen = Map(Fn.AND, (Map(Fn.LE, (N, M)), Map(Fn.LT, (sub(M, N), num(512)))))
    meaning = program(samples.total("n", where(seen, S, num(0))))
    carry = Carry("c", ("m",), Fn.ADD, where(seen, S, num(0)))
    (out,) = meaning.outputs
    stores = (replace(out, value=carry.state),)
    places = (("m", Grid()), ("n", Loop()))
    block = cleared(narrow(BlockGraph(places, (Walk("n", (carry,)),), stores, (Turn("m"),))))
    graph = KernelGraph("p", meaning.params, (out.name,), (block,))
    assert accepted(verify_graph(meaning, graph, 0))
    (walk,) = block.walks
    wide = replace(walk.clear, start=(Bound((("m", 1),), num(-517)),))
    # Nothing but the mask keeps such a position out, of a walk over the whole range.
    wrong = replace(block, walks=(replace(walk, start=(), clear=wide),))
    assert isinstance(verify_graph(meaning, replace(graph, kernels=(wrong,)), 0), Unknown)
