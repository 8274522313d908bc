"""Candidates that the user names: found in a run, and verified if a search only ranked them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from superopt.case import Case
from superopt.errors import UserError
from superopt.examine import Examiner
from superopt.pipeline import FORMS
from superopt.rewrite.forms import forms
from superopt.rewrite.lowering import lowered
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Run
from superopt.run import Stage
from superopt.search.outcome import Built
from superopt.search.space import Search
from superopt.tuned import space_of

SHOWN = 12  # digits of a digest in a report


def named(run: Run, cases: Sequence[str], prefixes: Sequence[str]) -> dict[str, list[str]]:
    """Case -> digests of its candidates that ``prefixes`` name. ``cases``: where they are sought.

    Raises:
        UserError: a prefix names no candidate, more than one, or one that was refused.
    """
    found: dict[str, list[str]] = {}
    for prefix in prefixes:
        seen: dict[str, None] = {}
        for result in run.cases:
            if result.case.name not in cases:
                continue
            for candidate in result.candidates:
                if not prefix or not candidate.digest.startswith(prefix.lower()):
                    continue
                if candidate.stage is Stage.REFUSED:
                    raise UserError(f"candidate {_short(candidate)} was refused: {candidate.why}")
                seen[candidate.digest] = None
                wanted = found.setdefault(result.case.name, [])
                wanted += [candidate.digest] if candidate.digest not in wanted else []
        if len(seen) != 1:
            which = ", ".join(d[:SHOWN] for d in seen) or "none"
            raise UserError(
                f"{run.directory}: --candidate {prefix!r} must be the beginning of one candidate's "
                f"digest in {', '.join(cases)}: {which}; report.md lists them"
            )
    return found


def with_named(result: CaseRun, digests: Sequence[str], examiner: Examiner) -> CaseRun:
    """``result`` with each candidate of ``digests`` examined to the end, as finalists are.

    What was only ranked is built again by the same search, because a run keeps the repairs of
    verified candidates alone.

    Raises:
        UserError: the search of this version does not build it.
    """
    missing = [c.digest for c in result.candidates if c.digest in digests and not c.holds]
    if not missing:
        return result
    built = _built(result, missing, examiner)
    done = {digest: _examined(one, result.case, examiner) for digest, one in built.items()}
    return replace(result, candidates=tuple(done.get(c.digest, c) for c in result.candidates))


def _built(result: CaseRun, digests: Sequence[str], examiner: Examiner) -> Mapping[str, Built]:
    """What the search of a case made of the candidates ``digests``."""
    case, counts = result.case, result.counts
    sizes = {a: case.sizes[u] for a, u in examiner.names.axes.items()}
    found = [lowered(f) for f in forms(examiner.program, FORMS, sizes=sizes)]
    budget = counts.built + sum(n for _, n in counts.rejected)
    space = Search(
        found,
        sizes,
        case.storage,
        examiner.device,
        budget,
        case.tf32,
        repaired=examiner.repaired,
    )
    built: dict[str, Built] = {}
    for outcome in space:
        if isinstance(outcome, Built):
            digest = examiner.ranked(outcome).digest
            if digest in digests:
                built.setdefault(digest, outcome)
        if len(built) == len(digests):
            return built
    lost = next(d for d in digests if d not in built)
    raise UserError(f"this version does not build candidate {lost[:SHOWN]}; search again")


def _examined(built: Built, case: Case, examiner: Examiner) -> Candidate:
    candidate = examiner.prove(built)
    if candidate.stage is Stage.PROVED:
        candidate = examiner.execute(built, candidate, case)
    if candidate.stage is Stage.VERIFIED:
        candidate = replace(candidate, space=space_of(candidate.graph, case, examiner.device))
    return candidate


def _short(candidate: Candidate) -> str:
    return candidate.digest[:SHOWN]
