"""report.md: one page for the person who reviews a check-in."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence

from superopt.report.evidence import summary
from superopt.report.evidence import verdict_words
from superopt.report.hints import hint
from superopt.report.measured import cell
from superopt.report.measured import configs_words
from superopt.report.measured import measured
from superopt.report.measured import tried
from superopt.report.measured import winner_words
from superopt.report.sections import evidence
from superopt.report.sections import folded
from superopt.report.sections import graphs
from superopt.report.sections import others
from superopt.report.summary import funnel
from superopt.report.summary import why_none
from superopt.report.tables import Table
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Run
from superopt.run import Stage
from superopt.tune.timing import Timing
from superopt.ugraph.structure import structure

RANKED_SHOWN = 5  # candidates a case that were ranked, but not examined: other structures first


def report(run: Run) -> str:
    """The page as markdown."""
    return "\n".join(_lines(run)).rstrip() + "\n"


def _lines(run: Run) -> Iterator[str]:
    yield f"# {run.name}"
    yield ""
    verdict = verdict_words(run)
    yield f"Target {run.target}, seed {run.seed}, budget {run.budget}: **{verdict}**."
    yield ""
    yield summary(run)
    if run.interrupted:
        yield ""
        yield "The search was interrupted; what follows is the best until then."
    if run.kernel:
        yield ""
        yield f"Kernel file: `{run.kernel.name}`"
    yield ""
    yield from evidence(run)
    yield from graphs(run)
    for result in run.cases:
        yield from _case(result, run.timing.of(result.case.name), run.target)
        yield ""
    yield from others(run)
    if run.substitutes:
        yield ""
        yield "## Substitutes"
        yield ""
        yield from (f"* {cell(text)}" for text in run.substitutes)
    if run.timing.machine is not None:  # else the page is the same for the same seed
        yield ""
        yield f"Seconds of the run: {', '.join(f'{n} {s:.1f}' for n, s in run.seconds)}."


def _case(result: CaseRun, timing: Timing, target: str) -> Iterator[str]:
    case = result.case
    sizes = ", ".join(f"{a}={n}" for a, n in case.sizes.items())
    yield f"## Case {case.name} ({sizes}, {case.dtype}{', tf32' if case.tf32 else ''})"
    yield ""
    yield from _funnel(result, timing)
    yield ""
    if result.winner is None:
        yield _no_winner(result)
        yield ""
        yield from (f"* {cell(why)}" for why in why_none(result))
    else:
        yield f"### Winner `{result.winner.digest[:12]}`: {winner_words(result, timing)}"
        yield ""
        yield f"Configs: {configs_words(result.winner.configs)}"
        if text := hint(result, target):
            yield ""
            yield f"Far from what the device could do: {cell(text)}"
    yield ""
    yield from measured(result, timing)
    yield from _others(result)


def _no_winner(result: CaseRun) -> str:
    if result.counts.seen == 0 and not result.counts.complete:
        return "Not searched: the run ended before."
    if not any(c.stage is not Stage.RANKED for c in result.candidates):
        if result.candidates:
            return "No candidate was examined: the run ended before."
        return "No candidate could be built, for these reasons:"
    return "No candidate passed every check, for these reasons (the last table says which):"


def _funnel(result: CaseRun, timing: Timing) -> Iterator[str]:
    counts = result.counts
    yield "| candidates | number |"
    yield "|---|---|"
    yield f"| seen | {counts.seen} |"
    yield f"| duplicates | {counts.duplicates} |"
    for reason, number in counts.rejected:
        yield f"| rejected: {cell(reason)} | {number} |"
    for bound, number in counts.pruned:
        yield f"| pruned: {cell(bound)} | {number} |"
    yield f"| built | {counts.built} |"
    for stage in Stage:
        number = sum(c.stage is stage for c in result.candidates)
        if number:
            yield f"| of these, {stage.value} | {number} |"
    yield from tried(funnel(result, timing))
    if not counts.complete:
        yield ""
        yield "The search ended before the whole space was seen."


def _others(result: CaseRun) -> Iterator[str]:
    if not result.candidates:
        return
    examined = [c for c in result.candidates if c.stage is not Stage.RANKED]
    ranked = [c for c in result.candidates if c.stage is Stage.RANKED]
    rows = tuple(
        (
            f"`{c.digest[:12]}`",
            c.stage.value,
            f"{c.model_us:.1f}",
            " / ".join(structure(c.graph)),
            _why(c),
        )
        for c in (*examined, *others_first(examined, ranked)[:RANKED_SHOWN])
    )
    heads = ("candidate", "stage", "model us", "kernels", "why")
    yield from folded(Table(f"Candidates: {len(result.candidates)}", heads, rows), 0)
    if len(ranked) > RANKED_SHOWN:
        more = len(ranked) - RANKED_SHOWN
        yield f"Only ranked, and not in the table: {more}; run.json holds them all."


def others_first(examined: Sequence[Candidate], ranked: Sequence[Candidate]) -> list[Candidate]:
    """``ranked`` (the fastest first) with the first of each structure that no examined one has
    before all others: what the search only ranked is mostly the same kernels once more."""
    seen = {structure(c.graph) for c in examined}
    kinds: dict[tuple[str, ...], list[Candidate]] = {}
    for candidate in ranked:
        kinds.setdefault(structure(candidate.graph), []).append(candidate)
    first = [found[0] for kind, found in kinds.items() if kind not in seen]
    return [*first, *(c for c in ranked if c not in first)]


def _why(candidate: Candidate) -> str:
    """Why a candidate is where it is: it was refused, or does not win though the model likes it."""
    spilled = max((f.spill_bytes for f in candidate.facts if f.spills), default=0)
    if candidate.stage is not Stage.VERIFIED or not spilled:
        return candidate.why
    return f"its registers spill ({spilled} B): wins only where all do"
