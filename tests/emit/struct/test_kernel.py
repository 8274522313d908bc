"""Printed roles, executed: under any legal schedule they compute what the block graph means."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.emit.struct.kernel import print_threads
from superopt.threads.build import build
from superopt.threads.check import check
from superopt.ugraph.threads import Place
from superopt.ugraph.threads import ThreadGraph
from tests.emit.struct.executed import error
from tests.emit.struct.executed import execute
from tests.emit.struct.executed import inputs
from tests.emit.struct.executed import wanted
from tests.threads.cases import ALL
from tests.threads.cases import block
from tests.threads.cases import config

EVEN = {"h": 2, "m": 256, "n": 256, "d": 64, "e": 64, "k": 256}
RAGGED = {"h": 1, "m": 150, "n": 170, "d": 40, "e": 24, "k": 200}
SMALL = {"h": 1, "m": 3, "n": 5, "d": 2, "e": 1, "k": 7}
SEVERAL = ["matmul", "causal", "gated", "behind", "biased", "backwards", "window", "document"]
MANY = {"h": 3, "m": 260, "n": 170, "d": 40, "e": 24, "k": 200}  # several tiles for two programs
LIMIT = 5e-6


def graph(name, **keywords) -> ThreadGraph:
    return build(block(name), config(block(name)), "bf16", **keywords)


def agrees(made: ThreadGraph, sizes, seed=0) -> None:
    arrays = inputs(made.block, sizes)
    found = execute(made, print_threads(made, "f"), arrays, sizes, seed)
    assert error(found, wanted(made, arrays, sizes)) < LIMIT


@pytest.mark.parametrize("sizes", [EVEN, RAGGED, SMALL], ids=["even", "ragged", "small"])
@pytest.mark.parametrize("name", ALL)
def test_roles_compute_what_the_graph_means(name, sizes):
    agrees(graph(name), sizes)


@pytest.mark.parametrize("name", ["matmul", "causal", "scaled", "biased", "document"])
@pytest.mark.parametrize(
    "keywords",
    [{"early": False, "capacity": 1}, {"consumers": 1}, {"consumers": 3, "capacity": 4}],
    ids=["in turn", "one consumer", "three consumers"],
)
def test_consumers_slots_and_order_change_nothing(name, keywords):
    agrees(graph(name, **keywords), RAGGED)


@pytest.mark.parametrize("name", ["matmul", "causal", "gated"])
@pytest.mark.parametrize("consumers", [1, 2, 3])
def test_taking_turns_changes_nothing(name, consumers):
    made = replace(graph(name, consumers=consumers), ring=True)
    assert check(made) == []
    assert ("turns.index(" in print_threads(made, "f").kernel.text) == (consumers > 1)
    agrees(made, RAGGED)


@pytest.mark.parametrize("sizes", [EVEN, RAGGED, SMALL], ids=["even", "ragged", "small"])
@pytest.mark.parametrize("name", ["causal", "window", "backwards", "both", "plain"])
def test_one_loop_for_tiles_of_both_kinds_changes_nothing(name, sizes):
    for early in (True, False):
        made = replace(graph(name, early=early), joined=True)
        assert ("n_count_2" in print_threads(made, "f").kernel.text) == (name != "plain")
        agrees(made, sizes)


@pytest.mark.parametrize("kept", [1, 2])
@pytest.mark.parametrize("name", SEVERAL)
def test_programs_of_several_tiles_change_nothing(name, kept):
    for flags in ({}, {"ring": True, "joined": True}):
        made = persistent(graph(name, consumers=2, capacity=3), kept, **flags)
        assert check(made) == []
        agrees(made, MANY)
    grouped = replace(made, config=replace(made.config, each=8))
    assert "GROUP" in print_threads(grouped, "f").kernel.text
    agrees(grouped, MANY)


@pytest.mark.parametrize(("consumers", "kept"), [(2, 1), (2, 2), (3, 2)])
@pytest.mark.parametrize("name", SEVERAL)
def test_taking_tiles_in_turn_changes_nothing(name, consumers, kept):
    made = graph(name, consumers=consumers, capacity=3)
    for flags in ({}, {"joined": True}):
        agrees(persistent(made, kept, pingpong=True, **flags), MANY)
    in_turn = replace(made, bodies=graph(name, early=False).bodies)
    agrees(persistent(in_turn, kept, pingpong=True), MANY, seed=1)


def persistent(made: ThreadGraph, kept: int, **flags: bool) -> ThreadGraph:
    """``made``, whose programs take several tiles."""
    pipes = tuple(p if p.walk else replace(p, capacity=kept) for p in made.pipes)
    return replace(made, pipes=pipes, persistent=True, **flags)


def rescheduled(made: ThreadGraph, draw) -> ThreadGraph:
    """``made`` with another schedule: events trade places, or go to another stage."""
    (body,) = made.bodies
    schedule = body.schedule
    names = [*((n, False) for n, _ in schedule.places), *((n, True) for n, _ in schedule.waits)]
    when = {(n, False): p for n, p in schedule.places} | {(n, True): p for n, p in schedule.waits}
    order = sorted(names, key=lambda e: when[e].order)
    for _ in range(draw(st.integers(0, 3))):
        order.insert(
            draw(st.integers(0, len(order) - 1)), order.pop(draw(st.integers(0, len(order) - 1)))
        )
    stages = {e: when[e].stage for e in names}
    for event in draw(st.lists(st.sampled_from(names), max_size=2)):
        stages[event] = draw(st.integers(0, 2))
    new = {e: Place(stages[e], order.index(e)) for e in names}
    places = tuple((n, new[n, False]) for n, _ in schedule.places)
    waits = tuple((n, new[n, True]) for n, _ in schedule.waits)
    ahead = [Place(draw(st.integers(0, 1)), p.order) for _, p in schedule.loads]
    loads = tuple((n, p) for (n, _), p in zip(schedule.loads, ahead, strict=True))
    changed = replace(schedule, places=places, waits=waits, loads=loads)
    return replace(made, bodies=(replace(body, schedule=changed),))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_legal_schedule_computes_the_same(data):
    made = graph(data.draw(st.sampled_from(["matmul", "plain", "gated", "scaled", "causal"])))
    flags = {"ring": data.draw(st.booleans()), "joined": data.draw(st.booleans())}
    made = rescheduled(replace(made, **flags), data.draw)
    if data.draw(st.booleans()):
        kept, alone = data.draw(st.integers(1, 2)), data.draw(st.booleans())
        made = persistent(made, kept, **({"ring": False, "pingpong": True} if alone else {}))
    if not check(made):
        agrees(made, RAGGED, data.draw(st.integers(0, 9)))


def test_text_is_the_same_whenever_it_is_printed():
    assert print_threads(graph("causal"), "f") == print_threads(graph("causal"), "f")


# Faults that a reading of the text must see; here they show that the execution can fail.


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("plain", "num_outstanding=1", "num_outstanding=2"),
        ("plain", "n_number % V_SLOTS", "step_2 % V_SLOTS"),
        ("causal", "[:, None] <= ", "[:, None] < "),
        ("plain", "max0_old = max0\n", "max0_old = max0 + 1.0\n"),
    ],
)
def test_a_wrong_text_shows(name, old, new):
    made = graph(name)
    printed = print_threads(made, "f")
    text = printed.kernel.text
    assert old in text or name == "causal"
    text = text.replace(old, new).replace("n_at_2[None, :] <=", "n_at_2[None, :] <")
    wrong = replace(printed, kernel=replace(printed.kernel, text=text))
    arrays = inputs(made.block, EVEN)
    try:
        found = execute(made, wrong, arrays, EVEN)
    except (AssertionError, TypeError, ValueError):
        return
    assert not error(found, wanted(made, arrays, EVEN)) < LIMIT
