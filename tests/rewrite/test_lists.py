"""Lists of the best on their way to a kernel: forms, walks, places, and what is refused."""

from __future__ import annotations

import pytest

from superopt.device import target
from superopt.errors import NoFusion
from superopt.errors import NoRepair
from superopt.repair.apply import repair
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.rewrite.saturate import Budget
from superopt.rewrite.saturate import enter
from superopt.rewrite.saturate import saturate
from superopt.search.mappings import placements
from superopt.ugraph.check import check
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Best
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.parse import parse
from superopt.ugraph.split import launches
from superopt.ugraph.text import show
from superopt.ugraph.walk import topo
from tests import samples as s
from tests.emit.list_cases import COUNT
from tests.emit.list_cases import X
from tests.emit.list_cases import graph
from tests.emit.list_cases import lists

PLACES = (("m", Grid()), ("n", Loop()), ("t", Whole()))


def both(value, name="p") -> Program:
    values, places = lists(value)
    stores = (
        Store("values", ("m", "t"), "fp32", values),
        Store("places", ("m", "t"), "int32", places),
    )
    return Program(name, (X,), stores, (("t", COUNT),))


def test_both_halves_share_a_walk_as_two_carries_that_name_each_other():
    program = both(X)
    (passes,) = groupings(program.outputs, ["n"])
    block = fuse(program.outputs, PLACES, (Turn("m"),), passes)
    (walk,) = block.walks
    values, places = walk.carries
    assert (values.name, places.name) == ("best0", "best0_at")
    assert (values.listed.other, places.listed.other) == ("best0_at", "best0")
    assert places.state.whole
    assert check(block) == []


def test_one_half_brings_the_other_along():
    program = both(X)
    only = program.outputs[1:]
    (passes,) = groupings(only, ["n"])
    block = fuse(only, PLACES, (Turn("m"),), passes)
    assert len(block.walks[0].carries) == 2


@pytest.mark.parametrize("place", [Loop(), Split(), Whole()])
def test_graphs_print_and_parse_and_name_their_sizes(place):
    found = graph(both(X), place, ("m", "n", "t"), True)
    assert parse(show(found)) == found
    assert "fixed t = 5" in show(found)
    assert check(found) == []


def test_parts_are_joined_by_the_same_node():
    parts, joined = launches(graph(both(X), Split(), ("m", "n", "t"), True))
    assert {s.name: s.dtype for s in parts.stores} == {
        "part0_best0": "fp32",
        "part0_best0_at": "int64",
    }
    merged = [n for n in topo(joined.roots()) if isinstance(n, Best)]
    assert [(n.axis, n.into, n.of) for n in merged] == [("n.part", "t", "n")] * 2
    assert joined.place["n.part"] == Whole()


def test_the_best_of_what_moves_are_refused():
    weights = s.exp(s.sub(X, s.largest("n", X)))
    program = both(weights)
    passes = groupings(program.outputs, ["n"])[0]
    block = fuse(program.outputs, PLACES, (Turn("m"),), passes)
    with pytest.raises(NoRepair, match="are ranked anew when max0 moves"):
        repair(block)


def test_a_running_list_is_not_read():
    values, _ = lists(X)
    least = s.largest("t", values)
    above = s.total("n", s.mul(X, least))
    program = Program("p", (X,), (Store("out", ("m",), None, above),), (("t", COUNT),))
    passes = groupings(program.outputs, ["n"])[0]
    block = fuse(program.outputs, PLACES, (Turn("m"),), passes)
    with pytest.raises(NoRepair, match="reads the list best0"):
        repair(block)


def test_lists_of_pairs_of_the_users_own_are_not_walked():
    other = Input("p", ("n",), "int32")
    node = Best("n", "t", "n", (X, other))
    stores = (Store("out", ("m", "t"), None, node),)
    passes = groupings(stores, ["n"])[0]
    with pytest.raises(NoFusion, match="by their own positions"):
        fuse(stores, PLACES, (Turn("m"),), passes)


def test_laws_go_on_around_lists_and_leave_them_alone():
    program = both(X)
    found = saturate(program, Budget())
    again = enter(found.graph, [s.value for s in program.outputs])
    assert [found.graph.find(again[s.value]) for s in program.outputs] == [
        found.graph.find(r) for r in found.roots
    ]
    values, places = (found.graph.facts(r) for r in found.roots)
    assert values.axes == places.axes == {"m", "t"}


def test_ranks_are_whole_and_what_is_ranked_may_be_walked_or_split():
    sizes = {"m": 4, "n": 131072, "t": COUNT}
    device = target("h200")
    found = placements(both(X).outputs, ("m", "n", "t"), sizes, device)
    assert {type(dict(p.places)["t"]) for p in found} == {Whole}
    assert {type(dict(p.places)["n"]) for p in found} == {Loop, Split}
    small = placements(both(X).outputs, ("m", "n", "t"), {**sizes, "n": 64}, device)
    assert {type(dict(p.places)["n"]) for p in small} == {Whole}


def test_the_values_of_rows_are_their_own():
    assert Index("n") in lists(X)[0].args
    assert isinstance(graph(both(X), Whole(), ("m", "n", "t"), True), KernelGraph)
