"""Roles in the words of TLE stay within tensors and store every element once, for all sizes."""

from __future__ import annotations

import functools

import pytest

from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.source.symbolic.tle import TleRoles
from superopt.verify.source.symbolic.tle import reader
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import spoken
from tests.verify.source.concurrent.subjects import attention
from tests.verify.source.concurrent.test_tle import text_of

ROLES = "attention_g0_k0_roles2"
BOUNDS = f"{ROLES}: stores of out in bounds"
ONCE = f"{ROLES}: no element of out is stored twice"
ALL = f"{ROLES}: every element of out is stored"
LOADS = f"{ROLES}: loads of v in bounds"
MEMORY = f"{ROLES}: memory"
FIRST = "m_first = (m_tile * CONSUMERS + CONSUMER) * TILE_M\n"


@functools.cache
def text():
    return text_of(attention())


def claims(changed):
    return dict(read_symbolic(changed, "attention", refute=False).claims)


def test_every_claim_is_proved():
    found = claims(text())
    assert [f"{c}: {spoken(v)}" for c, v in found.items() if not isinstance(v, Proved)] == []
    assert {BOUNDS, ONCE, ALL, LOADS} <= set(found)


def test_who_reads_what():
    read = read_text(text(), "attention")
    assert reader(read, ROLES) is TleRoles
    assert reader(read, "attention_g0_k0") is not TleRoles


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        (FIRST, FIRST.replace("* CONSUMERS +", "+"), {ONCE, ALL}),
        (FIRST, FIRST.replace("* TILE_M", "* TILE_M + 1"), {BOUNDS, ONCE, ALL}),
        ("m_in = (m_at < m_size) | EVEN_M", "m_in = (m_at <= m_size) | EVEN_M", {BOUNDS, ONCE}),
        ("CONSUMERS, 1,", "CONSUMERS, 0,", {ONCE, ALL}),
    ],
)
def test_what_is_wrong_is_not_proved(old, new, wrong):
    assert old in text()
    at = text().index(f"def {ROLES}_consumer")
    found = claims(text()[:at] + text()[at:].replace(old, new, 1))
    mine = {c for c, v in found.items() if c.startswith(ROLES) and not isinstance(v, Proved)}
    assert mine == wrong


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        # An address that is not known to be one of shared memory.
        (
            "    q_reader.release(0)",
            "    other = tl.load(q_ready.slot.q)",
            "tl.load(q_ready.slot.q)",
        ),
        (
            "tle.gpu.copy(v_desc, v_slot.v,",
            "tle.gpu.copy(v_slot.v, v_desc,",
            "tle.gpu.copy(v_slot.v",
        ),
        ("tle.gpu.wgmma(", "tle.gpu.mma(", "tle.gpu.mma("),
        ("steps, list(box)))", "steps[::-1], list(box)))", "_shared_descriptors is not known"),
    ],
)
def test_what_is_not_known_is_refused_by_name(old, new, says):
    assert old in text()
    found = claims(text().replace(old, new, 1))
    assert any(isinstance(v, Unknown) and says in v.why for v in found.values())
