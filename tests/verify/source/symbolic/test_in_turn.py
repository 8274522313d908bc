"""Tiles that the consumers of a program take in turn: each is one consumer's, for all sizes."""

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
from tests.verify.source.concurrent.subjects import pingpong
from tests.verify.source.concurrent.test_pingpong import MINE
from tests.verify.source.symbolic.test_dealt import open_claims

ROLES = "attention_g0_k0_roles2_persistent2_pingpong"
ONCE = f"{ROLES}: no element of out is stored twice"
ALL = f"{ROLES}: every element of out is stored"
MEMORY = f"{ROLES}: memory"
SIZES = {"b": 3, "h": 3, "m": 100, "d": 64, "n": 64, "e": 64}
STORE = "tma.async_copy_shared_to_global(out_desc, [b_at, h_at, m_first_3, 0], out_tile)"
GUARD = f"            {MINE}\n"
FILLED = "            n_filled = n_filled + "


@functools.cache
def text():
    return pingpong(attention(causal=True)).text


def broken(changed):
    """The claims that fail at some sizes, by numbers."""
    read = read_text(changed, "attention")
    (plan,) = plans(read)
    return {fault.claim for fault in faults(read, "attention", plan, SIZES, 0)}


@pytest.mark.parametrize(
    "case",
    [
        pingpong(attention(causal=True)),
        pingpong(attention(causal=True, slots=3), 1, joined=True),
        pingpong(normed(), 1),
        pingpong(attention(causal=True, consumers=3), 2, each=8, group=8),
    ],
    ids=["causal", "joined", "normed", "three, each"],
)
def test_every_claim_is_proved(case):
    found = dict(read_symbolic(case.text, case.program.name).claims)
    assert [f"{c}: {spoken(v)}" for c, v in found.items() if not isinstance(v, Proved)] == []
    assert any("_pingpong: every element" in claim for claim in found)


def test_no_proof_rests_on_a_contradiction():
    """(Of causal tiles as long as those of keys no more than one is masked: a loop never runs.)"""
    for query in read_symbolic(pingpong(attention()).text, "attention").queries:
        facts, _, against = query.smt2.partition(NEGATED)
        if query.claim.startswith(ROLES) and "(assert true)" not in against:
            assert answer(facts + "\n(check-sat)\n") == "sat", query.claim


@pytest.mark.parametrize(
    "new",
    [
        MINE.replace("CONSUMERS", "3"),
        MINE.replace("CONSUMER:", "CONSUMER + 1:"),
        MINE.replace("CONSUMER:", "0:"),
        MINE.replace("wave", "(wave + tile // tiles)"),
        MINE.replace("wave % CONSUMERS", "wave // CONSUMERS"),
        f"wave = wave + CONSUMER\n            {MINE}",
        "if True:",
    ],
)
def test_what_is_not_one_consumers_is_not_proved(new):
    assert text().count(MINE) == 1
    changed = text().replace(MINE, new)
    assert open_claims(changed).keys() & {ONCE, ALL, MEMORY}
    if "tiles" not in new:  # which is as good as what is printed, but not known
        assert broken(changed) & {ONCE, ALL}


def test_by_numbers_all_is_well_with_what_is_printed():
    assert broken(text()) == set()


def around():
    """The text before the turn of a consumer, what is done in it, and what is behind."""
    head, _, rest = text().partition(GUARD)
    body, _, tail = rest.partition(FILLED)
    assert STORE in body
    return head, body, f"{FILLED}{tail}"


@pytest.mark.parametrize("by", ["CONSUMER", "shift"])
def test_which_element_it_is_must_not_depend_on_the_consumer(by):
    """There is one for each tile, but what is proved holds for any of them."""
    head, body, tail = around()
    body = body.replace(STORE, STORE.replace("m_first_3", f"m_first_3 + {by}"))
    changed = f"{head}            shift = 1 * CONSUMER\n{GUARD}{body}{tail}"
    found = open_claims(changed, refute=True)
    assert "depends on the role" in spoken(open_claims(changed)[MEMORY])
    assert isinstance(found[MEMORY], Refuted)


def test_a_tile_is_not_one_consumers_who_does_it_only_as_the_first():
    head, body, tail = around()
    body = "".join(f" {line}\n" for line in body.splitlines())
    changed = f"{head}            if CONSUMER == 0:\n {GUARD}{body}{tail}"
    assert "depends on the role" in spoken(open_claims(changed)[MEMORY])
    assert ALL in broken(changed)


def test_what_is_stored_outside_of_turns_is_stored_by_all():
    head, body, tail = around()
    store = STORE.replace("m_first_3", "m_tile * TILE_M").replace(
        "out_tile)", "out_tiles.index(0))"
    )
    changed = f"{head}{GUARD}{body}            {store}\n{tail}"
    assert ONCE in open_claims(changed)
    assert ONCE in broken(changed)
