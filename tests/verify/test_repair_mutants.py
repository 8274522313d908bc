"""A wrong repair is found by an obligation or the field run, or is, by proof, no other repair."""

from __future__ import annotations

from collections import Counter

import pytest

from superopt.verify.verdict import Refuted
from tests.repair.cases import BY_NAME
from tests.verify.repair_mutants import Mutant
from tests.verify.repair_mutants import every
from tests.verify.repair_mutants import mutants
from tests.verify.repair_mutants import of_case
from tests.verify.repair_mutants import sample
from tests.verify.repair_mutants import subjects
from tests.verify.repair_outcomes import equivalent
from tests.verify.repair_outcomes import outcome

SAMPLE = 100


def named(mutant: Mutant) -> str:
    return f"{mutant.subject.name}, {mutant.number}, {mutant.site}: {mutant.what}"


def test_every_move_guard_and_combination_is_changed_in_at_least_five_ways():
    sites = Counter((m.subject.name, m.number, m.site) for m in every())
    derived = ("move", "guard", "combination")
    few = {site: n for site, n in sites.items() if n < 5 and site[2].startswith(derived)}
    assert not few
    assert len(sites) > 150


@pytest.mark.parametrize("part", range(4))
def test_no_mutant_of_the_sample_survives(part: int):
    wrong = [named(m) for m in sample(SAMPLE)[part::4] if outcome(m)[0] == "survived"]
    assert not wrong


@pytest.mark.parametrize(
    ("case", "site", "what", "finder"),
    [
        ("features plus eps", "guard of sum0_1 (nothing", "new for old", "domain"),
        ("rms, no eps", "guard of sum1 (a tile", "unit 2", "domain"),
        ("deferred mean", "value at the end", "where: always else", "domain"),
        ("logsumexp", "move of sum0 to sum0", "old and new swapped", "separation"),
        ("logsumexp", "move of sum0 to sum0", "halved in the walk alone", "composition"),
        ("softmax of a softmax", "combination of max1", "folded by min", "endomorphism"),
    ],
)
def test_each_kind_of_fault_has_its_finder(case: str, site: str, what: str, finder: str):
    (one,) = (s for s in subjects() if s.name == case)
    found = [m for m in mutants(one) if m.site.startswith(site) and m.what == what]
    assert found
    assert [outcome(m)[0] for m in found] == [finder] * len(found)


def test_the_check_of_equivalence_can_say_no():
    (other,) = (
        m
        for m in mutants(of_case(BY_NAME["logsumexp"]))
        if (m.site, m.what) == ("move of sum0 to sum0", "halved")
    )
    assert isinstance(equivalent(other), Refuted)
