"""What is divided by what fewer elements have in common is multiplied by its reciprocal."""

from __future__ import annotations

import pytest

from superopt.emit.block import print_block
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from tests import samples

X, Y = Input("x", ("m", "n"), "fp32"), Input("y", ("m", "n"), "fp32")
ROW, COUNT = Input("r", ("m",), "fp32"), Input("c", ("m",), "int32")


def printed(below: Node, tiled: bool) -> str:
    places: tuple[tuple[str, Place], ...] = (("m", Grid(tiled=tiled)), ("n", Whole()))
    value = samples.div(X, below)
    block = BlockGraph(places, (), (Store("out", ("m", "n"), "fp32", value),), (Turn("m"),))
    return print_block(block, "kernel").text


@pytest.mark.parametrize("tiled", [True, False], ids=["rows", "one row"])
@pytest.mark.parametrize("below", [ROW, COUNT, samples.total("n", Y)], ids=["row", "whole", "sum"])
def test_elements_of_a_row_share_its_reciprocal(below: Node, tiled: bool):
    text = printed(below, tiled)
    assert "* (1.0 / " in text
    assert text.count(" / ") == 1


@pytest.mark.parametrize("tiled", [True, False], ids=["rows", "one row"])
@pytest.mark.parametrize("below", [Y, Size("n"), Scalar("a")], ids=["tensor", "size", "number"])
def test_what_no_row_shares_is_divided_as_it_stands(below: Node, tiled: bool):
    assert "1.0 /" not in printed(below, tiled)
