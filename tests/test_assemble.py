"""A graph that fails in the assembled file gives way to the next verified candidate."""

from __future__ import annotations

from dataclasses import replace

from superopt import assemble as module
from superopt.case import Case
from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Stage
from superopt.source import Facts
from tests.test_run import FIRST
from tests.test_run import SECOND


def test_the_next_verified_candidate_takes_the_place(monkeypatch):
    made = []

    def attempt(spec, results, examiner, directory, architectures, watch, held):
        winner = results[0].winner
        made.append(winner.digest)
        if winner.graph is FIRST.graph:
            return None, [module._without(r, [FIRST.graph], "off by 3") for r in results]
        return directory, results

    monkeypatch.setattr(module, "_attempt", attempt)
    run = CaseRun(Case("c", m=2), Counts(), (FIRST, SECOND), FIRST)
    file, (result,) = module.assemble(None, [run], None, "file")
    assert made == ["a", "b"]
    assert file == "file"
    assert result.winner is SECOND
    assert result.candidates[0] == replace(FIRST, stage=Stage.REFUSED, why="off by 3")


def test_without_another_candidate_there_is_no_file(monkeypatch):
    monkeypatch.setattr(
        module,
        "_attempt",
        lambda spec, results, *rest: (
            None,
            [module._without(r, [FIRST.graph], "off") for r in results],
        ),
    )
    run = CaseRun(Case("c", m=2), Counts(), (FIRST,), FIRST)
    file, (result,) = module.assemble(None, [run], None, "file")
    assert file is None
    assert result.winner is None


def test_facts_are_of_functions_that_the_file_has():
    fact = Facts("f_g1_k2_g0_k1_roles2", "sm_90", 1, 2, 0)
    moved = module._in_file(fact, "f_g1_k2", 3)
    assert moved.function == "f_g1_k2_g3_k1_roles2"
    assert module._in_file(moved, "f_g1_k2", 0) == fact
