"""The text of what goes with lists; that it is right is executed with all printed cases."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from superopt.emit.block import print_block
from superopt.emit.payload import HELPERS
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Whole
from superopt.ugraph.split import launches
from tests.emit.payload_cases import CUBE
from tests.emit.payload_cases import LABEL
from tests.emit.payload_cases import ROW
from tests.emit.payload_cases import TABLE
from tests.emit.payload_cases import X
from tests.emit.payload_cases import Y
from tests.emit.payload_cases import graph
from tests.emit.payload_cases import places
from tests.emit.payload_cases import program


def texts(place, *values, axes=("m", "n", "t"), tiled=True):
    """The functions of all launches of the graph with these payloads."""
    found = graph(program("p", 1, X, *values), place, axes, tiled)
    return [print_block(block, "k") for block in launches(found)]


def test_payloads_follow_in_every_tile_and_are_put_in_order_once():
    (kernel,) = texts(Loop(), Y)
    body, _, after = kernel.text.partition("_goes(")
    more, old, keys = re.search(r"_origin\((\w+), (\w+), (\w+)\)", body).groups()
    assert f"        {more} = _among({old}, {keys}, t_size)\n" in body
    assert f"        {old} = {more}\n" in body
    assert re.search(r"        taken0 = _follow\(\s*taken0,", body)
    assert "_follow(" not in after
    assert re.search(r"\n    \w+ = $", body)
    assert {"_origin", "_follow", "_goes"} <= set(kernel.helpers)


def test_a_list_without_payloads_is_printed_as_ever():
    found = program("p", 1, X, Y)
    only = replace(found, outputs=(replace(found.outputs[0], value=places(X), order=("m", "t")),))
    (kernel,) = (print_block(b, "k") for b in launches(graph(only, Loop(), ("m", "n", "t"))))
    assert not set(HELPERS) & set(kernel.helpers)
    assert "best0 = _among(best0, n_keys, t_size)" in kernel.text


def test_payloads_of_one_list_share_its_keys_and_its_origins():
    (kernel,) = texts(Whole(), Y, ROW, LABEL)
    assert kernel.text.count("_keys(") == kernel.text.count("_origin(") == 1
    assert kernel.text.count("_follow(") == kernel.text.count("_goes(") == 3
    (kernel,) = texts(Loop(), Y, ROW, LABEL)
    assert kernel.text.count("_origin(") == kernel.text.count("_among(")
    assert kernel.text.count("_follow(") == 3 * kernel.text.count("_origin(")


@pytest.mark.parametrize(
    ("payload", "axes", "shape"),
    [
        (Y, ("m", "n", "t"), "[TILE_M, TILE_N, 1]"),
        (ROW, ("m", "n", "t"), "[1, TILE_N, 1]"),
        (TABLE, ("m", "n", "e", "t"), "[1, TILE_N, TILE_E]"),
        (CUBE, ("e", "m", "n", "t"), "[TILE_M, TILE_N, TILE_E]"),
    ],
)
def test_the_tile_has_rows_of_its_own_only_where_payloads_have(payload, axes, shape):
    (kernel,) = texts(Loop(), payload, axes=axes)
    _, _, follow = " ".join(kernel.text.split()).partition("_follow(")
    given = follow.partition("_goes(")[0]
    assert re.findall(r"\[[^\[\]]*\](?=,? ?\))", given)[-1] == shape


def test_one_row_a_program_has_one_row_of_payloads():
    (kernel,) = texts(Loop(), Y, tiled=False)
    assert "tl.zeros([1, TILE_T, 1], tl.float32)" in kernel.text


def test_whole_numbers_are_kept_in_full():
    (kernel,) = texts(Loop(), LABEL)
    assert "tl.zeros([TILE_M, TILE_T, 1], tl.int64)" in kernel.text
    assert ".to(tl.int64)" in kernel.text


def test_payloads_of_parts_are_stored_beside_their_list():
    parts, joined = texts(Split(), Y)
    assert parts.text.count("tl.store(") == 3
    assert joined.text.count("_ranked(") == 0  # nobody asks for the values themselves
    assert "TILE_N_PART * TILE_T, 1])" in joined.text
