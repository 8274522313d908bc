"""Every row of the catalogue of repairs has a spec, and each is decided as the theory says."""

from __future__ import annotations

from pathlib import Path

import pytest

from superopt.report.repairs import rows
from superopt.verify.verdict import accepted
from tests.catalogue import ROWS
from tests.catalogue import Pattern
from tests.catalogue import executed
from tests.catalogue import judged
from tests.catalogue import kernels

ROOT = Path(__file__).parents[2]


def named(pattern: Pattern) -> str:
    return pattern.name


def test_no_row_and_no_spec_of_a_file_vanishes():
    """A spec that repairs anything stands for a row, and a row for a spec that exists."""
    assert len({p.name for p in ROWS}) == len(ROWS) >= 40


@pytest.mark.parametrize("pattern", ROWS, ids=named)
def test_a_row_is_decided_as_it_should(pattern: Pattern):
    found = [r for r in rows(pattern.loaded.program, proofs=False) if r.axis == pattern.axis]
    first = tuple(r.rank for r in found)[: max(1, len(pattern.ranks))]
    assert first == pattern.ranks
    if None in pattern.ranks:
        assert found[0].law[0].startswith("refused: ")
    else:
        assert {r.modes for r in found} <= {pattern.modes}


JUDGED = [
    "merging partial attentions",
    "largest distance from the mean",
    "layer norm and its largest size",
    "entropy and normaliser",
]


@pytest.mark.parametrize("pattern", [p for p in ROWS if p.name in JUDGED], ids=named)
def test_both_modes_are_the_spec(pattern: Pattern):
    found = dict(kernels(pattern))
    assert set(found) == {"rolling", "split"}
    for graph in found.values():
        verdict = judged(pattern, graph)
        assert accepted(verdict), verdict


def test_a_row_runs_on_hostile_inputs():
    """One of them; the module runs them all."""
    (pattern,) = (p for p in ROWS if p.name == "largest distance from the mean")
    found = dict(kernels(pattern))
    assert executed(pattern, found["split"], ("fp32",)) == []
