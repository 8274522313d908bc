"""What a run may claim, in four lists: proved, sampled, measured, assumed; and what is left open.

A verdict belongs to a graph, and graphs are shared by cases: it is listed once, with the cases.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass

from superopt.report.measured import executed
from superopt.report.measured import spread
from superopt.report.measured import untimed_words
from superopt.report.summary import winning
from superopt.run import Candidate
from superopt.run import Run
from superopt.verify.run.checks import Figure
from superopt.verify.run.checks import FloatReport
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

ASSUMED = (
    "Inputs are finite where a proof speaks of them; NaN and infinities in inputs are covered by "
    "execution only.",
    "Graph equality is over the reals; rounding is covered by the executions, which compare with "
    "the float64 meaning of the spec.",
)
TEXT = "printed text"
GRAPH = "kernel graph"


@dataclass(frozen=True)
class Claim:
    """One verdict on one graph. ``digest``: the graph's; ``cases``: by name, where the graph was
    judged so; ``won``: it is the winner of one of them."""

    digest: str
    text: str
    verdict: Verdict
    cases: tuple[str, ...]
    won: bool

    @property
    def reading(self) -> str:
        """What was read to reach the verdict: the printed text (of which function), the algebra of
        a repair, or the kernel graph. Claims say it in front."""
        function, sign, _ = self.text.partition(": ")
        if sign and function.isidentifier():
            return f"{TEXT} of {function}"
        first, sign, _ = self.text.partition(", ")
        if sign and first.startswith("repair "):
            return first
        return TEXT if self.text.startswith("text ") else GRAPH

    @property
    def facts(self) -> tuple[str, ...]:
        """Under which the verdict holds."""
        match self.verdict:
            case Proved(facts=facts) | Sampled(facts=facts):
                return facts
            case _:
                return ()

    @property
    def evidence(self) -> str:
        """How the verdict was reached, without its facts."""
        match self.verdict:
            case Proved(by=by):
                return by
            case Sampled(points=points, log2_bound=bound):
                return f"{points} points; a wrong accept has probability below 2^{bound:.0f}"
            case Refuted(at=at, what=what):
                return f"REFUTED {what} at {', '.join(f'{n} = {v}' for n, v in at)}"
            case Unknown(why=why):
                return f"unknown: {why}"


@dataclass(frozen=True)
class Lists:
    """Claims by the strength of their evidence; ``still_open``: refuted or unknown."""

    proved: tuple[Claim, ...]
    sampled: tuple[Claim, ...]
    still_open: tuple[Claim, ...]

    @property
    def words(self) -> str:
        """Their numbers, and the weakest bound."""
        found = [f"{len(self.proved)} proved", f"{len(self.sampled)} sampled"]
        if self.sampled:
            weakest = max(
                c.verdict.log2_bound for c in self.sampled if isinstance(c.verdict, Sampled)
            )
            found[-1] += f" (a wrong accept has probability below 2^{weakest:.0f} each)"
        refuted = sum(isinstance(c.verdict, Refuted) for c in self.still_open)
        unknown = len(self.still_open) - refuted
        return ", ".join([*found, f"{refuted} refuted", f"{unknown} unknown"])


def claims(run: Run) -> tuple[Claim, ...]:
    """Every verdict of the run, each once, in the order of cases and candidates."""
    cases: dict[tuple[str, str, Verdict], list[str]] = {}
    won: set[str] = set()
    for result in run.cases:
        if result.winner is not None:
            won.add(result.winner.digest)
        for candidate in result.candidates:
            for text, verdict in candidate.evidence:
                seen = cases.setdefault((candidate.digest, text, verdict), [])
                if result.case.name not in seen:
                    seen.append(result.case.name)
    return tuple(
        Claim(digest, text, verdict, tuple(names), digest in won)
        for (digest, text, verdict), names in cases.items()
    )


def sorted_out(found: Iterable[Claim]) -> Lists:
    """``found`` in lists; each claim is in one of them."""
    proved, sampled, still_open = [], [], []
    for claim in found:
        match claim.verdict:
            case Proved():
                proved.append(claim)
            case Sampled():
                sampled.append(claim)
            case Refuted() | Unknown():
                still_open.append(claim)
    return Lists(tuple(proved), tuple(sampled), tuple(still_open))


def winners(run: Run) -> list[tuple[Candidate, tuple[str, ...]]]:
    """The distinct graphs that won, each with the names of its cases; the first case's words."""
    names: dict[str, list[str]] = {}
    first: dict[str, Candidate] = {}
    for result in run.cases:
        if result.winner is not None:
            first.setdefault(result.winner.digest, result.winner)
            names.setdefault(result.winner.digest, []).append(result.case.name)
    return [(candidate, tuple(names[digest])) for digest, candidate in first.items()]


def measured(run: Run) -> Iterator[str]:
    """One line for what was executed, compiled, and timed of the winners."""
    for winner, names in winners(run):
        for line in _executions(winner):
            yield f"{winner.digest[:12]} ({', '.join(names)}): {line}"
    for result in run.cases:
        if (winner := result.winner) is None:
            continue
        timing = run.timing.of(result.case.name)
        found = winning(result, timing)
        if found is None:
            yield f"Case {result.case.name}: not timed: {untimed_words(result, timing)}."
            continue
        error = ""
        if found.error is not None:
            error = f"; error on the device {found.error[0]:.1e} (limit {found.error[1]:.1e})"
        yield f"Case {result.case.name}: {spread(found)} in {found.rounds} rounds{error}."
    yield from executed(run)


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
    """What nothing above covers, and the facts under which proofs and samples of winners hold."""
    yield from ASSUMED
    uses: dict[str, list[Claim]] = {}
    for claim in claims(run):
        for fact in dict.fromkeys(claim.facts) if claim.won else ():
            uses.setdefault(fact, []).append(claim)
    for fact, users in uses.items():
        texts = list(dict.fromkeys(c.text for c in users))
        more = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
        yield f"Taken as given for {texts[0]}{more}: {fact}"


def families(figures: Sequence[Figure]) -> dict[str, list[Figure]]:
    """Figures that were compared with a limit, by family of inputs, in order of appearance."""
    found: dict[str, list[Figure]] = {}
    for figure in figures:
        if figure.rel_limit:
            found.setdefault(figure.label, []).append(figure)
    return found
