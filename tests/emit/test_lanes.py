"""Lanes of whole axes that every row masks are printed as if they were no positions."""

from __future__ import annotations

from superopt.emit.block import print_block
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from tests import samples

LAST = Input("last", ("b",), "int32")


def masked_sum(axis):
    x, y = (Input(f"{name}_{axis}", ("b", axis)) for name in "xy")
    kept = samples.where(Map(Fn.LT, (Index(axis), LAST)), x, samples.num(0))
    return samples.total(axis, samples.mul(kept, y))


def test_each_axis_has_the_limit_cut_to_its_own_size():
    places = (("b", Grid(tiled=False)), ("n", Whole()), ("k", Whole()))
    value = samples.add(masked_sum("n"), masked_sum("k"))
    block = BlockGraph(places, (), (Store("out", ("b",), "fp32", value),), (Turn("b"),))
    text = print_block(block, "kernel").text
    for axis in "nk":
        assert f"{axis}_last = tl.minimum(tl.maximum(last.to(tl.int64), 0), {axis}_size)" in text
        assert f"{axis}_stop = tl.minimum({axis}_size, {axis}_last)" in text
        assert f"{axis}_in = {axis}_lane < {axis}_stop" in text
        for tensor in "xy":
            assert f"{axis}_lane, mask={axis}_in, other=0.0)" in text, tensor
