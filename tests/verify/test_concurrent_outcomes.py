"""Mutants of concurrency are seen by an engine, or do what the text did."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.verify.concurrent_outcomes import EQUIVALENT
from tests.verify.concurrent_outcomes import NOT_READ
from tests.verify.concurrent_outcomes import SURVIVED
from tests.verify.concurrent_outcomes import every
from tests.verify.concurrent_outcomes import outcome
from tests.verify.concurrent_outcomes import sample
from tests.verify.source.concurrent.texts import MATMUL
from tests.verify.source.concurrent.texts import Seen

COUNT, SCHEDULES = 100, 2


@pytest.mark.parametrize("part", range(4))
def test_no_mutant_survives_unexplained(part):
    found: Counter[str] = Counter()
    for name, mutant, read in sample(COUNT)[part::4]:
        what = outcome(mutant.text, read, SCHEDULES)
        assert what not in (SURVIVED, NOT_READ), (name, mutant.what, mutant.at)
        found[what] += 1
    assert found[EQUIVALENT] < found.total() / 2


def test_there_are_a_thousand_of_every_kind():
    kinds = Counter(mutant.what for _, mutant, _ in every())
    assert kinds.total() > 1000
    assert min(kinds.values()) >= 10


def test_a_mutant_that_only_the_adversary_sees_is_a_survivor():
    def blind(text, machines):
        return Seen({}, "" if machines.__class__ is type else "the result differs")

    assert outcome(MATMUL, blind) == SURVIVED
