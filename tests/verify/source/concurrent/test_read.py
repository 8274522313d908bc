"""Printed kernels with roles, read through their launchers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.masks import cleared
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from superopt.verify.source.concurrent.machine import CLOCKS
from superopt.verify.source.concurrent.machine import ORDERS
from superopt.verify.source.concurrent.read import counted
from superopt.verify.source.concurrent.read import planned
from superopt.verify.source.concurrent.read import read_concurrent
from superopt.verify.source.load import read_text
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import spoken
from tests import samples
from tests.verify.source.concurrent.subjects import attention
from tests.verify.source.concurrent.subjects import normed


def read(case, change=lambda text: text, **how):
    return read_concurrent(change(case.text), case.program, case.graph, (case.config,), **how)


@pytest.mark.parametrize(
    "case",
    [attention(causal=True), normed()],
    ids=["causal", "normed"],
)
def test_printed_roles_are_accepted(case):
    reading = read(case)
    assert isinstance(reading.verdict, Sampled), spoken(reading.verdict)
    assert reading.verdict.log2_bound < -60
    assert not any(e.wrong for e in reading.explored.values())


def test_warps_that_read_a_slot_themselves_give_it_back_behind_a_fence():
    fence = "fence_async_shared()\n"
    case = normed()
    consumer = case.text[case.text.index("_consumer(") :]
    loaded = consumer.index(".load(LAYOUT")
    assert fence in consumer[loaded : consumer.index("mbarrier.arrive(x_empty", loaded)]
    reading = read(case, lambda text: text.replace(fence, "\n"), blocks=())
    assert isinstance(reading.verdict, Refuted)
    assert reading.verdict.what.startswith(CLOCKS)
    only = case.text[: case.text.index("_consumer(")] + consumer.replace(fence, "\n", 1)
    reading = read(case, lambda text: only, blocks=())
    assert isinstance(reading.verdict, Refuted)
    assert "which role 0" in reading.verdict.what
    assert "read, without a fence" in reading.verdict.what


def test_the_verdict_names_the_instances_that_it_holds_for():
    reading = read(attention())
    assert isinstance(reading.verdict, Sampled)
    facts = reading.verdict.facts
    assert any(f.startswith("2 consumers, 2 slots: 3 tiles in fields, 1 tiles in") for f in facts)
    assert any(f.startswith("3 roles, 9 barriers, 44 waits: every order (") for f in facts)


def replaced(old, new):
    def change(text):
        assert old in text
        return text.replace(old, new)

    return change


@pytest.mark.parametrize(
    ("old", "new", "engine", "says"),
    [
        ("    fence_async_shared()\n", "", CLOCKS, "without a fence"),
        ("mbarrier.init(k_empty.index(slot), count=CONSUMERS)",
         "mbarrier.init(k_empty.index(slot), count=1)", ORDERS, "phase"),
        ("mbarrier.arrive(v_empty.index(v_slot_2))", "pass", ORDERS, "deadlock"),
        ("product_1 = warpgroup_mma_wait(num_outstanding=1",
         "product_1 = warpgroup_mma_wait(num_outstanding=2", CLOCKS, "before it waits"),
    ],
    ids=["fence", "count", "release", "wait"],
)  # fmt: skip
def test_a_fault_in_a_printed_text_is_seen_and_its_engine_named(old, new, engine, says):
    reading = read(attention(), replaced(old, new))
    assert isinstance(reading.verdict, Refuted)
    assert says in reading.engines[engine]
    assert reading.engines[engine] in reading.verdict.what


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("m_old = m\n", "m_old = m + 1.0\n"),
        ("n_at_2 = n_first_2 + n_lane\n", "n_at_2 = n_first_2 + n_lane + n_lane\n"),
        ("n_in = (n_at < n_size) |", "n_in = (n_at < n_size - 1) |"),
        ("EVEN_N=_even(n_size, n_tile)", "EVEN_N=_even(e_size, n_tile)"),
    ],
    ids=["value", "lane of the last tile", "end of the first tile", "even of another axis"],
)
def test_a_wrong_value_is_refuted_without_any_engine_of_concurrency(old, new):
    reading = read(attention(), replaced(old, new))
    assert isinstance(reading.verdict, Refuted)
    assert not reading.engines


def test_a_file_that_falls_back_to_its_plain_functions_is_not_read():
    case = attention()
    reading = read(case, replaced("launch.consumers == 2", "launch.consumers == 5"))
    assert isinstance(reading.verdict, Unknown)
    assert "none was made" in reading.verdict.why


def test_longer_histories_than_can_be_searched_are_decided_along_one_order():
    reading = read(attention(consumers=3, slots=3), blocks=(), longer=(12,))
    assert isinstance(reading.verdict, Sampled)
    assert any("by induction along one" in f for f in reading.verdict.facts)


def test_fewer_slots_than_the_launcher_asks_for_are_not_read_as_roles():
    case = normed(slots=3)
    one = replace(case.config, stages=1)
    reading = read_concurrent(case.text, case.program, case.graph, (one,))
    assert isinstance(reading.verdict, Unknown)


def test_what_the_plans_of_a_file_ask_for_is_read_from_it():
    case = attention(consumers=3, slots=4)
    ((configs, _),) = planned(read_text(case.text), 0)
    assert [(c.consumers, c.stages) for c in configs] == [(3, 4)]
    assert planned(read_text(case.text), 1) == []


def test_roles_that_store_into_a_workspace_of_a_second_launch_are_read():
    """Workspaces have no gaps: their rows are whole tiles, or no descriptor could be made."""
    graph = samples.online_attention(split=False)
    (block,) = graph.kernels
    whole = Store("rest", ("b", "h", "m", "e"), "fp32", block.stores[0].value)
    again = Map(Fn.ADD, (whole.as_input(), whole.as_input()))
    second = BlockGraph(
        (("b", Grid(tiled=False)), ("h", Grid(tiled=False)), ("m", Grid()), ("e", Whole())),
        (),
        (Store("out", ("b", "h", "m", "e"), None, again),),
        (Turn("b"), Turn("h"), Turn("m")),
    )
    kernels = (replace(block, stores=(whole,)), second)
    made = replace(graph, kernels=tuple(map(cleared, kernels)))
    program = samples.attention()
    (out,) = program.outputs
    doubled = replace(out, value=Map(Fn.ADD, (out.value, out.value)))
    program = replace(program, outputs=(doubled,))
    tiles = (("m", 64), ("d", 64), ("n", 64), ("e", 64))
    configs = (Config(tiles, stages=2, consumers=2), Config((("m", 16), ("e", 64))))
    sizes = {"b": 1, "h": 1, "m": 256, "n": 256, "d": 64, "e": 64}
    row = Row("one", 0, configs, tuple(sizes.items()))
    text = emit(program, [made], [row], Header(""))
    reading = read_concurrent(text, program, made, configs)
    assert isinstance(reading.verdict, Sampled), reading.verdict


def test_kinds_of_plans_are_read_apart():
    case = attention()
    configs = (case.config, replace(case.config, ring=True))
    rows = [Row("one", 0, (c,), (("m", 1),)) for c in configs]
    text = read_text(emit(case.program, [case.graph], rows, Header("")))
    assert [kinds for _, kinds in planned(text, 0)] == [("",), ("ring",)]
    ((plain, _), (turns, kinds)) = planned(text, 0)
    assert counted(turns, kinds) == f"{counted(plain)}, ring"
    reading = read_concurrent(
        text, case.program, case.graph, turns, blocks=(1,), longer=(), kinds=kinds
    )
    assert isinstance(reading.verdict, Sampled)
    (history,) = reading.explored
    assert any(name.startswith("turns") for name, _ in history.barriers)
