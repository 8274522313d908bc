"""Which sizes, Configs and calls the float checks choose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from superopt.ugraph.evaluate import evaluate_kernels
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from superopt.verify.run.calls import Plan
from superopt.verify.run.hostile import distances
from superopt.verify.run.inputs import ordinary
from superopt.verify.run.sizes import TILE
from superopt.verify.run.sizes import aligned_sizes
from superopt.verify.run.sizes import beyond
from superopt.verify.run.sizes import edge_sizes
from superopt.verify.run.sizes import lean_sizes
from superopt.verify.run.sizes import sizes_for
from superopt.verify.run.sizes import small_configs
from superopt.verify.run.sizes import small_sizes
from superopt.verify.run.sizes import walked
from tests import samples

GRAPHS = [
    (samples.attention(), samples.online_attention()),
    (samples.attention(causal=True), samples.online_attention(causal=True)),
    (samples.attention(), samples.online_attention(split=True)),
    (samples.row_softmax(), samples.two_pass_softmax()),
    (samples.rms_linear(), samples.rms_linear_one_walk()),
]


@pytest.mark.parametrize(("program", "graph"), GRAPHS)
def test_small_sizes_are_different_and_have_remainders(program, graph):
    sizes = small_sizes(graph)
    assert set(sizes) == {a for p in program.params for a in p.order}
    assert len(set(sizes.values())) == len(sizes)
    for axis in walked(graph):
        assert sizes[axis] > 2 * TILE
        assert sizes[axis] % TILE
    lean = lean_sizes(graph)
    assert all(lean[a] == sizes[a] for a, place in graph.kernels[0].places if place != Grid(False))


@pytest.mark.parametrize(("program", "graph"), GRAPHS)
def test_small_configs_run_the_graph(program, graph):
    domain = FloatDomain(np.float64)
    for sizes in (lean_sizes(graph), *edge_sizes(graph)):
        arrays = ordinary(program, sizes, "fp32", 0)
        held = {name: domain.array(value) for name, value in arrays.items()}
        got = evaluate_kernels(graph, domain, held, sizes, small_configs(graph, sizes))["out"]
        want = evaluate_program(program, domain, held, sizes)["out"]
        if not np.isnan(got).any():  # a mean over nothing
            assert np.allclose(got, want, atol=1e-12)


def test_edge_sizes_hold_every_class():
    found = [sizes["n"] for sizes in edge_sizes(samples.online_attention(split=True))]
    assert {0, 1, 15, 16, 17} <= set(found)


def test_tuned_configs_get_two_tiles_with_a_remainder():
    graph = samples.online_attention()
    config = Config((("m", 128), ("d", 64), ("n", 64), ("e", 64)))
    sizes = sizes_for(graph, (config,))
    assert sizes["m"] == 193
    assert sizes["n"] == 97
    assert 32 < sizes["d"] <= 64
    plan = Plan(samples.attention(), [graph], 0, ("fp32", "fp16"))
    last = list(plan.calls([(0, (config,))]))[-1]
    assert last.trial.configs == (config,)
    assert last.dtype == "fp16"
    assert plan.skipped == []


def test_what_is_too_large_is_named():
    graph = samples.two_pass_softmax()
    plan = Plan(samples.row_softmax(), [graph], 0, ("fp32",))
    calls = list(plan.calls([(0, (Config((("m", 4096), ("n", 4096))),))]))
    assert "too large" in plan.skipped[0]
    assert all(dict(c.trial.sizes)["m"] < 100 for c in calls)


def test_masks_with_a_distance_are_passed():
    s = samples.scores()
    near = Map(Fn.LT, (samples.sub(Index("m"), Index("n")), samples.num(200)))
    seen = samples.where(near, s, samples.NEG_INF)
    out = samples.total("n", samples.mul(samples.softmax(seen, "n"), samples.V))
    program = samples.attention()
    program = replace(program, outputs=(replace(program.outputs[0], value=out),))
    assert distances(program) == {"m": 200, "n": 200}
    assert distances(samples.attention(causal=True)) == {}
    far = beyond(samples.online_attention(), distances(program))
    assert far["m"] > 200
    assert far["n"] > 200
    assert far["m"] != far["n"]
    plan = Plan(program, [samples.online_attention()], 0, ("fp32",))
    assert any(dict(c.trial.sizes) == far for c in plan.calls())


def test_calls_cover_families_dtypes_layouts_and_one_repetition():
    calls = list(Plan(*GRAPHS[3][:1], [GRAPHS[3][1]], 0, ("fp32", "fp16")).calls())
    labels = {(c.dtype, c.trial.label) for c in calls}
    for dtype in ("fp32", "fp16"):
        assert (dtype, "scores below") in labels
        assert (dtype, "nan in x") in labels
    assert ("fp16", "ordinary, strided") in labels
    assert ("fp16", "ordinary, no out=") in labels
    assert sum(c.trial.repeats for c in calls) == 1


def test_aligned_sizes_are_different_rows_of_multiples_of_sixteen_bytes():
    graph = samples.online_attention()
    for sizes in (small_sizes(graph), *edge_sizes(graph)):
        found = aligned_sizes(graph, sizes)
        assert {a: n for a, n in found.items() if a not in "de"} == {
            a: n for a, n in sizes.items() if a not in "de"
        }
        assert found["d"] % 8 == found["e"] % 8 == 0
        assert found["d"] != found["e"]
        assert min(found["d"] - sizes["d"], found["e"] - sizes["e"]) >= 0
    assert aligned_sizes(graph, small_sizes(graph))["d"] == 24  # not the whole tile of 32
    assert aligned_sizes(samples.two_pass_softmax(), {"m": 5, "n": 7}) == {"m": 5, "n": 7}


def test_functions_with_descriptors_must_run_where_tensors_allow_it():
    graph = samples.online_attention()
    plan = Plan(samples.attention(), [graph], 0, ("fp32", "fp16"), described={0})
    config = Config((("m", 64), ("d", 32), ("n", 32), ("e", 32)), descriptors=True)
    calls = list(plan.calls([(0, (config,))]))
    asked = [c for c in calls if any(x.descriptors for x in c.trial.configs)]
    assert all("descriptors" in c.trial.label for c in asked)
    assert {c.dtype for c in asked} == {"fp32", "fp16"}
    strided = [c for c in asked if not c.trial.descriptors]
    assert [c.trial.label for c in strided] == ["ordinary, strided, descriptors"]
    for call in asked:
        if call.trial.descriptors:
            sizes = dict(call.trial.sizes)
            assert sizes["d"] % 8 == sizes["e"] % 8 == 0
    assert asked[-1].trial.configs == (config,)
    without = list(Plan(samples.attention(), [graph], 0, ("fp32", "fp16")).calls())
    assert not any(x.descriptors for c in without for x in c.trial.configs)
