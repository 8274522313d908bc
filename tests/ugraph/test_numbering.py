from __future__ import annotations

import pytest

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Turn
from superopt.ugraph.numbering import grouped
from superopt.ugraph.numbering import neighbours
from superopt.ugraph.split import launches
from tests.grouped import grouped as heads
from tests.grouped import mapped
from tests.threads.cases import block

ONE = Grid(tiled=False)


@pytest.mark.parametrize(
    ("places", "order", "pair"),
    [
        ({"m": Grid(), "n": Grid()}, "m n", ("m", "n")),
        ({"m": Grid(), "n": Grid()}, "n m", ("n", "m")),
        ({"b": ONE, "m": Grid(), "n": Grid()}, "b m n", ("m", "n")),
        ({"b": ONE, "m": Grid(), "n": Grid()}, "m n b", ("m", "n")),
        ({"b": ONE, "m": Grid(), "n": Grid()}, "m b n", None),
        ({"k": Grid(), "m": Grid(), "n": Grid()}, "k m n", ("m", "n")),
        ({"m": Grid(), "n": Pack("m")}, "m", None),
        ({"b": ONE, "m": Grid()}, "b m", None),
        ({}, "", None),
    ],
)
def test_the_fastest_tiled_neighbours_are_grouped(
    places: dict[str, Place], order: str, pair: tuple[str, str] | None
) -> None:
    turns = tuple(Turn(a, reverse=a == "n") for a in order.split())
    assert grouped(BlockGraph(tuple(places.items()), (), (), turns)) == pair


def test_parts_of_a_split_are_no_part_of_a_group() -> None:
    graph = mapped(heads(), True, r=Grid())
    assert [grouped(block) for block in launches(graph)] == [("r", "m"), ("r", "m")]


def test_programs_of_several_tiles_also_group_an_axis_with_a_tile_for_each_position():
    assert neighbours(block("matmul")) == grouped(block("matmul")) == ("m", "n")
    assert grouped(block("causal")) is None
    assert neighbours(block("causal")) == ("h", "m")
