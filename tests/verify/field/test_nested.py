"""A walk inside a walk is compared with the spec like any other kernel, part by part."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Walk
from superopt.verify.field.graphs import verify_graph
from superopt.verify.field.trials import trials
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from tests import nested
from tests import samples as s

NORMALISER = nested.normaliser()


@pytest.mark.parametrize("places", [nested.ROWS, nested.PARTS])
def test_a_right_one_is_accepted(places):
    verdict = verify_graph(NORMALISER, nested.graph(NORMALISER, places, ("k", "n")), seed=0)
    assert isinstance(verdict, Sampled), verdict
    assert verdict.log2_bound < -60


def test_both_walks_have_several_tiles_in_some_trial():
    graph = nested.graph(NORMALISER, nested.ROWS)
    for trial in trials(NORMALISER, graph):
        if all(trial.size[a] > trial.configs[0].tile[a] for a in ("k", "n")):
            return
    pytest.fail("no trial begins the inner walk anew and walks on in it")


def changed(graph: KernelGraph, change) -> KernelGraph:
    (block,) = graph.kernels
    return replace(graph, kernels=(replace(block, walks=tuple(map(change, block.walks))),))


def lost_factor(walk: Walk) -> Walk:
    (inner,) = walk.inner
    (carry,) = inner.carries
    return replace(walk, inner=(replace(inner, carries=(replace(carry, term=s.X),)),))


def doubled(walk: Walk) -> Walk:
    (inner,) = walk.inner
    (carry,) = inner.carries
    twice = replace(carry, term=s.add(carry.term, carry.term))
    return replace(walk, inner=(replace(inner, carries=(twice,)),))


def unmoved(walk: Walk) -> Walk:
    return replace(walk, carries=tuple(replace(c, moves=()) for c in walk.carries))


@pytest.mark.parametrize("fault", [lost_factor, doubled, unmoved])
def test_a_wrong_one_is_refuted(fault):
    wrong = changed(nested.graph(NORMALISER, nested.ROWS), fault)
    assert isinstance(verify_graph(NORMALISER, wrong, seed=0), Refuted)
