"""Printed kernels with roles in the words of TLE, read in every order, and faults in them."""

from __future__ import annotations

from functools import cache

import pytest

from superopt.emit.dialect import Dialect
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.verify.source.concurrent.machine import CLOCKS
from superopt.verify.source.concurrent.machine import ORDERS
from superopt.verify.source.concurrent.read import read_concurrent
from superopt.verify.source.field import read_field
from superopt.verify.source.load import read_text
from superopt.verify.source.load import roles_of
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import spoken
from tests.verify.source.concurrent.subjects import SIZES
from tests.verify.source.concurrent.subjects import Printed
from tests.verify.source.concurrent.subjects import attention
from tests.verify.source.concurrent.subjects import normed


@cache
def text_of(case: Printed) -> str:
    sizes = tuple((a, SIZES[a]) for a, _ in case.graph.kernels[0].places)
    row = Row("case", 0, (case.config,), sizes, target="sm_90")
    header = Header("the spec")
    return emit(case.program, [case.graph], [row], header, dialect=Dialect.FLAGTREE)


def read(case: Printed, text: str):
    return read_concurrent(text, case.program, case.graph, (case.config,))


@pytest.mark.parametrize(
    "case",
    [attention(), attention(causal=True), normed(), attention(consumers=1, slots=3)],
    ids=["attention", "causal", "normed", "one consumer"],
)
def test_printed_roles_are_accepted(case):
    reading = read(case, text_of(case))
    assert isinstance(reading.verdict, Sampled), spoken(reading.verdict)
    assert reading.verdict.log2_bound < -60
    assert reading.explored
    assert not any(e.wrong for e in reading.explored.values())


# What is replaced by what, which engine sees it, and a part of what is said.
FAULTS = {
    "no wait for a tile": ("v_reader.wait(n_number)", "k_ready_2", "", "no field 'v'"),
    "a wait for the tile before": (
        "k_ready_2 = k_reader.wait(step_2)",
        "k_ready_2 = k_reader.wait(step_2 - 1)",
        CLOCKS,
        "may still",
    ),
    "no release": ("            v_reader.release(n_number)\n", "", ORDERS, "deadlock"),
    "released too early": (
        "            o = tle.gpu.wgmma_wait(0, o_flight)\n            v_reader.release(n_number)\n",
        "            v_reader.release(n_number)\n            o = tle.gpu.wgmma_wait(0, o_flight)\n",
        CLOCKS,
        "may still read",
    ),
    "another number is released": (
        "k_reader.release(step_2)",
        "k_reader.release(step_2 + 1)",
        ORDERS,
        "deadlock",
    ),
    "one reader too many": (
        'readers=("consumer_0", "consumer_1"), k=',
        'readers=("consumer_0", "consumer_1", "consumer_2"), k=',
        ORDERS,
        "deadlock",
    ),
    "no commit": ("        k_writer.commit(step)\n", "", ORDERS, "deadlock"),
    "another tile is copied": ("n_first = step * TILE_N", "n_first = 0", "", "and should be"),
    "a product is used in flight": (
        "wgmma_wait(1, product_1",
        "wgmma_wait(2, product_1",
        CLOCKS,
        "before it waits",
    ),
    "a copy behind its commit": (
        "        v_writer.commit(step)\n",
        "        v_writer.commit(step)\n"
        "        at = [b_at, h_at, n_first, 0]\n"
        "        tle.gpu.copy(v_desc, v_slot.v, [1, 1, TILE_N, TILE_E], at)\n",
        "",
        "is committed",
    ),
    "a box of another shape": (
        "tle.gpu.copy(v_desc, v_slot.v, [1, 1, TILE_N, TILE_E]",
        "tle.gpu.copy(v_desc, v_slot.v, [1, 1, TILE_E, TILE_N]",
        "",
        "a copy of",
    ),
    "one reader for two": (
        'v_pipe.reader("consumer_1")',
        'v_pipe.reader("consumer_0")',
        "",
        "is taken twice",
    ),
    "committed twice": (
        "        v_writer.commit(step)\n",
        "        v_writer.commit(step)\n        v_writer.commit(step)\n",
        "",
        "is not acquired",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name):
    old, new, engine, says = FAULTS[name]
    case = attention()
    text = text_of(case)
    assert old in text
    reading = read(case, text.replace(old, new))
    assert isinstance(reading.verdict, Refuted), spoken(reading.verdict)
    assert says in f"{spoken(reading.verdict)} {reading.engines}"
    assert not engine or engine in reading.engines


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("scope=tle.gpu.smem", "scope=tle.gpu.tmem"),
        ("tle.gpu.wgmma(", "tle.gpu.mma("),
        ("import triton.experimental.tle.language as tle", "import triton.experimental.tle as tle"),
    ],
)
def test_what_has_no_meaning_here_is_not_read(old, new):
    case = attention()
    assert isinstance(read(case, text_of(case).replace(old, new)).verdict, Unknown)


def test_roles_are_known_by_the_call_that_starts_them():
    text = read_text(text_of(attention()))
    name = "attention_g0_k0_roles2"
    assert roles_of(text.tree) == {name, f"{name}_producer", f"{name}_consumer"}


def test_plain_functions_of_such_a_file_are_read_as_ever():
    case = attention()
    assert isinstance(read_field(read_text(text_of(case)), case.program, case.graph), Sampled)
