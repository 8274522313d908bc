"""What no reading models is neither found nor explained."""

from __future__ import annotations

from superopt.mutate.judge import NOT_JUDGED
from superopt.mutate.judge import outcome
from superopt.mutate.source import source_mutants
from tests.mutate.test_variants import CONSUMER
from tests.mutate.test_variants import subject


def test_layouts_are_not_judged():
    mutants = source_mutants(subject().text, "attention", 0)
    one = next(m for m in mutants if m.before == "16" and m.site.function == CONSUMER)
    found = outcome(subject(), one)
    assert found.by == NOT_JUDGED
    assert "layouts" in found.said
