"""Tiles that programs deal out among themselves: each is one program's, once, for all sizes."""

from __future__ import annotations

import functools

import pytest

from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.concrete import faults
from superopt.verify.source.symbolic.launcher import plans
from superopt.verify.source.symbolic.linear import NEGATED
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.source.symbolic.solve import answer
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import spoken
from tests.verify.source.concurrent.subjects import attention
from tests.verify.source.concurrent.subjects import normed
from tests.verify.source.concurrent.subjects import persistent

ROLES = "attention_g0_k0_roles2_persistent2"
ONCE = f"{ROLES}: no element of out is stored twice"
ALL = f"{ROLES}: every element of out is stored"
MEMORY = f"{ROLES}: memory"
PLACE = (
    "place = gl.where(wave % 2 == 0, gl.program_id(0), gl.num_programs(0) - 1 - gl.program_id(0))"
)
WAVES = "for wave in range(0, gl.cdiv(tiles, gl.num_programs(0))):"


@functools.cache
def text():
    return persistent(attention(causal=True)).text


def open_claims(changed, refute=False):
    """The claims that are not proved, with their verdicts."""
    found = read_symbolic(changed, "attention", refute=refute).claims
    return {c: v for c, v in found if not isinstance(v, Proved)}


@pytest.mark.parametrize(
    "case",
    [
        persistent(attention(causal=True)),
        persistent(attention(causal=True), 1, ring=True, joined=True),
        persistent(normed(), 1),
        persistent(attention(causal=True), 2, each=8, group=8),  # of heads, which have no tiles
    ],
    ids=["causal", "turns", "normed", "each"],
)
def test_every_claim_is_proved(case):
    found = dict(read_symbolic(case.text, case.program.name).claims)
    assert [f"{c}: {spoken(v)}" for c, v in found.items() if not isinstance(v, Proved)] == []
    assert any("roles2_persistent" in c or "joined" in c for c in found)


def test_no_proof_rests_on_a_contradiction():
    for query in read_symbolic(text(), "attention").queries:
        facts, _, against = query.smt2.partition(NEGATED)
        if query.claim.startswith(ROLES) and "(assert true)" not in against:
            assert answer(facts + "\n(check-sat)\n") == "sat", query.claim


@pytest.mark.parametrize(
    "place",
    [
        "place = gl.program_id(0)",
        "place = gl.num_programs(0) - 1 - gl.program_id(0)",
        PLACE.replace("% 2 == 0", "% 4 < 2"),
    ],
)
def test_other_ways_to_deal_that_are_fair_are_proved_as_well(place):
    assert open_claims(text().replace(PLACE, place)) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PLACE, PLACE.replace("- 1 - gl", "- gl")),
        (PLACE, "place = gl.program_id(0) // 2"),
        (PLACE, "place = 0"),
        ("tile = wave * gl.num_programs(0) +", "tile = wave * (gl.num_programs(0) - 1) +"),
        ("tile = wave * gl.num_programs(0) +", "tile = wave * (gl.num_programs(0) + 1) +"),
        ("if tile < tiles:", "if tile < tiles - 1:"),
        (WAVES, WAVES.replace("range(0", "range(1")),
        (WAVES, WAVES.replace("gl.cdiv(tiles,", "gl.cdiv(tiles - 1,")),
    ],
)
def test_what_is_not_dealt_out_once_is_not_proved_and_numbers_show_it(old, new):
    assert text().count(old) == 2  # a producer, a consumer
    changed = text().replace(old, new)
    found = open_claims(changed)
    assert "each tile once" in spoken(found[MEMORY]) if MEMORY in found else ALL in found
    read = read_text(changed, "attention")
    (plan,) = plans(read)
    sizes = {"b": 3, "h": 3, "m": 100, "d": 64, "n": 64, "e": 64}
    broken = {fault.claim for fault in faults(read, "attention", plan, sizes, 0)}
    assert broken & {ONCE, ALL}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(h_at, m_tile, h_size, m_tiles, GROUP)", "(m_tile, h_at, h_size, m_tiles, GROUP)"),
        ("(h_at, m_tile, h_size, m_tiles, GROUP)", "(h_at, m_tile, h_size, m_tiles - 1, GROUP)"),
    ],
)
def test_heads_in_groups_are_dealt_out_once(old, new):
    right = persistent(attention(causal=True), 2, each=8, group=8).text
    assert right.count(f"swizzle2d{old}") == 2  # a producer, a consumer
    found = open_claims(right.replace(old, new), refute=True)
    stored = found["attention_g0_k0_roles2_persistent2_each8: every element of out is stored"]
    assert isinstance(stored, Refuted)


def test_what_is_not_known_is_refuted_by_numbers_as_well():
    """A wave is left out where tiles fill all; no other reading may have such numbers."""
    waves = "gl.cdiv(tiles, gl.num_programs(0))"
    lost = f"{waves} - gl.where(tiles % gl.num_programs(0) == 0, 1, 0)"
    found = open_claims(text().replace(waves, lost), refute=True)
    assert isinstance(found[MEMORY], Refuted)
    assert "no program stores the element" in spoken(found[MEMORY])


def test_memory_outside_of_the_tiles_is_refused():
    last = "    tma.store_wait(pendings=0)\n\n"
    assert text().count(last) == 1
    store = "    tma.async_copy_shared_to_global(out_desc, [0, 0, 0, 0], out_tiles.index(0))\n"
    found = open_claims(text().replace(last, f"{store}{last}"))
    assert "outside of the tiles" in spoken(found[MEMORY])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("_at_once(programs, ", "_at_once(programs - 1, "),
        (f"if programs > 0:\n            {ROLES}", f"if programs > 7:\n            {ROLES}"),
    ],
)
def test_a_launch_that_is_left_out_is_refuted_by_numbers(old, new):
    """It was not known; and what is not known of memory refuses nothing."""
    assert text().count(old) == 1
    found = open_claims(text().replace(old, new), refute=True)
    assert isinstance(found[f"{ROLES}: launched where there are programs"], Refuted)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return torch.cuda.get_device_properties(device).multi", "return 0 and device.multi"),
        ("    programs = min(tiles, ", "    programs = max(tiles, "),
        ("    if tiles >= LARGEST // 2:\n        raise", "    if tiles >= LARGEST:\n        raise"),
        ("max(programs, triton.cdiv(tiles, each))", "triton.cdiv(tiles, each) + programs"),
    ],
)
def test_another_number_of_programs_is_not_known(old, new):
    assert old in text()
    (verdict,) = open_claims(text().replace(old, new)).values()
    assert "_at_once is not known" in spoken(verdict)
