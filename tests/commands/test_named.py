"""Candidates by the beginning of their digests. That one is verified and timed: ``test_time``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.case import Case
from superopt.commands.named import named
from superopt.commands.named import with_named
from superopt.device import target
from superopt.errors import UserError
from superopt.examine import Examiner
from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Stage
from superopt.ugraph.names import canonical
from tests import samples
from tests.report.sample import sample


@pytest.fixture
def run(tmp_path):
    return sample(tmp_path)


def renamed(run, *digests):
    """``run`` with one case, whose candidates have ``digests``."""
    first = run.cases[0]
    found = tuple(replace(first.candidates[0], digest=d) for d in digests)
    return replace(run, cases=(replace(first, candidates=found),))


def names_of(run):
    return [c.case.name for c in run.cases]


def test_a_beginning_names_the_candidate_in_each_case_that_has_it(run):
    ranked = run.cases[0].candidates[2]
    found = named(run, names_of(run), [ranked.digest[:12], ranked.digest[:10].upper()])
    assert found == {c.case.name: [ranked.digest] for c in run.cases}
    one = run.cases[0].case.name
    assert named(run, [one], [ranked.digest]) == {one: [ranked.digest]}
    assert named(run, names_of(run), []) == {}


@pytest.mark.parametrize(
    ("prefix", "why"), [("ab", "ab1, ab2"), ("c", "none"), ("", "must be the beginning of one")]
)
def test_it_must_name_exactly_one(run, prefix, why):
    two = renamed(run, "ab1", "ab2")
    case = two.cases[0].case.name
    assert named(two, [case], ["ab1", "ab2"]) == {case: ["ab1", "ab2"]}
    with pytest.raises(UserError, match=why):
        named(two, [case], [prefix])


def test_what_was_refused_is_not_timed(run):
    first = run.cases[0]
    wrong = replace(first.candidates[0], stage=Stage.REFUSED, why="floats: wrong")
    refused = replace(run, cases=(replace(first, candidates=(wrong,)),))
    with pytest.raises(UserError, match="was refused: floats: wrong"):
        named(refused, [first.case.name], [wrong.digest[:12]])


@pytest.fixture
def examiner(tmp_path):
    program, names = canonical(samples.row_softmax())
    return Examiner(program, names, target("h200"), 0, tmp_path, None, None)


def test_what_is_verified_needs_nothing(run, examiner):
    result = run.cases[0]
    assert with_named(result, [result.candidates[0].digest], examiner) is result


def test_a_candidate_of_another_version_is_said_to_be_one(run, examiner):
    ranked = run.cases[0].candidates[2]
    case = Case("c", m=64, n=64, dtype="bf16")
    result = CaseRun(case, Counts(3, 3), (ranked,), None)
    with pytest.raises(UserError, match=f"does not build candidate {ranked.digest[:12]}"):
        with_named(result, [ranked.digest], examiner)
