"""report.md: one page for the person who reviews a check-in."""

from __future__ import annotations

from collections.abc import Iterator

from superopt.report.measured import cell
from superopt.report.measured import executed
from superopt.report.measured import measured
from superopt.report.measured import tried
from superopt.report.measured import winner_words
from superopt.report.summary import funnel
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Run
from superopt.run import Stage
from superopt.tune.timing import Timing
from superopt.ugraph.structure import structure
from superopt.ugraph.text import show
from superopt.verify.run.checks import Figure
from superopt.verify.run.checks import FloatReport
from superopt.verify.verdict import spoken

ASSUMED = (
    "Inputs are finite where a proof speaks of them; NaN and infinities in inputs are covered by "
    "execution only.",
    "Graph equality is over the reals; rounding is covered by the executions, which compare with "
    "the float64 meaning of the spec.",
)

RANKED_SHOWN = 5  # candidates a case that were ranked, but not examined


def report(run: Run) -> str:
    """The page as markdown."""
    return "\n".join(_lines(run)) + "\n"


def _lines(run: Run) -> Iterator[str]:
    yield f"# {run.name}"
    yield ""
    won = sum(c.winner is not None for c in run.cases)
    word = "no verified kernel"
    if run.kernel:
        word = "verified" if run.verified else f"verified for {won} of {len(run.cases)} cases"
    yield f"Target {run.target}, seed {run.seed}, budget {run.budget}: **{word}**."
    if run.interrupted:
        yield ""
        yield "The search was interrupted; what follows is the best until then."
    if run.kernel:
        yield ""
        yield f"Kernel file: `{run.kernel.name}`"
    for result in run.cases:
        yield ""
        yield from _case(result, run.timing.of(result.case.name))
    yield ""
    yield "## Assumed"
    yield ""
    yield from (f"* {line}" for line in (*ASSUMED, *executed(run)))


def _case(result: CaseRun, timing: Timing) -> Iterator[str]:
    case = result.case
    sizes = ", ".join(f"{a}={n}" for a, n in case.sizes.items())
    yield f"## Case {case.name} ({sizes}, {case.dtype}{', tf32' if case.tf32 else ''})"
    yield ""
    yield from _funnel(result, timing)
    yield ""
    if result.winner is None:
        yield _no_winner(result)
    else:
        yield f"### Winner `{result.winner.digest[:12]}`: {winner_words(result, timing)}"
        yield ""
        yield from _winner(result.winner)
    yield ""
    yield from measured(result, timing)
    yield from _others(result)


def _no_winner(result: CaseRun) -> str:
    if result.counts.seen == 0 and not result.counts.complete:
        return "Not searched: the run ended before."
    if not any(c.stage is not Stage.RANKED for c in result.candidates):
        if result.candidates:
            return "No candidate was examined: the run ended before."
        return "No candidate could be built; the table says why."
    return "No candidate passed every check; the last table says why."


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


def _winner(winner: Candidate) -> Iterator[str]:
    yield "Derivation:"
    yield ""
    steps = winner.derivation or ("as written",)
    yield from (f"{i}. {cell(step)}" for i, step in enumerate(steps, 1))
    if winner.repairs:
        yield ""
        yield "Repair:"
        yield ""
        yield from (f"* {cell(line)}" for line in winner.repairs)
    yield ""
    yield "| claim | verdict |"
    yield "|---|---|"
    for claim, verdict in winner.evidence:
        yield f"| {cell(claim)} | {cell(spoken(verdict))} |"
    yield from _executions(winner)
    yield from _compiled(winner)
    yield ""
    yield "Configs: " + "; ".join(show(c).strip().removeprefix("config ") for c in winner.configs)
    yield ""
    yield "```"
    yield show(winner.graph).rstrip()
    yield "```"


def _executions(winner: Candidate) -> Iterator[str]:
    """One row a dtype: how many executions, and which came nearest to its limit."""
    if not winner.figures:
        return
    report = FloatReport(winner.figures, winner.skipped)
    yield ""
    yield "| executed | times | most of the tolerance used by | error (limit) | element (limit) |"
    yield "|---|---|---|---|---|"
    for dtype in dict.fromkeys(f.dtype for f in winner.figures):
        times = sum(f.dtype == dtype for f in winner.figures)
        if (most := report.worst(dtype)) is None:
            continue
        what = f"{most.label} ({_sizes(most)}), {most.output}: {most.used:.0%}"
        yield (
            f"| {dtype} | {times} | {cell(what)} | {most.rel:.1e} ({most.rel_limit:.1e}) "
            f"| {most.worst:.1e} ({most.worst_limit:.1e}) |"
        )
    yield ""
    labels = "; ".join(dict.fromkeys(f.label for f in winner.figures))
    sizes = ", ".join(dict.fromkeys(f"({_sizes(f)})" for f in winner.figures))
    yield f"Inputs: {cell(labels)}. Sizes: {sizes}."
    failed = [str(f) for f in report.failures]
    yield from (f"* FAILED: {cell(text)}" for text in failed)
    yield from (f"* not executed: {cell(text)}" for text in winner.skipped)


def _sizes(figure: Figure) -> str:
    return " ".join(f"{a}={n}" for a, n in figure.sizes)


def _compiled(winner: Candidate) -> Iterator[str]:
    if winner.facts:
        yield ""
        yield "| compiled for | kernel | shared memory | registers | spills |"
        yield "|---|---|---|---|---|"
        for fact in winner.facts:
            kernel = fact.function.rpartition("_")[2].removeprefix("k")
            yield (
                f"| {fact.target} | {kernel} | {fact.shared_bytes} B "
                f"| {fact.registers} | {fact.spill_bytes} B |"
            )
    if winner.why:
        yield ""
        yield f"Note: {cell(winner.why)}"


def _others(result: CaseRun) -> Iterator[str]:
    if not result.candidates:
        return
    yield "| candidate | stage | model us | kernels | why |"
    yield "|---|---|---|---|---|"
    examined = [c for c in result.candidates if c.stage is not Stage.RANKED]
    ranked = [c for c in result.candidates if c.stage is Stage.RANKED]
    for c in (*examined, *ranked[:RANKED_SHOWN]):
        kernels = cell(" / ".join(structure(c.graph)))
        yield (
            f"| `{c.digest[:12]}` | {c.stage.value} | {c.model_us:.1f} | {kernels} "
            f"| {cell(c.why)} |"
        )
    if len(ranked) > RANKED_SHOWN:
        yield ""
        more = len(ranked) - RANKED_SHOWN
        yield f"And {more} more that are only ranked; run.json holds them all."
