"""Configs with roles: where they are offered, what they cost, and which there are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from superopt.device import target
from superopt.search.configs import configs
from superopt.search.configs import ladders
from superopt.search.configs import options
from superopt.search.model import model
from superopt.search.roles import why_none
from superopt.search.schedules import further_schedules
from superopt.threads.build import of_config
from superopt.threads.schedule.costs import rates_of
from superopt.threads.schedule.problem import problem_of
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.masks import cleared
from superopt.ugraph.parse import parse_as
from tests import samples
from tests.emit.struct.test_parts import GRAPH
from tests.search.forms import H200
from tests.search.forms import PREFILL

WIDE = {**PREFILL, "d": 128, "e": 128}


def roles(graph, sizes, dtype="bf16", device=H200, keep=4000):
    (block,) = graph.kernels
    found, _ = options(cleared(block), sizes, dtype, device, keep=keep)
    return [o for o in found if o.configs[0].consumers]


def test_roles_come_first_where_products_bind():
    assert configs(samples.online_attention(), WIDE, "bf16", H200, 1)[0][0].consumers
    (ladder,) = ladders(samples.online_attention(), WIDE, "bf16", H200)
    kinds = [bool(c.consumers) for (c,) in ladder]
    assert kinds == sorted(kinds, reverse=True)
    assert not kinds[-1]  # where the compiler refuses the roles


@pytest.mark.parametrize(
    ("graph", "sizes", "dtype", "device"),
    [
        (samples.online_attention(), WIDE, "fp32", "h200"),
        (samples.online_attention(), WIDE, "bf16", "a100"),
        (samples.online_attention(), WIDE, "bf16", "b200"),
        (samples.online_attention(), {**WIDE, "m": 16}, "bf16", "h200"),
        (samples.two_pass_softmax(), {"m": 8192, "n": 8192}, "bf16", "h200"),
        # The matrix is read once for few rows: memory binds.
        (samples.rms_linear_one_walk(), {"m": 64, "k": 8192, "n": 8192}, "bf16", "h200"),
    ],
)
def test_elsewhere_there_are_none(graph, sizes, dtype, device):
    assert not roles(graph, sizes, dtype, target(device))


def test_all_have_thread_graphs_and_the_price_of_the_model():
    graph = samples.online_attention(causal=True)
    graph = replace(graph, kernels=tuple(cleared(k) for k in graph.kernels))
    found = roles(graph, WIDE)
    assert {o.configs[0].consumers for o in found} >= {2, 3}
    plain = {o.configs[0].kind for o in found if not o.configs[0].persistent}
    assert plain == {"", "ring", "joined", "ring_joined"}
    assert {o.configs[0].persistent for o in found} == {0, 1, 2}
    assert len(found) <= 80
    for option in found:
        assert of_config(graph.kernels[0], option.configs[0], "bf16").consumers
        said = model(graph, option.configs, WIDE, "bf16", H200).us
        assert said == pytest.approx(option.us, rel=1e-9)


LONG = {**WIDE, "b": 1, "m": 16384, "n": 16384}
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


@pytest.fixture(scope="module")
def record():
    found = json.loads((RESULTS / "roles_2026-11-30_h200.json").read_text())
    return {run["name"]: run for run in found["runs"]}


@pytest.mark.parametrize(
    ("name", "case", "tile", "config"),
    [
        ("attention", "prefill", (64, 128), {"consumers": 2, "stages": 2}),
        ("attention", "prefill", (64, 128), {"consumers": 2, "stages": 2, "persistent": 2}),
        ("attention", "prefill", (64, 64), {"consumers": 3, "stages": 3, "persistent": 1}),
        ("attention", "narrow", (64, 128), {"consumers": 3, "stages": 4, "persistent": 2}),
        ("causal", "prefill", (64, 128), {"consumers": 2, "stages": 2, "persistent": 2}),
        ("causal", "long", (64, 128), {"consumers": 2, "stages": 2}),
        # It is settled beforehand which tiles a program has: some have too many with long walks.
        ("causal", "long", (64, 64), {"consumers": 3, "stages": 3, "persistent": 1}),
    ],
)
def test_prices_are_near_what_was_measured(record, name, case, tile, config):
    run = record[name]
    (sizes,) = (c["sizes"] for c in run["cases"] if c["name"] == case)
    tiles = {"m": tile[0], "d": sizes["d"], "n": tile[1], "e": sizes["e"]}
    wanted = {"tiles": tiles, "warps": 4, **config}
    (one,) = (m for m in run["measured"] if m["case"] == case and m["configs"] == [wanted])
    graph = parse_as(KernelGraph, run["graphs"][one["digest"]])
    chosen = Config(tuple(tiles.items()), **config)
    assert model(graph, (chosen,), sizes, "bf16", H200).us == pytest.approx(one["us"], rel=0.1)


def test_wide_tiles_come_before_a_third_consumer_with_narrow_ones():
    """At 16,384 keys the model had it the other way round, and wide tiles were never tried."""
    found = roles(samples.online_attention(causal=True), LONG)
    first = [(o.configs[0].consumers, o.configs[0].tile["n"]) for o in found]
    assert first[0] == (2, 128)
    assert (3, 64) in first


def test_more_consumers_overlap_more_and_short_rings_wait():
    def us(consumers, slots=4):
        tiles = (("m", 64), ("d", 64), ("n", 64), ("e", 64))
        chosen = Config(tiles, 1, 4, slots, consumers=consumers)
        sizes = {**WIDE, "d": 64, "e": 64}
        return model(samples.online_attention(), (chosen,), sizes, "bf16", H200).us

    assert us(1) > us(2) > us(3)
    assert us(2, 2) > us(2, 4)


def test_programs_of_several_tiles_are_offered_where_there_are_more_tiles_than_multiprocessors():
    found = roles(samples.online_attention(), WIDE)
    best = found[0].configs[0]
    assert best.persistent == 2
    before = next(o for o in found if o.configs[0] == replace(best, persistent=0))
    # Between two tiles a program goes on: of its ends the model has one in place of 16.
    assert before.us - found[0].us > 10
    few = {**WIDE, "b": 1, "h": 2}
    assert {o.configs[0].persistent for o in roles(samples.online_attention(), few)} == {0}


def test_tiles_in_turn_are_offered_with_the_tiles_of_one_consumer():
    sizes = dict.fromkeys("mkn", 4096)
    found = roles(GRAPH, sizes)
    turns = [o.configs[0] for o in found if o.configs[0].pingpong]
    assert {(c.tile["m"], c.tile["n"]) for c in turns} == {(128, 128), (64, 256)}
    assert {c.stages for c in turns if c.tile["m"] == 128} == {5}
    assert all(c.consumers == 2 and c.persistent and not c.ring for c in turns)
    assert {c.group for c in turns} == {1, 8}
    for option in found:
        said = model(GRAPH, option.configs, sizes, "bf16", H200).us
        assert said == pytest.approx(option.us, rel=1e-9)
    # Not where each multiprocessor has only one or two tiles.
    few = roles(GRAPH, {**sizes, "m": 256})
    assert few
    assert not any(o.configs[0].pingpong for o in few)
    # Nor where a product waits for what its consumer computes.
    assert not any(o.configs[0].pingpong for o in roles(samples.online_attention(), WIDE))


def test_further_schedules_of_tiles_in_turn_are_those_of_one_consumer():
    (block,) = samples.online_attention().kernels
    chosen = replace(roles(samples.online_attention(), WIDE)[0].configs[0], pingpong=True)
    for one in further_schedules(block, chosen, "bf16", H200, 1):
        assert one.pingpong
        of_config(block, one, "bf16")
    graph = of_config(block, chosen, "bf16")
    assert problem_of(graph, graph.bodies[0], "bf16", rates_of(H200)).consumers == 1


def test_further_schedules_are_legal_and_differ():
    graph = samples.online_attention()
    (block,) = graph.kernels
    chosen = roles(graph, WIDE)[0].configs[0]
    found = further_schedules(block, chosen, "bf16", H200, 2)
    assert len({c.schedule for c in found}) == len(found) >= 2
    for one in found:
        assert one.kind.split("_")[-1].startswith("s")
        of_config(block, one, "bf16")  # it refuses what deadlocks


def test_refusals_name_the_term():
    (block,) = samples.online_attention().kernels
    assert why_none(block, WIDE, "bf16", H200) == ""
    assert "fp32" in why_none(block, WIDE, "fp32", H200)
    assert why_none(block, WIDE, "bf16", target("a100")) == "sm_80 has no asynchronous products"
    (walks,) = samples.two_pass_softmax().kernels
    assert why_none(walks, WIDE, "bf16", H200).startswith("2 walks")


@pytest.mark.parametrize(("axis", "tensor"), [("d", "q"), ("e", "v")])
def test_there_are_none_where_the_launcher_would_not_take_them(axis, tensor):
    """Rows of 129 numbers: the search ended with roles that no contiguous tensor could run."""
    odd = {**WIDE, axis: 129}
    assert not roles(samples.online_attention(), odd)
    (block,) = samples.online_attention().kernels
    said = f"rows of {tensor!r} begin at no multiples of 16 bytes"
    assert why_none(block, odd, "bf16", H200) == said
    assert why_none(block, {**odd, axis: 136}, "bf16", H200) == ""
