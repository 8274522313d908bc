"""report.md: one page for the person who reviews a check-in."""

from __future__ import annotations

from collections.abc import Iterator

from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Run
from superopt.run import Stage
from superopt.ugraph.text import show
from superopt.verify.verdict import spoken

ASSUMED = (
    "Inputs are finite where a proof speaks of them; NaN and infinities in inputs are covered by "
    "execution only.",
    "Graph equality is over the reals; rounding is covered by the float figures.",
    "bf16 on this GPU: not executed.",
    "Times are the roofline model's; nothing was timed.",
)


def report(run: Run) -> str:
    """The page as markdown."""
    return "\n".join(_lines(run)) + "\n"


def _lines(run: Run) -> Iterator[str]:
    yield f"# {run.name}"
    yield ""
    word = "verified" if run.verified else "NOT verified"
    yield f"Target {run.target}, seed {run.seed}, budget {run.budget}: **{word}**."
    if run.interrupted:
        yield ""
        yield "The search was interrupted; what follows is the best until then."
    if run.kernel:
        yield ""
        yield f"Kernel file: `{run.kernel.name}`"
    for result in run.cases:
        yield ""
        yield from _case(result)
    yield ""
    yield "## Assumed"
    yield ""
    yield from (f"* {line}" for line in ASSUMED)


def _case(result: CaseRun) -> Iterator[str]:
    case = result.case
    sizes = ", ".join(f"{a}={n}" for a, n in case.sizes.items())
    yield f"## Case {case.name} ({sizes}, {case.dtype}{', tf32' if case.tf32 else ''})"
    yield ""
    yield from _funnel(result)
    if result.winner is None:
        yield ""
        yield "No candidate passed every check."
    else:
        yield ""
        yield from _winner(result.winner)
    yield ""
    yield from _others(result)


def _funnel(result: CaseRun) -> Iterator[str]:
    counts = result.counts
    yield "| candidates | number |"
    yield "|---|---|"
    yield f"| seen | {counts.seen} |"
    yield f"| duplicates | {counts.duplicates} |"
    for reason, number in counts.rejected:
        yield f"| rejected: {_cell(reason)} | {number} |"
    for bound, number in counts.pruned:
        yield f"| pruned: {_cell(bound)} | {number} |"
    yield f"| built | {counts.built} |"
    for stage in Stage:
        number = sum(c.stage is stage for c in result.candidates)
        yield f"| of these, {stage.value} | {number} |"
    if not counts.complete:
        yield ""
        yield "The budget ended the search before the space was exhausted."


def _winner(winner: Candidate) -> Iterator[str]:
    yield (
        f"### Winner `{winner.digest[:12]}`: {winner.model_us:.1f} us by the model, "
        f"{winner.share:.0%} of the roofline"
    )
    yield ""
    yield "Derivation:"
    yield ""
    steps = winner.derivation or ("as written",)
    yield from (f"{i}. {_cell(step)}" for i, step in enumerate(steps, 1))
    if winner.repairs:
        yield ""
        yield "Repair:"
        yield ""
        yield from (f"* {_cell(line)}" for line in winner.repairs)
    yield ""
    yield "| claim | verdict |"
    yield "|---|---|"
    for claim, verdict in winner.evidence:
        yield f"| {_cell(claim)} | {_cell(spoken(verdict))} |"
    if winner.figures:
        yield ""
        yield "| executed | relative error | limit | worst element | limit | |"
        yield "|---|---|---|---|---|---|"
        for f in winner.figures:
            mark = "ok" if f.ok else f"**FAILED** {f.message}"
            sizes = " ".join(f"{a}={n}" for a, n in f.sizes)
            what = f"{f.dtype} {f.label}, {f.output} ({sizes})"
            yield (
                f"| {_cell(what)} | {f.rel:.1e} | {f.rel_limit:.1e} "
                f"| {f.worst:.1e} | {f.worst_limit:.1e} | {_cell(mark)} |"
            )
    if winner.facts:
        yield ""
        yield "| compiled | target | shared memory | registers | spills |"
        yield "|---|---|---|---|---|"
        for fact in winner.facts:
            yield (
                f"| {fact.function} | {fact.target} | {fact.shared_bytes} B "
                f"| {fact.registers} | {fact.spill_bytes} B |"
            )
    yield ""
    yield "```"
    yield show(winner.graph).rstrip()
    yield "```"


def _others(result: CaseRun) -> Iterator[str]:
    yield "| candidate | stage | model us | why |"
    yield "|---|---|---|---|"
    for c in result.candidates:
        yield f"| `{c.digest[:12]}` | {c.stage.value} | {c.model_us:.1f} | {_cell(c.why)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
