"""Specs as a newcomer writes them from the README: each ends with a verified kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from superopt.budget import Budget
from superopt.device import target
from superopt.loading import load
from superopt.pipeline import search_function
from superopt.report.live import Progress
from superopt.run import Stage

FOLDER = Path(__file__).parent / "user_specs"
FILES = sorted(p for p in FOLDER.glob("*.py") if p.name != "__init__.py")
BUDGET = Budget(candidates=8, text="8")


def smallest(spec):
    """The case with the fewest positions: it compiles and searches fastest."""
    return min(spec.cases, key=lambda c: sum(c.sizes.values()))


@pytest.mark.parametrize("file", FILES, ids=lambda p: p.stem)
def test_ends_with_a_verified_kernel(file, tmp_path):
    (spec,) = load(str(file))
    progress = Progress(Console(), quiet=True)
    case, device = smallest(spec), target("h200")
    run = search_function(spec, (case,), device, BUDGET, 0, tmp_path, progress, finalists=1)
    refusals = [c.why for c in run.cases[0].candidates if c.stage is Stage.REFUSED]
    assert run.verified, refusals
    assert run.kernel is not None
    assert run.kernel.is_file()
