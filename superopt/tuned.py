"""From verified candidates to tuning jobs, and from measured times back to candidates."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import replace

from superopt.case import Case
from superopt.device import Device
from superopt.errors import DoesNotFit
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Stage
from superopt.run import best
from superopt.search.configs import options
from superopt.search.configs import spread
from superopt.search.dependent import dependent_choices
from superopt.search.schedules import further_schedules
from superopt.tune.outcome import Measured
from superopt.tune.outcome import Tuned
from superopt.tune.record import Machine
from superopt.tune.space import Job
from superopt.tune.space import Point
from superopt.tune.space import Structure
from superopt.tune.timing import MeasuredTime
from superopt.tune.timing import Timing
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.split import launches

POINTS = 200  # of a structure
SCHEDULED = 2  # points of a structure that are tried with other schedules
BEHIND = 20  # times as many ways of each kernel are looked at


def space_of(
    graph: KernelGraph, case: Case, device: Device, most: int = POINTS
) -> tuple[Point, ...]:
    """At most ``most`` ways to launch ``graph`` (user names), best by the model first; none if no
    program of it fits the device."""
    try:
        lists = [
            options(block, case.sizes, case.storage, device, case.tf32, BEHIND * most)[0]
            for block in graph.kernels
        ]
    except DoesNotFit:
        return ()
    choices = dependent_choices(spread(lists, most), device, most)
    return tuple(Point(chosen, us) for us, chosen in choices)


def job_of(program: Program, result: CaseRun, device: Device) -> Job:
    """What is tuned of a case: its verified candidates, in the order of the model.

    The Configs that were verified come first in each space, and the best ones with roles are
    followed by themselves with other schedules.
    """
    return Job(
        program,
        result.case,
        tuple(
            Structure(c.digest, c.graph, _scheduled(c, result.case, device), c.text)
            for c in result.candidates
            if c.holds
        ),
    )


def _scheduled(candidate: Candidate, case: Case, device: Device) -> tuple[Point, ...]:
    points = _points(candidate)
    found: list[Point] = []
    left = SCHEDULED
    for point in points:
        found.append(point)
        number = next((n for n, c in enumerate(point.launches) if c.consumers), None)
        plain = number is not None and not point.launches[number].kind
        if number is None or not plain or not left:
            continue
        left -= 1
        run, config = launches(candidate.graph)[number], point.launches[number]
        for one in further_schedules(run, config, case.storage, device):
            chosen = (*point.launches[:number], one, *point.launches[number + 1 :])
            found.append(Point(chosen, point.model_us))
    return tuple(found)


def _points(candidate: Candidate) -> tuple[Point, ...]:
    chosen = [p for p in candidate.space if p.launches == candidate.configs]
    first = chosen or [Point(candidate.configs, candidate.model_us)]
    return (*first, *(p for p in candidate.space if p.launches != candidate.configs))


def with_times(result: CaseRun, tuned: Tuned, machine: Machine) -> CaseRun:
    """``result`` with what was measured: timed candidates have the Configs of their best time, and
    one that ran wrongly with every Config is refused."""
    candidates = tuple(
        _with(c, [m for m in tuned.measured if m.digest == c.digest], tuned) if c.holds else c
        for c in result.candidates
    )
    found = replace(
        result,
        candidates=candidates,
        winner=best(candidates),
        untimed="" if tuned.winner else tuned.why,
    )
    return in_words(found, machine)


def in_words(result: CaseRun, machine: Machine) -> CaseRun:
    """``result`` with what was executed on ``machine``, in words, beside each timed candidate."""
    candidates = tuple(
        replace(c, device=_executed(result.case, c, machine)) if c.stage is Stage.TIMED else c
        for c in result.candidates
    )
    winner = next(
        (c for c in candidates if result.winner and c.digest == result.winner.digest), None
    )
    return replace(result, candidates=candidates, winner=winner)


def _with(candidate: Candidate, measured: Sequence[Measured], tuned: Tuned) -> Candidate:
    won = tuned.winner
    if won is not None and won.digest == candidate.digest:
        chosen = next(m for m in measured if m.point == won.point)
        return _timed(candidate, replace(chosen, point=won.point), won=True)
    timed = [m for m in measured if m.outcome.figures is not None]
    if timed:
        return _timed(candidate, min(timed, key=_us), won=False)
    wrong = [m for m in measured if m.outcome.stage in ("run", "floats")]
    if wrong and len(wrong) == len(measured):
        last = wrong[-1].outcome
        why = f"on the device, {last.stage}: {last.why}"
        return replace(candidate, stage=Stage.REFUSED, why=why)
    return candidate


def _timed(candidate: Candidate, one: Measured, won: bool) -> Candidate:
    return replace(
        candidate,
        stage=Stage.TIMED,
        configs=one.point.launches,
        model_us=one.point.model_us,
        share=candidate.share * candidate.model_us / one.point.model_us,  # the roofline is the same
        facts=one.outcome.facts or candidate.facts,
        timed=one.outcome.figures,
        device_error=one.outcome.error,
        won=won,
    )


def _executed(case: Case, candidate: Candidate, machine: Machine) -> str:
    """What was executed on the device, for the certificate."""
    sizes = " ".join(f"{a}={n}" for a, n in case.sizes.items())
    text = f"{case.name} on {machine.gpu}, {case.storage}{', tf32' if case.tf32 else ''} ({sizes})"
    if candidate.device_error is not None:
        seen, limit = candidate.device_error
        text += f": relative error {seen:.1e} (limit {limit:.1e})"
    return f"{text}, compared at sampled positions; two runs with the same bits"


def _us(one: Measured) -> float:
    return one.outcome.figures.us if one.outcome.figures else float("inf")


def timing_of(machine: Machine, tuned: Iterable[Tuned], before: Timing) -> Timing:
    """All that was measured, for run.json; what ``before`` says of other cases stays."""
    new = list(tuned)
    names = {t.case for t in new}
    kept = [m for m in before.measured if m.case not in names] if before.machine == machine else []
    entries = [*kept, *(_entry(t.case, m) for t in new for m in t.measured)]
    peers = [p for p in before.peers if p.case not in names and before.machine == machine]
    return Timing(machine, tuple(entries), tuple(peers))


def _entry(case: str, one: Measured) -> MeasuredTime:
    outcome, figures = one.outcome, one.outcome.figures
    return MeasuredTime(
        case=case,
        digest=one.digest,
        configs=one.point.launches,
        status=outcome.status,
        stage=outcome.stage,
        why=outcome.why,
        us=figures.us if figures else None,
        low=figures.low if figures else None,
        high=figures.high if figures else None,
        rounds=figures.rounds if figures else 0,
        error=outcome.error,
        model_us=one.point.model_us,
        order=one.order,
        seconds=one.seconds,
    )
