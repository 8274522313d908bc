"""Programs that take several tiles: rings go on from one to the next, and faults there are seen."""

from __future__ import annotations

import pytest

from superopt.verify.source.concurrent.machine import CLOCKS
from superopt.verify.source.concurrent.machine import ORDERS
from superopt.verify.source.concurrent.read import planned
from superopt.verify.source.concurrent.read import read_concurrent
from superopt.verify.source.concurrent.trial import PROGRAMS
from superopt.verify.source.concurrent.trial import TILES
from superopt.verify.source.concurrent.trial import roles_trial
from superopt.verify.source.load import read_text
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import spoken
from tests.verify.source.concurrent.subjects import attention
from tests.verify.source.concurrent.subjects import normed
from tests.verify.source.concurrent.subjects import persistent


def read(case, change=lambda text: text, **how):
    return read_concurrent(change(case.text), case.program, case.graph, (case.config,), **how)


@pytest.mark.parametrize(
    "case",
    [
        persistent(attention(causal=True)),
        persistent(attention(causal=True, slots=3), 1, ring=True, joined=True),
        persistent(normed(), 1),
        persistent(attention(causal=True), each=8, group=2),
    ],
    ids=["causal", "turns", "normed", "each"],
)
def test_programs_of_several_tiles_are_accepted(case):
    reading = read(case)
    assert isinstance(reading.verdict, Sampled), spoken(reading.verdict)
    assert reading.verdict.log2_bound < -60
    assert not any(e.wrong for e in reading.explored.values())


def test_two_programs_take_so_many_tiles_that_every_slot_has_both_parities():
    case = persistent(attention())
    for ragged in (False, True):
        how = {"several": TILES[ragged]}
        trial = roles_trial(case.program, case.graph, (case.config,), 3, ragged, **how)
        rows = 2 * trial.configs[0].tile["m"]
        tiles = trial.size["b"] * trial.size["h"] * -(-trial.size["m"] // rows)
        assert tiles >= TILES[ragged] > 2 * 2 * case.config.persistent - 2


@pytest.mark.parametrize("programs", PROGRAMS)
def test_a_number_of_a_tile_is_no_number_of_a_wave(programs):
    """With one number of multiprocessors it may be, and nothing else was read."""
    text = persistent(attention()).text
    for old, new in (("wave % 2\n", "% 2\n"), ("(wave // 2) & 1", "// 2) & 1")):
        assert old in text
        start = "(" if new[0] == "/" else ""
        text = text.replace(old, f"{start}(tile // {programs}) {new}")
    reading = read(persistent(attention()), lambda _: text)
    assert isinstance(reading.verdict, Refuted), spoken(reading.verdict)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("new", ["_even(m_size, n_tile)", "_even(n_size, 1)"])
def test_what_is_even_is_the_axis_itself(causal, new):
    """All ends lay within tiles, or none did; and no row was behind the last key."""
    case = persistent(attention(causal=causal))
    start, _, end = case.text.partition("_roles2_persistent2[(")
    old = "EVEN_N=_even(n_size, n_tile)"
    assert old in end
    text = f"{start}_roles2_persistent2[({end.replace(old, f'EVEN_N={new}', 1)}"
    reading = read(case, lambda _: text)
    assert isinstance(reading.verdict, Refuted), spoken(reading.verdict)


def test_that_a_plan_asks_for_them_is_read_from_the_file():
    case = persistent(attention())
    ((configs, kinds),) = planned(read_text(case.text), 0)
    assert [c.persistent for c in configs] == [2]
    assert kinds == ("persistent2",)


STORED = "            tma.store_wait(pendings=0)\n"
RELEASED = "            mbarrier.arrive(q_empty.index(q_slot))\n"
COME = "mbarrier.wait(q_full.index(q_slot), (wave // 2) & 1)\n"
FILLED = "            n_filled = n_filled + n_count"
FREE = "            mbarrier.wait(q_empty.index(q_slot), ((wave // 2) & 1) ^ 1)\n"


@pytest.mark.parametrize(
    ("old", "new", "engine", "says"),
    [
        (STORED, "", CLOCKS, "while a store to out"),
        ("    tma.store_wait(pendings=0)\n\n", "\n", CLOCKS, "ends with stores under way"),
        (FILLED, "            n_filled = 0 * n_count", ORDERS, ""),
        (RELEASED, "", ORDERS, "deadlock"),
        (FREE, "", CLOCKS, "arrives at q_full[0] once too often"),
        ("q_slot = wave % 2", "q_slot = 0", ORDERS, ""),
        ("(wave // 2) & 1", "wave & 1", ORDERS, ""),
    ],
    ids=["reused", "last", "fillings", "kept", "overwritten", "slot", "parity"],
)
def test_a_fault_between_two_tiles_is_seen_and_its_engine_named(old, new, engine, says):
    """Short walks, for in long ones rings hold the producer back whatever else it waits for."""
    case = persistent(attention())
    assert old in case.text
    reading = read(case, lambda text: text.replace(old, new), blocks=(), longer=(1,))
    assert isinstance(reading.verdict, Refuted), spoken(reading.verdict)
    assert says in reading.engines[engine]


def test_a_tile_that_is_given_back_before_it_was_read_is_seen():
    def early(text):
        return text.replace(RELEASED, "").replace(COME, f"{COME}{RELEASED}")

    reading = read(persistent(attention()), early, blocks=(), longer=(1,))
    assert isinstance(reading.verdict, Refuted)
    assert "reads q_tiles" in reading.engines[CLOCKS]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if tile < tiles:", "if tile < tiles - 1:"),
        ("tile = wave * gl.num_programs(0)", "tile = wave * (gl.num_programs(0) - 1)"),
        ("- 1 - gl.program_id(0))", "- gl.program_id(0))"),
        ("in range(0, gl.cdiv(tiles,", "in range(1, gl.cdiv(tiles,"),
        ("pid = tile\n", "pid = gl.program_id(0)\n"),
    ],
    ids=["skipped", "twice", "shifted", "late", "the same"],
)
def test_a_tile_that_nobody_has_or_two_have_is_seen(old, new):
    case = persistent(attention())
    assert old in case.text
    reading = read(case, lambda text: text.replace(old, new), blocks=(), longer=(4,))
    assert isinstance(reading.verdict, Refuted), spoken(reading.verdict)
