"""A fold of a fold over another walked axis becomes a walk inside a walk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.errors import NoFusion
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.check import check
from superopt.ugraph.evaluate import evaluate_kernels
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.node import Best
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from superopt.ugraph.split import launches
from tests import nested
from tests import samples as s

DOMAIN = FloatDomain(np.float64)


def same(program, graph, sizes, tiles, parts=1):
    rng = np.random.default_rng(5)
    arrays = {p.name: rng.normal(size=[sizes[a] for a in p.order]) for p in program.params}
    want = evaluate_program(program, DOMAIN, arrays, sizes)["out"]
    config = Config(tuple(tiles.items()), parts)
    configs = (config, Config((("n.part", parts), *config.tiles))) if parts > 1 else (config,)
    got = evaluate_kernels(graph, DOMAIN, arrays, sizes, configs)["out"]
    np.testing.assert_allclose(got, want, rtol=1e-11)


@pytest.mark.parametrize("tiles", [{"m": 2, "k": 3, "n": 4}, {"m": 8, "k": 1, "n": 16}])
@pytest.mark.parametrize(
    ("program", "walks"),
    [
        (nested.normaliser(), {("n",), ("n", "n")}),
        (nested.probabilities(), {("n", "n"), ("n", "n", "n")}),
        (nested.normed(), {("k", "n"), ("k", "n", "n")}),
    ],
)
def test_every_grouping_means_the_program(program, walks, tiles):
    found = nested.every(program, nested.ROWS)
    assert {tuple(w.axis for w in g.kernels[0].walks) for g in found} == walks
    for graph in found:
        assert check(graph) == []
        for walk in graph.kernels[0].walks:
            assert [w.axis for w in walk.inner] == (["k"] if walk.axis == "n" else [])
        for sizes in ({"m": 3, "k": 7, "n": 9}, {"m": 1, "k": 1, "n": 1}, {"m": 2, "k": 0, "n": 4}):
            same(program, graph, sizes, tiles)


SPLIT, CLEARED = (
    nested.graph(nested.normaliser(), nested.PARTS),
    nested.graph(nested.normaliser(), nested.ROWS, ragged=("k", "n")),
)


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.fixed_dictionaries(
        {"m": st.integers(1, 4), "k": st.integers(0, 9), "n": st.integers(1, 9)}
    ),
    tiles=st.fixed_dictionaries({a: st.sampled_from([1, 2, 3, 4, 8]) for a in "mkn"}),
    parts=st.integers(2, 5),
)
def test_tiles_and_parts_change_no_value(sizes, tiles, parts):
    program = nested.normaliser()
    same(program, SPLIT, sizes, tiles, parts)
    same(program, CLEARED, sizes, tiles)


@pytest.mark.parametrize("parts", [2, 3, 5])
def test_a_split_walk_has_its_inner_walk_in_every_part(parts):
    program = nested.normaliser()
    graph = nested.graph(program, nested.PARTS)
    assert check(graph) == []
    first, second = launches(graph)
    assert [w.axis for w in first.nest] == ["k", "n"]
    assert not second.nest
    same(program, graph, {"m": 3, "k": 5, "n": 11}, {"m": 2, "k": 2, "n": 3}, parts)


def test_clear_tiles_of_both_walks_mean_the_same():
    program = nested.probabilities()
    graph = nested.graph(program, nested.ROWS, ragged=("k", "n"))
    assert all(w.clear is not None for w in graph.kernels[0].nest)
    same(program, graph, {"m": 3, "k": 7, "n": 9}, {"m": 2, "k": 3, "n": 4})


def test_scores_of_long_features_are_a_walk_inside_the_walk_of_keys():
    program = s.attention_delayed(causal=True)
    graph = nested.graph(program, nested.WIDE)
    (walk,) = graph.kernels[0].walks
    assert [(w.axis, w.carries[0].over) for w in walk.inner] == [("d", ("b", "h", "m", "n"))]
    sizes = {"b": 1, "h": 2, "m": 5, "n": 7, "d": 5, "e": 3}
    same(program, graph, sizes, {"m": 2, "d": 2, "n": 3, "e": 4})


def test_folds_in_one_another_have_inner_walks_one_after_the_other():
    """The second one is of rows that the first one has weighed."""
    weight = s.largest("k", s.mul(s.X, s.W))
    value = s.largest("n", s.total("k", s.mul(s.sub(s.X, weight), s.W)))
    stores = (Store("out", ("m",), None, value),)
    (passes,) = groupings(stores, ("k", "n"))
    walk = fuse(stores, nested.ROWS, (Turn("m"),), passes).walks[0]
    assert [(w.axis, w.carries[0].fold) for w in walk.inner] == [("k", Fn.MAX), ("k", Fn.ADD)]


def test_what_an_inner_walk_reads_is_final_when_the_outer_one_begins():
    """The sum over k reads the maximum over n, so that its walk lies in a second walk of n."""
    top = s.largest("n", s.mul(Input("y", ("m", "n")), Input("y", ("m", "n"))))
    value = s.total("n", s.total("k", s.mul(s.sub(s.X, top), s.W)))
    stores = (Store("out", ("m",), None, value),)
    found = groupings(stores, ("k", "n"))
    assert [[axis for axis, _ in passes] for passes in found] == [["n", "n"]]
    folds = [fold for _, of_walk in found[0] for fold in of_walk]
    with pytest.raises(NoFusion, match="comes before"):
        fuse(stores, nested.ROWS, (Turn("m"),), (("n", tuple(folds)),))


def test_a_walk_inside_two_walks_is_refused():
    deep = Map(Fn.MUL, (s.mul(s.X, s.W), Input("y", ("r", "k"))))
    value = s.total("r", s.total("n", s.total("k", deep)))
    with pytest.raises(NoFusion, match="walks nest two deep at most"):
        groupings((Store("out", ("m",), None, value),), ("k", "n", "r"))


def test_a_list_is_kept_by_outer_walks_only():
    """The best logits of a row are; the best features of each class are not."""
    logits = s.total("k", s.mul(s.X, s.W))
    best = Best("n", "t", "n", (logits, Index("n")))
    stores = (Store("out", ("m", "t"), None, best),)
    (passes,) = groupings(stores, ("k", "n"))
    assert [axis for axis, _ in passes] == ["n"]
    features = s.total("n", Best("k", "t", "k", (s.mul(s.X, s.W), Index("k"))))
    with pytest.raises(NoFusion, match="a list of the best along 'k' inside a walk of 'n'"):
        groupings((Store("out", ("m", "t"), None, features),), ("k", "n"))


def test_a_split_axis_is_not_walked_inside():
    places = (("m", Grid()), ("k", Split()), ("n", Loop()))
    with pytest.raises(NoFusion, match="'k' is split"):
        nested.block(nested.normaliser(), places)
