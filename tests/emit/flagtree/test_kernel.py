"""Roles in the words of TLE, executed: they compute what the block graph means."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.emit.flagtree.kernel import print_threads
from superopt.emit.flagtree.words import ANY
from superopt.emit.struct.kernel import print_threads as print_gluon
from superopt.errors import NotEmittable
from superopt.threads.build import build
from superopt.threads.check import check
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.parse import parse_as
from superopt.ugraph.threads import Place
from superopt.ugraph.threads import ThreadGraph
from tests.emit.flagtree.simulated import TleMachine
from tests.emit.struct.executed import error
from tests.emit.struct.executed import execute
from tests.emit.struct.executed import inputs
from tests.emit.struct.executed import wanted
from tests.emit.struct.test_kernel import LIMIT
from tests.emit.struct.test_kernel import MANY
from tests.emit.struct.test_kernel import RAGGED
from tests.emit.struct.test_kernel import SMALL
from tests.emit.struct.test_kernel import graph
from tests.emit.struct.test_kernel import persistent
from tests.emit.struct.test_kernel import rescheduled
from tests.threads.cases import ALL
from tests.threads.cases import config


def agrees(made: ThreadGraph, sizes) -> None:
    arrays = inputs(made.block, sizes)
    found = execute(made, print_threads(made, "f"), arrays, sizes, machine=TleMachine)
    assert error(found, wanted(made, arrays, sizes)) < LIMIT


@pytest.mark.parametrize("sizes", [RAGGED, SMALL], ids=["ragged", "small"])
@pytest.mark.parametrize("name", ALL)
def test_roles_compute_what_the_graph_means(name, sizes):
    agrees(graph(name), sizes)


@pytest.mark.parametrize("name", ["matmul", "causal", "biased"])
@pytest.mark.parametrize("keywords", [{"consumers": 1}, {"consumers": 3, "capacity": 4}])
def test_consumers_and_slots_change_nothing(name, keywords):
    agrees(graph(name, **keywords), RAGGED)


@pytest.mark.parametrize("name", ["causal", "window"])
def test_one_loop_for_clear_and_masked_tiles(name):
    agrees(replace(graph(name), joined=True), RAGGED)


@pytest.mark.parametrize("kept", [1, 2])
@pytest.mark.parametrize("name", ["matmul", "causal", "behind"])
def test_programs_of_several_tiles_change_nothing(name, kept):
    made = persistent(graph(name, capacity=3), kept)
    assert ".acquire(wave)" in print_threads(made, "f").kernel.text or name != "causal"
    agrees(made, MANY)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_legal_schedule_computes_the_same_or_is_refused(data):
    made = graph(data.draw(st.sampled_from(["matmul", "plain", "gated", "scaled", "causal"])))
    made = rescheduled(replace(made, joined=data.draw(st.booleans())), data.draw)
    if data.draw(st.booleans()):
        made = persistent(made, data.draw(st.integers(1, 2)))
    if check(made):
        return
    refused = ""
    try:
        agrees(made, RAGGED)
    except NotEmittable as refusal:
        refused = str(refusal)
    assert not refused or "is read in several steps of the loop" in refused


@pytest.mark.parametrize("name", ALL)
def test_the_text_is_in_the_words_of_tle_alone(name):
    printed = print_threads(graph(name), "f").kernel
    for word in ("gl.", "mbarrier", "layout", ANY, "tma."):
        assert word not in printed.text
    names = {n.id for n in ast.walk(ast.parse(printed.text)) if isinstance(n, ast.Name)}
    assert {"tl", "tle", "triton"} <= names


@pytest.mark.parametrize("name", ["matmul", "causal", "gated"])
def test_it_is_the_thread_graph_of_the_other_dialect(name):
    made = graph(name)
    ours, theirs = print_threads(made, "f"), print_gluon(made, "f")
    assert (ours.slots, ours.rows, ours.moving) == (theirs.slots, theirs.rows, theirs.moving)
    text = ours.kernel.text
    registers = [made.registers[0]] * (made.consumers - 1) + [made.registers[1]]
    assert f"{registers}," in text
    assert text.count("tle.gpu.wgmma(") == theirs.kernel.text.count("warpgroup_mma(")


def test_tiles_that_consumers_take_in_turn_are_refused():
    made = persistent(graph("causal", capacity=3), 1)
    with pytest.raises(NotEmittable, match="no readers among each other"):
        print_threads(replace(made, pingpong=True), "f")


def test_turns_of_consumers_are_refused():
    with pytest.raises(NotEmittable, match="take turns have no word"):
        print_threads(replace(graph("causal"), ring=True), "f")


def made_of(text: str) -> ThreadGraph:
    parsed = parse_as(BlockGraph, text)
    return build(parsed, config(parsed), "bf16")


def test_a_tensor_that_can_be_no_field_is_refused():
    with pytest.raises(NotEmittable, match="'readers' can be no field"):
        print_threads(made_of(ALL["matmul"].replace("y[k n]", "readers[k n]")), "f")


def test_a_tile_that_is_read_in_two_steps_is_refused():
    squares = "    carry sum1 over m by add of mul(x[m k], x[m k])\n  store out"
    made = made_of(ALL["matmul"].replace("  store out", squares))
    agrees(made, RAGGED)
    (body,) = made.bodies
    later = {n: Place(p.stage + (n != "sum0"), p.order) for n, p in body.schedule.places}
    schedule = replace(body.schedule, places=tuple(later.items()))
    late = replace(made, bodies=(replace(body, schedule=schedule),))
    assert not check(late)
    with pytest.raises(NotEmittable, match="'x' is read in several steps of the loop"):
        print_threads(late, "f")
