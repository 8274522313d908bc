"""Printed kernels with roles, read through their launchers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.verify.source.concurrent.machine import CLOCKS
from superopt.verify.source.concurrent.machine import ORDERS
from superopt.verify.source.concurrent.read import planned
from superopt.verify.source.concurrent.read import read_concurrent
from superopt.verify.source.load import read_text
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import spoken
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


def test_a_wrong_value_is_refuted_without_any_engine_of_concurrency():
    reading = read(attention(), replaced("m_old = m\n", "m_old = m + 1.0\n"))
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
