"""Recurrences in the search: where their axes go, what a step costs, and why there is no kernel."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest

from superopt.errors import NotEmittable
from superopt.search.bounds import Case
from superopt.search.bounds import work
from superopt.search.configs import ladders
from superopt.search.mappings import placements
from superopt.search.mappings import why_none
from superopt.search.space import Search
from superopt.threads.build import build
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Whole
from tests.emit.recurrence_cases import delta_case
from tests.search.forms import H200

PROGRAM = delta_case().program
(GRAPH,) = delta_case().graphs
(BLOCK,) = GRAPH.kernels
SIZES = {"b": 8, "n": 512, "d": 64, "e": 128}
CONFIG = Config((("d", 64), ("e", 32)), warps=4)


def test_positions_are_walked_one_by_one_and_what_a_step_sums_over_is_whole():
    found = [dict(p.places) for p in placements(PROGRAM.outputs, tuple(SIZES), SIZES, H200)]
    assert found
    for places in found:
        assert (places["n"], places["d"]) == (Loop(tiled=False), Whole())
    assert {type(p["e"]) for p in found} == {Grid}
    assert {p["e"].tiled for p in found if isinstance(p["e"], Grid)} == {True, False}


def test_an_axis_that_is_too_long_for_a_step_is_the_reason():
    why = why_none(PROGRAM.outputs, tuple(SIZES), {**SIZES, "d": 1 << 17})
    assert why == "steps sum over 'd', which is too long to be kept whole"


def test_every_position_is_a_step_of_the_walk_and_the_state_is_kept():
    cost = launch_cost(BLOCK, CONFIG, SIZES, "fp32")
    assert (cost.steps, cost.walks, cost.programs) == (512, 1, 8 * 4)
    assert cost.products == ()
    assert cost.live >= 4 * 64 * 32
    (values,) = (r for r in cost.reads if r.tensor == "v")
    assert (values.total, values.in_flight) == (4 * 8 * 512 * 128, 4 * 32)
    # A step takes products by keep and into, the sum, two by out and what is added: 6, and more.
    assert cost.plain >= 6 * prod(SIZES.values())
    assert work(PROGRAM.outputs, Case(SIZES, "fp32", H200)).plain <= cost.plain


def test_the_search_finds_kernels_with_the_walk_and_no_tile_for_it():
    graph = KernelGraph("delta", PROGRAM.params, ("read", "end"), (BLOCK,))
    (ladder,) = ladders(graph, SIZES, "fp32", H200)
    assert all(dict(c.tiles).keys() == {"d", "e"} for (c,) in ladder)

    class Form:
        program, steps = PROGRAM, ()

    search = Search([Form()], SIZES, "fp32", H200, budget=4)
    built = list(search)
    assert built
    assert search.counts.built >= 1


def test_roles_have_no_instruction_for_a_step():
    narrow = replace(CONFIG, consumers=2)
    with pytest.raises(NotEmittable):
        build(BLOCK, narrow, "bf16", 2, 2)
