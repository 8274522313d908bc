"""What stands behind a run's winners besides verdicts: in one line, measured, and assumed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from superopt.report.claims import Claim
from superopt.report.claims import claims
from superopt.report.claims import sorted_out
from superopt.report.measured import executed
from superopt.report.measured import spread
from superopt.report.measured import untimed_words
from superopt.report.summary import winning
from superopt.run import Candidate
from superopt.run import Run
from superopt.verify.run.checks import FloatReport

ASSUMED = (
    "Inputs are finite where a proof speaks of them; NaN and infinities in inputs are covered by "
    "execution only.",
    "Graph equality is over the reals; rounding is covered by the executions, which compare with "
    "the float64 meaning of the spec.",
)


def verdict_words(run: Run) -> str:
    """What became of the run, no stronger than what was checked."""
    won = sum(c.winner is not None for c in run.cases)
    if not run.kernel:
        return "no verified kernel"
    return "verified" if run.verified else f"verified for {won} of {len(run.cases)} cases"


def summary(run: Run) -> str:
    """The evidence on the winners in one line."""
    chosen = winners(run)
    if not chosen:
        return "There is no winner, so nothing is claimed."
    lists = sorted_out(c for c in claims(run) if c.won)
    figures = [f for winner, _ in chosen for f in winner.figures]
    dtypes = ", ".join(dict.fromkeys(f.dtype for f in figures))
    failed = sum(not f.ok for f in figures)
    limits = f"{failed} not within their limits" if failed else "all within their limits"
    compared = f"{len(figures)} outputs compared ({dtypes}), {limits}" if figures else "none"
    timed = sum(winning(c, run.timing.of(c.case.name)) is not None for c in run.cases)
    clock = f"{timed} of {len(run.cases)} cases timed on a GPU" if timed else "nothing timed"
    return f"Claims: {lists.words}. Executions: {compared}. Times: {clock}."


def winners(run: Run) -> list[tuple[Candidate, tuple[str, ...]]]:
    """The distinct graphs that won, each with the names of its cases.

    The candidate is that of the first case, with the executions of all of them.
    """
    found: dict[str, list[tuple[str, Candidate]]] = {}
    for result in run.cases:
        if result.winner is not None:
            found.setdefault(result.winner.digest, []).append((result.case.name, result.winner))
    return [
        (
            replace(
                group[0][1],
                figures=tuple(dict.fromkeys(f for _, c in group for f in c.figures)),
                skipped=tuple(dict.fromkeys(text for _, c in group for text in c.skipped)),
            ),
            tuple(name for name, _ in group),
        )
        for group in found.values()
    ]


def measured(run: Run) -> Iterator[str]:
    """One line for what was executed, compiled, and timed of the winners."""
    for winner, names in winners(run):
        for line in _executions(winner):
            yield f"{winner.digest[:12]} ({', '.join(names)}): {line}"
    for result in run.cases:
        timing = run.timing.of(result.case.name)
        if (found := winning(result, timing)) is None:
            continue
        error = ""
        if found.error is not None:
            error = f"; error on the device {found.error[0]:.1e} (limit {found.error[1]:.1e})"
        yield f"Case {result.case.name}: {spread(found)} in {found.rounds} rounds{error}."
    yield from without(run)
    yield from executed(run)


def without(run: Run) -> Iterator[str]:
    """Which cases have no verified kernel or no time, by reason."""
    found: dict[str, list[str]] = {}
    for result in run.cases:
        timing = run.timing.of(result.case.name)
        if result.winner is None:
            found.setdefault("no verified kernel", []).append(result.case.name)
        elif winning(result, timing) is None:
            why = f"not timed: {untimed_words(result, timing)}"
            found.setdefault(why, []).append(result.case.name)
    for why, names in found.items():
        yield f"Case{'s' if len(names) > 1 else ''} {', '.join(names)}: {why}."


def _executions(winner: Candidate) -> Iterator[str]:
    report = FloatReport(winner.figures, winner.skipped)
    for dtype in dict.fromkeys(f.dtype for f in winner.figures):
        times = sum(f.dtype == dtype for f in winner.figures)
        failed = sum(f.dtype == dtype for f in report.failures)
        word = "all within their limits" if not failed else f"{failed} NOT within their limits"
        worst = report.worst(dtype)
        assert worst
        yield f"{times} outputs in {dtype} compared, {word}; the nearest used {worst.used:.0%}"
    yield from (f"not executed: {text}" for text in winner.skipped)


def assumed(run: Run) -> Iterator[str]:
    """What nothing above covers, and the facts under which proofs and samples of winners hold:
    each once, in one line with those of the same claims."""
    yield from ASSUMED
    uses: dict[str, list[Claim]] = {}
    for claim in claims(run):
        for fact in dict.fromkeys(claim.facts) if claim.won else ():
            uses.setdefault(fact, []).append(claim)
    alike: dict[tuple[str, ...], list[str]] = {}
    for fact, users in uses.items():
        alike.setdefault(tuple(dict.fromkeys(c.text for c in users)), []).append(fact)
    for texts, facts in alike.items():
        more = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
        yield f"{texts[0]}{more}, given that: {'; '.join(facts)}"
