from __future__ import annotations

from dataclasses import replace

from superopt.search.outcome import Built
from superopt.search.structure import structure
from superopt.search.structure import structures
from superopt.ugraph.contraction import vectors
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Input
from superopt.ugraph.node import Reduce
from superopt.ugraph.walk import topo
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
    places = {b.graph.kernels[0].place["n"] for b in keys.values()}
    assert {Split(), Loop()} <= places


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


def test_within_a_structure_each_way_to_place_vectors_comes_first():
    g, h = Input("g", ("k",)), Input("h", ("k",))
    left, right = samples.exp(samples.X), samples.exp(samples.W)

    def program(term):
        store = Store("out", ("m", "n"), None, samples.total("k", term))
        return Program("p", (samples.X, samples.W, g, h), (store,))

    mul = samples.mul
    sizes = {"m": 256, "k": 512, "n": 256}
    together = program(mul(mul(left, mul(g, h)), right))
    apart = program(mul(mul(left, g), mul(right, h)))
    every = found(together, apart, sizes=sizes)
    groups = [g for g in structures(every, sizes) if len(g) > 2]
    assert groups

    def sides(index):
        (kernel, *_) = every[index].graph.kernels
        folds = [n for n in topo(kernel.roots()) if isinstance(n, Reduce)]
        folds += [Reduce(c.fold, w.axis, c.term) for w in kernel.walks for c in w.carries]
        return {vectors(f) for f in folds}

    assert any(sides(group[0]) != sides(group[1]) for group in groups)
