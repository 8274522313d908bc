"""What goes with lists on its way to a kernel: walks, places, what is refused, and the field."""

from __future__ import annotations

from dataclasses import replace

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
from superopt.ugraph.infinities import Infinities
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
from superopt.ugraph.node import Node
from superopt.ugraph.parse import parse
from superopt.ugraph.payload import with_payloads
from superopt.ugraph.split import launches
from superopt.ugraph.text import show
from superopt.ugraph.walk import topo
from superopt.verify.field.graphs import verify_graph
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import accepted
from tests import samples as s
from tests.emit.payload_cases import CUBE
from tests.emit.payload_cases import LABEL
from tests.emit.payload_cases import ROW
from tests.emit.payload_cases import TABLE
from tests.emit.payload_cases import X
from tests.emit.payload_cases import Y
from tests.emit.payload_cases import graph
from tests.emit.payload_cases import program

AXES = ("m", "n", "t")
PLACES = (("m", Grid()), ("n", Loop()), ("t", Whole()))


def goes(payload: Node, scores: Node = X) -> Best:
    return Best("n", "t", "n", (scores, Index("n"), payload), taken=True)


def fused(*stores: Store, number: int = 0):
    passes = groupings(stores, ["n"])[number]
    return fuse(stores, PLACES, (Turn("m"),), passes)


def stored(*values: Node) -> tuple[Store, ...]:
    return tuple(Store(f"out{i}", ("m", "t"), None, v) for i, v in enumerate(values))


def test_payloads_are_carries_beside_their_list():
    block = fused(*stored(goes(Y), goes(LABEL), goes(Y).list_of(at=True)))
    (walk,) = block.walks
    assert [c.name for c in walk.carries] == ["best0", "best0_at", "taken0", "taken1"]
    values, places, taken, whole = walk.carries
    assert taken.listed.other == whole.listed.other == values.name
    assert taken.pair(walk.components) == (values, places)
    assert taken.goes_with(values)
    assert not places.goes_with(values)
    assert (taken.state.whole, whole.state.whole) == (False, True)
    assert check(block) == []


def test_payloads_bring_their_list_along_and_share_its_walk():
    """Also where there are two lists: payloads of one never go with the other."""
    stores = stored(goes(Y), goes(X, Y))
    found = groupings(stores, ["n"])
    assert [len(passes) for passes in found] == [1, 2]
    for passes in found:
        for _, folds in passes:
            taken = [f for f in folds if f.taken]
            assert all(f.list_of() in folds for f in taken)
    block = fused(*stores, number=1)
    assert [[c.name for c in w.carries] for w in block.walks] == [
        ["best0", "best0_at", "taken0"],
        ["best1", "best1_at", "taken1"],
    ]


def test_payloads_in_another_walk_than_their_list_are_refused():
    stores = stored(goes(Y))
    ((axis, (values, taken)),) = groupings(stores, ["n"])[0]
    with pytest.raises(NoFusion, match="in another walk"):
        fuse(stores, PLACES, (Turn("m"),), ((axis, (values,)), (axis, (taken,))))


def test_payloads_of_what_moves_are_refused():
    """The law (``payload.py``) leaves none; a graph may still be written so."""
    weights = s.exp(s.sub(Y, s.largest("n", Y)))
    with pytest.raises(NoRepair, match="goes with the best and follows max0, which moves"):
        repair(fused(*stored(goes(weights))))
    block, _ = repair(fused(*stored(goes(weights)), number=1))
    assert [w.axis for w in block.walks] == ["n", "n"]
    assert check(block) == []


def test_running_payloads_are_not_read():
    above = s.total("n", s.mul(X, s.largest("t", goes(Y))))
    with pytest.raises(NoRepair, match="reads the list taken0"):
        repair(fused(Store("out", ("m",), None, above)))


def test_graphs_print_and_parse():
    for place in (Loop(), Split(), Whole()):
        found = graph(program("p", 3, X, Y, LABEL), place, AXES)
        assert parse(show(found)) == found
        assert check(found) == []
    assert "by max taken[t n] with best0 of y[m n]" in show(
        graph(program("p", 3, X, Y), Loop(), AXES)
    )


def test_parts_are_joined_by_the_same_node():
    parts, joined = launches(graph(program("p", 3, X, Y, LABEL), Split(), AXES))
    assert {s.name: s.dtype for s in parts.stores} == {
        "part0_best0": "fp32",
        "part0_best0_at": "int64",
        "part0_taken0": "fp32",
        "part0_taken1": "int64",
    }
    merged = [n for n in topo(joined.roots()) if isinstance(n, Best)]
    assert [(n.axis, n.into, n.of, n.taken) for n in merged] == [("n.part", "t", "n", True)] * 2


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("lists no such values", {"other": "best0_at"}),
        ("lists no such values", {"other": "nobody"}),
        ("lists no such values", {"of": "m"}),
    ],
)
def test_payloads_without_their_list_are_wrong(said, change):
    block = fused(*stored(goes(Y)))
    (walk,) = block.walks
    *pair, taken = walk.carries
    odd = replace(taken, listed=replace(taken.listed, **change))
    wrong = replace(block, walks=(replace(walk, carries=(*pair, odd)),))
    assert any(said in line for line in check(wrong))


