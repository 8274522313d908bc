"""What the pages of a run say in numbers: the funnel, progress, shares, model against clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from superopt.report.correlation import spearman
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Stage
from superopt.tune.record import STAGES
from superopt.tune.timing import MeasuredTime
from superopt.tune.timing import Timing

STEP = "file: "  # begins the name of each step that makes a kernel file


@dataclass(frozen=True)
class Funnel:
    """What became of everything, in three steps that each add up.

    ``seen == built + duplicates + rejected + pruned``; ``built`` is the sum of ``stages``
    (how far a built candidate came); ``tried`` (pairs of a graph and its Configs that went to
    the device) is ``timed`` plus the sum of ``failed`` (by stage).
    """

    seen: int
    duplicates: int
    rejected: int
    pruned: int
    built: int
    stages: tuple[tuple[str, int], ...]
    tried: int
    failed: tuple[tuple[str, int], ...]
    timed: int

    @property
    def compiled(self) -> int:
        """Those of ``tried`` that compiled."""
        return self.tried - dict(self.failed).get(STAGES[0], 0)

    @property
    def adds_up(self) -> bool:
        """Whether all three steps do."""
        return (
            self.seen == self.built + self.duplicates + self.rejected + self.pruned
            and self.built == sum(n for _, n in self.stages)
            and self.tried == self.timed + sum(n for _, n in self.failed)
        )


def funnel(result: CaseRun, timing: Timing) -> Funnel:
    """The funnel of one case, ``timing`` being the case's."""
    counts = result.counts
    last = timing.last
    stages = [(s.value, sum(c.stage is s for c in result.candidates)) for s in Stage]
    failed = [(s, sum(m.stage == s for m in last)) for s in STAGES]
    return Funnel(
        counts.seen,
        counts.duplicates,
        sum(n for _, n in counts.rejected),
        sum(n for _, n in counts.pruned),
        counts.built,
        tuple((s, n) for s, n in stages if n),
        len(last),
        tuple((s, n) for s, n in failed if n),
        sum(m.timed for m in last),
    )


def why_none(result: CaseRun) -> list[str]:
    """Why a case has no winner, the most frequent reason first: what refused its candidates, or,
    where none was built, what rejected them."""
    refused = Counter(c.why for c in result.candidates if c.stage is Stage.REFUSED)
    word, found = "refused", list(refused.items())
    if not result.candidates:
        word, found = "rejected", list(result.counts.rejected)
    ranked = sorted(found, key=lambda pair: (-pair[1], pair[0]))
    return [f"{word} {number}: {why}" for why, number in ranked]


def correlation(timing: Timing) -> float | None:
    """How well the model ranks what was timed: Spearman's, over all (graph, Configs)."""
    timed = [(m.model_us, m.us) for m in timing.last if m.us is not None]
    return spearman([a for a, _ in timed], [b for _, b in timed])


def least_us(candidate: Candidate) -> float:
    """Microseconds that the roofline allows the candidate's case."""
    return candidate.share * candidate.model_us


def winning(result: CaseRun, timing: Timing) -> MeasuredTime | None:
    """The last measurement of the winner with its Configs, None if it has no time."""
    winner = result.winner
    if winner is None:
        return None
    for found in timing.last:
        if found.timed and found.digest == winner.digest and found.configs == winner.configs:
            return found
    return None


def measured_share(result: CaseRun, found: MeasuredTime) -> float | None:
    """The roofline's least time over the measured one."""
    by_digest = {c.digest: c for c in result.candidates}
    if found.us is None or found.digest not in by_digest:
        return None
    return least_us(by_digest[found.digest]) / found.us


def best_so_far(timing: Timing) -> list[tuple[float, float]]:
    """(seconds, best microseconds until then) at every improvement, in order of time."""
    found: list[tuple[float, float]] = []
    for m in sorted(timing.measured, key=lambda m: (m.seconds, m.order)):
        if m.us is not None and (not found or m.us < found[-1][1]):
            found.append((m.seconds, m.us))
    return found


def made_in(seconds: Mapping[str, float]) -> str:
    """How long the kernel file took, by ``seconds`` of a run; some steps go on side by side."""
    steps = {k.removeprefix(STEP): s for k, s in seconds.items() if k.startswith(STEP)}
    each = ", ".join(f"{step} {s:.1f}" for step, s in steps.items())
    return f"kernel file made and checked in {seconds['assemble']:.1f} s: {each}"
