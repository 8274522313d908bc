"""Walks inside walks: their text, their names, what is wrong with some of them, what they cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.ugraph.check import check
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.names import rename
from superopt.ugraph.profile import profile
from superopt.ugraph.split import launches
from superopt.ugraph.structure import structure
from superopt.ugraph.text import parse
from superopt.ugraph.text import show
from tests import nested
from tests import samples as s

GRAPH = nested.graph(nested.normaliser(), nested.ROWS)
(BLOCK,) = GRAPH.kernels
(OUTER,) = BLOCK.walks
(INNER,) = OUTER.inner


@pytest.mark.parametrize("ragged", [(), ("k",), ("k", "n")])
@pytest.mark.parametrize("places", [nested.ROWS, nested.PARTS])
def test_text_is_read_back(places, ragged):
    graph = nested.graph(nested.normaliser(), places, ragged)
    assert parse(show(graph)) == graph
    assert "\n    walk k\n" in show(graph)


def test_names_change_inside_too():
    turned = rename(GRAPH, {"k": "features"}, {"w": "weights"}, {"sum1": "logits"})
    (walk,) = turned.kernels[0].walks
    assert walk.inner[0].axis == "features"
    assert walk.inner[0].carries[0].name == "logits"
    back = {"features": "k"}, {"weights": "w"}, {"logits": "sum1"}
    assert rename(turned, *back) == GRAPH


def test_every_walk_of_a_kernel_has_a_number():
    assert BLOCK.nest == (INNER, OUTER)
    assert [r.walk for r in profile(BLOCK).regions] == [0, 1, None]


def test_it_is_said_in_words():
    (line,) = structure(GRAPH)
    assert line == (
        "walk of n with 2 carries, 1 repaired around a walk of k with 1 carries, 0 repaired"
    )


def with_inner(**changes):
    walk = replace(OUTER, inner=(replace(INNER, **changes),))
    return replace(BLOCK, walks=(walk,))


CARRY = INNER.carries[0]
BAD = [
    (with_inner(axis="n"), "walks the same axis"),
    (with_inner(inner=(Walk("k", ()),)), "two deep at most"),
    (with_inner(stores=(Store("y", ("m", "k"), None, s.X),)), "once for each tile around it"),
    (with_inner(stop=(Bound((), s.num(3)),)), "has limits"),
    (with_inner(carries=(replace(CARRY, over=("m",), term=s.X),)), "does not vary over the latter"),
    (with_inner(carries=(replace(CARRY, name="max0"),)), "'max0' is defined twice"),
    (with_inner(carries=(replace(CARRY, term=OUTER.carries[0].state),)), "new state of 'max0'"),
    (replace(BLOCK, stores=(replace(BLOCK.stores[0], value=CARRY.state),)), "lacks axis 'n'"),
]


@pytest.mark.parametrize(("block", "message"), BAD)
def test_what_is_wrong_is_said(block, message):
    assert any(message in line for line in check(block)), check(block)


def test_a_good_one_has_no_problems():
    assert check(GRAPH) == []


def test_each_tile_around_a_walk_reads_its_operands_again():
    sizes, tile = {"m": 50, "k": 70, "n": 90}, {"m": 16, "k": 16, "n": 32}
    cost = launch_cost(BLOCK, Config(tuple(tile.items())), sizes, "bf16")
    programs, outer, inner = 4, 3, 5
    total = {r.tensor: r.total for r in cost.reads}
    assert total == {"x": 2 * 50 * 70 * outer, "w": 2 * 70 * 90 * programs}
    assert cost.unique == {"x": 2 * 50 * 70, "w": 2 * 70 * 90}
    assert cost.matrix == 2 * 16 * 16 * 32 * programs * outer * inner
    assert cost.steps == outer * inner
    assert [(f.inside, f.times) for f in cost.folds] == [(False, outer)] * 2
    exponentials = 16 * 32 * programs * outer
    assert exponentials <= cost.special < 2 * exponentials


def test_parts_share_what_is_counted():
    graph = nested.graph(nested.normaliser(), nested.PARTS)
    sizes, tile = {"m": 50, "k": 70, "n": 90}, {"m": 16, "k": 16, "n": 16}
    whole = launch_cost(BLOCK, Config(tuple(tile.items())), sizes, "bf16")
    parts = launch_cost(
        launches(graph)[0], Config(tuple(tile.items()), 3), {**sizes, "n.part": 3}, "bf16"
    )
    assert parts.matrix == whole.matrix
    assert parts.read == whole.read
    assert parts.steps * 3 == whole.steps


def test_what_is_kept_around_an_inner_walk_stays_alive_in_it():
    """The rows of what attention gives, beside the scores that accumulate."""
    (block,) = nested.graph(s.attention_delayed(), nested.WIDE).kernels
    scores, keys, _ = profile(block).regions
    assert ("m", "e") in keys.held
    assert {("m", "n"), ("m", "e")} <= set(scores.held)
    assert scores.around == 1
    assert keys.outer
    sizes = {"b": 1, "h": 1, "m": 64, "n": 64, "d": 64, "e": 64}
    cost = launch_cost(block, Config(tuple((a, 64) for a in "mdne")), sizes, "bf16")
    assert cost.live >= 4 * 2 * 64 * 64
    # Keys and queries come in stages, values once for each tile around.
    assert cost.shared_stage == 2 * 2 * 64 * 64
    assert cost.shared_fixed == 2 * 64 * 64
    assert [p.flop for p in cost.products] == [2 * 64**3] * 2
    half = launch_cost(block, Config((("m", 64), ("d", 32), ("n", 64), ("e", 64))), sizes, "bf16")
    assert [p.flop for p in half.products] == [2 * 64**3] * 2  # whatever the steps of its walk