def test_payloads_of_fewer_rows_than_their_list_are_wrong():
    block = fused(*stored(goes(ROW)))
    (walk,) = block.walks
    *pair, taken = walk.carries
    wrong = replace(walk, carries=(*pair, replace(taken, over=("t",))))
    assert any("kept over more axes" in p for p in check(replace(block, walks=(wrong,))))


def test_laws_go_on_around_payloads_and_leave_them_alone():
    made = with_payloads(program("p", 1, X, s.mul(Y, Y)))
    found = saturate(made, Budget())
    again = enter(found.graph, [o.value for o in made.outputs])
    assert [found.graph.find(again[o.value]) for o in made.outputs] == [
        found.graph.find(r) for r in found.roots
    ]
    (facts,) = (found.graph.facts(r) for r in found.roots)
    assert facts.axes == {"m"}


def test_what_payloads_may_be():
    known = Infinities(fused(*stored(goes(Y))))
    masked = s.where(s.eq(Index("n"), Index("m")), Y, s.NEG_INF)
    assert known.of(goes(Y)) == known.of(goes(LABEL)) == frozenset()
    assert known.of(goes(masked)) == {float("-inf")}


def test_rows_of_a_table_are_a_side_like_an_operand_of_a_product():
    sizes = {"m": 4096, "n": 8192, "e": 128, "t": 1}
    made = with_payloads(program("p", 1, X, TABLE))
    found = placements(made.outputs, ("m", "n", "e", "t"), sizes, target("h200"))
    assert {type(dict(p.places)["e"]) for p in found} >= {Whole, Grid}
    assert {type(dict(p.places)["n"]) for p in found} == {Loop, Split}
    own = with_payloads(program("p", 1, X, CUBE))
    found = placements(own.outputs, ("m", "n", "e", "t"), {**sizes, "n": 64}, target("h200"))
    assert Whole not in {type(dict(p.places)["e"]) for p in found}


READ = {"real": (Y, 1), "whole": (LABEL, 1), "power": (s.exp(Y), 1), "two": (Y, 2)}


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("place", [Loop(), Whole(), Split()])
def test_walks_and_parts_are_accepted_in_fields(name, place):
    payload, ranks = READ[name]
    spec = program("p", ranks, X, payload)
    assert accepted(verify_graph(with_payloads(spec), graph(spec, place, AXES), 0))


def changed(found: KernelGraph, **fields: object) -> KernelGraph:
    """With another last carry."""
    (block,) = found.kernels
    (walk,) = block.walks
    *rest, last = walk.carries
    carries = (*rest, replace(last, **fields))
    return replace(found, kernels=(replace(block, walks=(replace(walk, carries=carries),)),))


@pytest.mark.parametrize("ranks", [1, 2])
def test_other_payloads_are_never_accepted(ranks):
    spec = program("p", ranks, X, s.add(Y, ROW))
    right = graph(spec, Loop(), AXES)
    for other in (Y, s.mul(s.num(-1), s.add(Y, ROW)), s.add(s.add(Y, ROW), Index("n")), X):
        verdict = verify_graph(with_payloads(spec), changed(right, term=other), 0)
        assert isinstance(verdict, Refuted), other  # by an example in floats


def test_payloads_of_another_rank_are_never_accepted():
    spec = program("p", 2, X, Y)
    (node,) = (o.value for o in with_payloads(spec).outputs)
    first, second = (
        s.total("t", s.where(s.eq(Index("t"), s.num(r)), node, s.num(0))) for r in (0, 1)
    )
    stores = (Store("out0", ("m",), "fp32", first),)
    one = Program("p", (X, Y), stores, spec.fixed)
    other = replace(one, outputs=(replace(stores[0], value=second),))
    assert accepted(verify_graph(one, graph(one, Whole(), AXES), 0))
    assert not accepted(verify_graph(one, graph(other, Whole(), AXES), 0))


def test_payloads_of_another_list_are_never_accepted():
    one, other = program("p", 1, X, Y), program("p", 1, s.mul(X, s.num(-1)), Y)
    verdict = verify_graph(with_payloads(one), graph(other, Loop(), AXES), 0)
    assert isinstance(verdict, Refuted)


def test_payloads_that_lose_a_tile_are_not_accepted():
    spec = program("p", 1, X, Y)
    lost = s.where(s.eq(Index("n"), s.num(2)), s.num(0), Y)
    assert not accepted(
        verify_graph(with_payloads(spec), changed(graph(spec, Loop(), AXES), term=lost), 0)
    )
