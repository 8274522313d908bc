"""Places and Configs from text: what is read, and where it is wrong."""

from __future__ import annotations

import pytest

from superopt.errors import ParseError
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Whole
from superopt.ugraph.lines import lines
from superopt.ugraph.parse_parts import read_config
from superopt.ugraph.parse_parts import read_place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Grid", Grid()),
        ("Grid untiled", Grid(tiled=False)),
        ("Loop", Loop()),
        ("Split", Split()),
        ("Whole", Whole()),
        ("Pack m", Pack("m")),
    ],
)
def test_places(text, place):
    (line,) = lines(text)
    assert read_place(line) == place


def test_an_unknown_place_is_named():
    (line,) = lines("Nowhere")
    with pytest.raises(ParseError, match="unknown place 'Nowhere'"):
        read_place(line)


def test_configs():
    (line,) = lines("m=16 n=32 | parts=2 warps=8 stages=3 descriptors group=4")
    assert read_config(line) == Config((("m", 16), ("n", 32)), 2, 8, 3, True, 4)
    (line,) = lines("m=16 | parts=2 stages=3")
    with pytest.raises(ParseError, match="warps"):
        read_config(line)
