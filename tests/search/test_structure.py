from __future__ import annotations

from dataclasses import replace

from superopt.search.outcome import Built
from superopt.search.structure import structure
from superopt.search.structure import structures
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from tests import samples
from tests.search.forms import PREFILL
from tests.search.forms import decode
from tests.search.forms import run

SIZES = {"b": 1, "h": 32, "n": 131072, "d": 128, "e": 128}


def found(*programs, sizes):
    every = [o for o in run(*programs, sizes=sizes, budget=40) if isinstance(o, Built)]
    return sorted(every, key=lambda b: b.estimate.us)


def test_every_candidate_is_in_one_group_and_groups_come_best_first():
    every = found(samples.attention(), samples.attention_delayed(), sizes=PREFILL)
    groups = structures(every, PREFILL)
    assert sorted(i for g in groups for i in g) == list(range(len(every)))
    assert [g[0] for g in groups] == sorted(g[0] for g in groups)
    assert 1 < len(groups) < len(every)


def test_walks_and_splits_tell_structures_apart():
    every = found(decode(), sizes=SIZES)
    keys = {structure(b, SIZES): b for b in every}
    places = [str(b.graph.kernels[0].place["n"]) for b in keys.values()]
    assert {"Split()", "Loop()"} <= set(places)


def test_a_grid_axis_of_one_tile_counts_as_whole():
    built = found(samples.attention_delayed(), sizes=PREFILL)[0]
    (block,) = built.graph.kernels
    assert block.place["e"] in (Whole(), Grid())
    other = Grid() if block.place["e"] == Whole() else Whole()
    turns = (Turn("e"),) if other == Grid() else ()
    rest = tuple(t for t in block.order if t.axis != "e")
    places = tuple((a, other if a == "e" else p) for a, p in block.places)
    twin = replace(block, places=places, order=(*rest, *turns))
    same = replace(built, graph=replace(built.graph, kernels=(twin,)))
    assert structure(same, PREFILL) == structure(built, PREFILL)
    assert structure(same, {**PREFILL, "e": 129}) != structure(built, {**PREFILL, "e": 129})
