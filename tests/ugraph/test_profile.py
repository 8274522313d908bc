from __future__ import annotations

from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Input
from superopt.ugraph.node import State
from superopt.ugraph.profile import profile
from superopt.ugraph.scalar import Fn
from superopt.ugraph.steps import What
from tests import samples


def test_a_value_that_does_not_vary_over_the_walk_is_computed_once():
    (block,) = samples.online_attention().kernels
    found = profile(block)
    inside = {s.tensor for s in found.regions[0].steps if s.what is What.LOAD}
    once = {s.tensor for s in found.regions[-1].steps if s.what is What.LOAD}
    assert (inside, once) == ({"k", "v"}, {"q"})
    assert set(found.dots) == {"m", "n", "d", "e"}


def test_every_step_that_is_needed_later_is_freed_once():
    for graph in (samples.online_attention(), samples.two_pass_softmax()):
        for region in profile(graph.kernels[0]).regions:
            freed = [i for s in region.steps for i in s.frees]
            assert len(freed) == len(set(freed))
            assert all(i <= at for at, s in enumerate(region.steps) for i in s.frees)


def test_a_product_without_a_row_axis_is_folded_by_ordinary_units():
    q = Input("q", ("d",))
    k = Input("k", ("n", "d"))
    value = samples.total("d", samples.mul(q, k))
    block = BlockGraph(
        (("d", Whole()), ("n", Grid())), (), (Store("out", ("n",), None, value),), (Turn("n"),)
    )
    whats = [s.what for r in profile(block).regions for s in r.steps]
    assert What.PRODUCT not in whats
    assert whats.count(What.FOLD) == 1


def test_a_product_added_to_a_carried_value_accumulates_in_place():
    low, b = Input("low", ("m", "r")), Input("b", ("r", "n"))
    carry = Carry("acc", ("m", "n"), Fn.ADD, samples.mul(samples.X, samples.W))
    value = samples.add(State("acc", ("m", "n")), samples.total("r", samples.mul(low, b)))
    block = BlockGraph(
        (("m", Grid()), ("k", Loop()), ("n", Grid()), ("r", Whole())),
        (Walk("k", (carry,)),),
        (Store("out", ("m", "n"), None, value),),
        (Turn("m"), Turn("n")),
    )
    products = [s for r in profile(block).regions for s in r.steps if s.what is What.PRODUCT]
    assert len(products) == 2
    assert all(s.result is None for s in products)
