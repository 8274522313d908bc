"""The verdicts of a run, each once, sorted by the strength of their evidence.

A verdict belongs to a graph, and graphs are shared by cases: it is listed once, with the cases.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from superopt.run import Run
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

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
        a repair, or the kernel graph."""
        return self._parts[0]

    @property
    def short(self) -> str:
        """The claim without what ``reading`` says."""
        return self._parts[1]

    @property
    def _parts(self) -> tuple[str, str]:
        """Claims on a text begin with its function and a colon, or with ``text``; those on a repair
        with its number and a comma."""
        function, sign, rest = self.text.rpartition(": ")
        if sign:
            return f"{TEXT} of {function}", rest
        first, sign, rest = self.text.partition(", ")
        if sign and first.startswith("repair "):
            return first, rest
        return TEXT if self.text.startswith("text ") else GRAPH, self.text

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
