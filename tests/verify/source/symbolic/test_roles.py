"""Kernels with roles stay within their tensors and store every element once, for all sizes; and
what is wrong with one is found."""

from __future__ import annotations

import functools

import pytest

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.apart import stored_once
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.bounds import in_bounds
from superopt.verify.source.symbolic.bounds import no_overflow
from superopt.verify.source.symbolic.concrete import faults
from superopt.verify.source.symbolic.concrete import small_sizes
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.launcher import HostReader
from superopt.verify.source.symbolic.launcher import plans
from superopt.verify.source.symbolic.linear import NEGATED
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.positive import positives
from superopt.verify.source.symbolic.read import CUT
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.source.symbolic.roles import Roles
from superopt.verify.source.symbolic.roles import has_roles
from superopt.verify.source.symbolic.roles import reader
from superopt.verify.source.symbolic.runner import Runner
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.solve import answer
from superopt.verify.source.symbolic.written import all_stored
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import spoken
from tests.verify.source.concurrent.subjects import attention
from tests.verify.source.concurrent.subjects import normed

ROLES = "attention_g0_k0_roles2"
BOUNDS = f"{ROLES}: stores of out in bounds"
ONCE = f"{ROLES}: no element of out is stored twice"
ALL = f"{ROLES}: every element of out is stored"
FIT = f"{ROLES}: numbers fit their width"
FIRST = "m_first = (m_tile * CONSUMERS + CONSUMER) * TILE_M\n"
STORE = "tma.async_copy_shared_to_global(out_desc, [b_at, h_at, m_first, 0], out_tile)"
LAUNCHED = "programs = b_size * h_size * triton.cdiv(m_size, m_tile * 2)"


@functools.cache
def text():
    return attention().text


def claims(changed):
    """The claims about the function with roles, alone."""
    read = read_text(changed, "attention")
    (plan,) = plans(read)
    prover = Prover()
    atoms = Atoms(prover)
    host = HostReader(read, atoms, None).read("attention")
    launches = Runner(read, host, plan.launches).read(plan.graph).launches
    (launch,) = [one for one in launches if has_roles(read, one.function)]
    given = (*launch.path, *positives(launch.programs, launch.path, atoms, prover))
    atoms.given = given
    pid = atoms.free("pid", upper=(launch.programs,))
    atoms.assume("pid", below(launch.programs, number(2**31)))
    function = read.kernels[launch.function]
    kernel = reader(read, ROLES)(read, function, launch.arguments, atoms, pid, given).read()
    stores = [a for a in kernel.accesses if a.stores]
    return {
        BOUNDS: in_bounds(kernel.accesses, atoms, prover),
        ONCE: stored_once(stores, "pid", atoms, prover),
        ALL: all_stored(stores, "pid", atoms, prover),
        FIT: no_overflow(kernel.uses, given, atoms, prover),
    }


def test_every_claim_is_proved_and_says_what_it_rests_on():
    reading = read_symbolic(text(), "attention")
    found = dict(reading.claims)
    assert [f"{c}: {spoken(v)}" for c, v in found.items() if not isinstance(v, Proved)] == []
    assert {BOUNDS, ONCE, ALL, FIT} <= set(found)
    assert {c.split(":")[0] for c, v in found.items() if CUT in v.facts} == {ROLES}
    for query in reading.queries:  # no proof rests on a contradiction
        facts, _, against = query.smt2.partition(NEGATED)
        if query.claim.startswith(ROLES) and "(assert true)" not in against:
            assert answer(facts + "\n(check-sat)\n") == "sat", query.claim


def test_who_reads_what():
    read = read_text(text(), "attention")
    assert has_roles(read, ROLES)
    assert not has_roles(read, "attention_g0_k0")
    assert reader(read, ROLES) is Roles
    assert reader(read, "attention_g0_k0") is not Roles


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        (FIRST, FIRST.replace("CONSUMERS + CONSUMER", "CONSUMERS"), {ONCE, ALL}),
        (FIRST, FIRST.replace("* CONSUMERS +", "+"), {ONCE, ALL}),  # boxes of neighbours overlap
        (FIRST, FIRST.replace("* TILE_M", "* TILE_M + 1"), {ALL}),
        (FIRST, FIRST.replace("* TILE_M", "* 32"), {ONCE, ALL}),
        (FIRST, FIRST.replace("* TILE_M", "* 128"), {ALL, FIT}),
        ("CONSUMERS, 1, m_tile", "CONSUMERS, 0, m_tile", {ONCE, ALL}),
        ("CONSUMERS, 1, m_tile", "CONSUMERS, 2, m_tile", {ONCE, ALL}),
        (STORE, STORE.replace("b_at, h_at", "h_at, b_at"), {ALL}),
        (STORE, STORE.replace("m_first, 0]", "m_first, 1]"), {ALL}),
        (STORE, f"if CONSUMER == 0:\n        {STORE}", {ALL}),
        (STORE, f"{STORE}\n    {STORE}", {ONCE}),
        ("(out, (1, 1, m_tile, e_tile)", "(out, (1, 1, m_tile * 2, e_tile)", {ONCE, ALL}),
        ("(out, (1, 1, m_tile, e_tile)", "(out, (1, 1, 32, e_tile)", {ALL}),
    ],
)
def test_what_is_wrong_is_not_proved(old, new, wrong):
    assert text().count(old) == 1
    found = claims(text().replace(old, new))
    assert {claim for claim, wanting in found.items() if wanting} == wrong


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (STORE, f"gl.store(out_desc, 0)\n    {STORE}"),
        (STORE, f"for step in range(0, K_SLOTS):\n        {STORE}"),
        (STORE, STORE.replace("tma.", "gl.")),
        ("steps, list(box), layout))", "steps[::-1], list(box), layout))"),
    ],
)
def test_what_has_no_meaning_is_refused(old, new):
    assert text().count(old) == 1
    with pytest.raises(OutsideVocabularyError):
        claims(text().replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("CONSUMERS, 1, m_tile", "CONSUMERS, 0, m_tile", {ONCE, ALL}),
        (LAUNCHED, LAUNCHED.replace("m_tile * 2", "m_tile * 4"), {ALL}),
    ],
)
def test_sizes_are_found_at_which_it_is_wrong(old, new, wrong):
    changed = read_text(text().replace(old, new), "attention")
    (plan,) = plans(changed)
    trials = small_sizes(("b", "h", "m", "d", "n", "e"), plan)
    found = {f.claim for sizes in trials for f in faults(changed, "attention", plan, sizes, 0)}
    assert found == wrong


def test_nothing_is_found_where_nothing_is_wrong():
    read = read_text(text(), "attention")
    (plan,) = plans(read)
    for sizes in small_sizes(("b", "h", "m", "d", "n", "e"), plan):
        assert faults(read, "attention", plan, sizes, 0) == []


@pytest.mark.parametrize("bound", ["k_at < k_size", "k_at <= k_size"])
def test_accesses_by_pointer_are_read_as_those_of_plain_functions(bound):
    changed = normed().text.replace("k_at < k_size", bound)
    found = dict(read_symbolic(changed, "rms_linear", refute=False).claims)
    verdict = found["rms_linear_g0_k0_roles2: loads of g in bounds"]
    assert isinstance(verdict, Unknown if "<=" in bound else Proved)
