"""How tiles lie in registers."""

from __future__ import annotations

import pytest

from superopt.errors import NotEmittable
from superopt.threads.layouts import layouts_of


def test_the_first_tile_with_an_axis_decides_how_a_vector_lies():
    layouts = layouts_of([("m", "n"), ("m", "e"), ("m",), ("m", "n")])
    assert layouts.tiles == (("m", "n"), ("m", "e"))
    assert layouts.parent(("m",)) == ("m", "n")
    assert layouts.parent(("e",)) == ("m", "e")
    assert layouts.parent(("m", "e")) == ("m", "e")


def test_turning_a_row_into_a_row_is_free_and_into_a_column_is_not():
    layouts = layouts_of([("m", "n"), ("m", "e"), ("n", "m")])
    assert layouts.slice_of("m", ("m", "n"))
    assert not layouts.slice_of("m", ("m", "e"))
    assert layouts.free("m", ("m", "e"))
    assert not layouts.free("m", ("n", "m"))


@pytest.mark.parametrize("dims", [("x",), ("n", "x"), ("m", "n", "e")])
def test_what_is_part_of_no_tile_has_no_layout(dims):
    with pytest.raises(NotEmittable, match="no tile"):
        layouts_of([("m", "n")]).parent(dims)
