"""The text of lists of the best; that it computes them is executed with all printed cases."""

from __future__ import annotations

import ast

import pytest

from superopt.emit import payload
from superopt.emit.block import print_block
from superopt.emit.ranking import HELPERS
from superopt.signature import FILE_NAMES
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Whole
from superopt.ugraph.split import launches
from tests.emit.list_cases import X
from tests.emit.list_cases import graph
from tests.emit.list_cases import listing

AXES = ("m", "n", "t")


def texts(place, axes=AXES, tiled=True):
    """The functions of all launches of the graph with these places."""
    found = graph(listing("listing", X), place, axes, tiled)
    return [print_block(block, "k") for block in launches(found)]


@pytest.mark.parametrize("helpers", [HELPERS, payload.HELPERS], ids=["lists", "payloads"])
def test_helpers_have_names_that_no_spec_can_take(helpers):
    assert set(helpers) <= FILE_NAMES
    for name, text in helpers.items():
        (function,) = ast.parse(text).body
        assert isinstance(function, ast.FunctionDef)
        assert function.name == name


def test_a_walk_ranks_once_it_is_over():
    (kernel,) = texts(Loop())
    lines = kernel.text.splitlines()
    (start,) = (i for i, line in enumerate(lines) if "_nobody(" in line)
    last = max(i for i, line in enumerate(lines) if "_among(" in line)
    (end,) = (i for i, line in enumerate(lines) if "_ranked(" in line)
    assert start < last < end
    assert lines[last].startswith("        ")
    assert not lines[end].startswith("        ")
    assert {"_keys", "_nobody", "_among", "_ranked"} <= set(kernel.helpers)


def test_both_halves_come_from_one_list():
    (kernel,) = texts(Whole())
    assert kernel.text.count("_ranked(") == kernel.text.count("_among(") == 1


@pytest.mark.parametrize("place", [Loop(), Whole()])
def test_lanes_that_do_not_exist_are_below_all_candidates(place):
    (kernel,) = texts(place)
    assert "-0x7FFFFFFFFFFFFFFF - 1)" in kernel.text


def test_parts_and_ranks_are_the_candidates_of_the_joined_list():
    parts, joined = texts(Split())
    assert parts.text.count("tl.store(") == 4  # both halves, and the two sums
    assert "tl.reshape(" in joined.text


def test_ranks_that_are_no_last_dimension_are_turned_around():
    (kernel,) = texts(Whole(), ("t", "n", "m"))
    assert "tl.permute(" in kernel.text
    assert all("tl.permute(" not in k.text for k in texts(Loop()))


def test_one_row_a_program_needs_no_dimension_for_rows():
    (kernel,) = texts(Loop(), tiled=False)
    assert "None" not in kernel.text.partition("_nobody(")[2].partition("\n")[0]
