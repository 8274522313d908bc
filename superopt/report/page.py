"""report.html: one page that stands alone, with the figures in it and the numbers beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from superopt.certificate import read_certificate
from superopt.device import target
from superopt.report import plots
from superopt.report import roof
from superopt.report import tables
from superopt.report.claims import claims
from superopt.report.claims import sorted_out
from superopt.report.evidence import assumed
from superopt.report.evidence import measured
from superopt.report.evidence import summary
from superopt.report.evidence import verdict_words
from superopt.report.evidence import without
from superopt.report.figure import Shown
from superopt.report.figure import shown
from superopt.report.hints import hint
from superopt.report.measured import winner_words
from superopt.report.summary import best_so_far
from superopt.report.summary import correlation
from superopt.report.summary import funnel
from superopt.report.summary import winning
from superopt.report.told import HOW_TO_READ
from superopt.report.winner import shown_winners
from superopt.run import CaseRun
from superopt.run import Run
from superopt.tune.roofline import work
from superopt.tune.timing import Timing
from superopt.ugraph.structure import structure

TEMPLATE = Path(__file__).with_name("page.html")
PEERS_SPEEDUP = "Ours against the peers"


@dataclass(frozen=True)
class Part:
    """What the page shows of one case. ``hint``: if it is far below its roofline."""

    name: str
    sizes: str
    summary: str
    hint: str
    funnel: Shown
    progress: Shown | None
    scatter: Shown | None
    tables: tuple[tables.Table, ...]


def page(run: Run) -> str:
    """The page; the same run gives the same bytes.

    Raises:
        UserError: the certificate of a run with times is missing or damaged.
    """
    from jinja2 import Environment
    from jinja2 import StrictUndefined

    found = claims(run)
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(
        TEMPLATE.read_text()
    )
    return (
        template.render(
            run=run,
            machine=run.timing.machine,
            notes=list(without(run)),
            overview=tables.trimmed(tables.overview(run)),
            roof=_roof(run),
            peers_figure=_peers_figure(run),
            peers=tables.peers(run),
            cases=[_part(c, run.timing.of(c.case.name), run.target) for c in run.cases],
            verdict=verdict_words(run),
            summary=summary(run),
            lists=tables.of_lists(sorted_out(c for c in found if c.won)),
            others=tables.of_lists(sorted_out(c for c in found if not c.won)),
            measured=list(measured(run)),
            assumed=list(assumed(run)),
            winners=shown_winners(run),
            how_to_read=HOW_TO_READ,
        )
        + "\n"
    )


def _roof(run: Run) -> Shown | None:
    reached = []
    program = None
    for c in run.cases:
        timing = run.timing.of(c.case.name)
        found = winning(c, timing)
        if found is None or found.us is None or run.kernel is None:
            continue
        program = program or read_certificate(run.kernel).program
        dtype = c.case.dtype or ""
        reached.append(
            roof.Reached(
                c.case.name,
                work(program, c.case.sizes, dtype, dict(c.case.scalars)),
                "tf32" if c.case.tf32 and dtype == "fp32" else dtype,
                found.us,
                tuple(m.us for m in timing.last if m.us is not None and m is not found),
            )
        )
    if not reached:
        return None
    caption = (
        "Work is that of the operator as written, without what masks of positions leave out; "
        "masks that depend on data are not counted as work saved."
    )
    return shown(
        f"What was reached of the {run.target}", caption, roof.roofline(reached, target(run.target))
    )


def _peers_figure(run: Run) -> Shown | None:
    rows = [
        plots.Speedup(
            p.case,
            p.name,
            p.ratio,
            p.ratio_low or p.ratio,
            p.ratio_high or p.ratio,
            p.mode,
            yardstick=p.yardstick,
        )
        for p in run.timing.peers
        if p.ratio is not None
    ]
    if not rows:
        return None
    caption = "Medians of the ratios of neighbours in interleaved rounds; bars are quartiles."
    return shown(PEERS_SPEEDUP, caption, plots.speedups(rows))


def _part(result: CaseRun, timing: Timing, target: str) -> Part:
    case = result.case
    sizes = ", ".join(f"{a} = {n}" for a, n in case.sizes.items())
    trials = _trials(result, timing)
    last = _trials(result, Timing(timing.machine, timing.last))
    return Part(
        case.name,
        f"{sizes}; {case.dtype}{', tf32' if case.tf32 else ''}",
        f"{winner_words(result, timing)}; {_sums(result)}",
        hint(result, target),
        shown(
            f"Funnel of {case.name}",
            "Left: seen = duplicates + rejected + pruned + built. Right, if timed: every graph "
            "with its Configs that went to the device failed at a stage, or has a time.",
            plots.funnel(funnel(result, timing)),
        ),
        shown(
            f"Candidates of {case.name} over time",
            "Every measurement; one that was measured again, more exactly, is shown each time.",
            plots.progress(trials, best_so_far(timing)),
        )
        if any(t.us is not None for t in trials)
        else None,
        shown(
            f"Model against measurement, {case.name}",
            "The last measurement of every graph with its Configs.",
            plots.scatter(last, correlation(timing)),
        )
        if any(t.us is not None for t in last)
        else None,
        (tables.gone(result), tables.fastest(result, timing), tables.failures(timing)),
    )


def _sums(result: CaseRun) -> str:
    counts = result.counts
    parts = (
        (counts.duplicates, "duplicates"),
        (sum(n for _, n in counts.rejected), "rejected"),
        (sum(n for _, n in counts.pruned), "pruned"),
        (counts.built, "built"),
    )
    end = "" if counts.complete else "; the search ended before the whole space was seen"
    return f"seen {counts.seen} = {' + '.join(f'{n} {word}' for n, word in parts)}{end}"


def _trials(result: CaseRun, timing: Timing) -> list[plots.Trial]:
    names = {c.digest: f"{c.digest[:6]}: {_kernels(len(structure(c.graph)))}"
             for c in result.candidates}  # fmt: skip
    return [
        plots.Trial(names.get(m.digest, m.digest[:6]), m.seconds, m.us, m.model_us)
        for m in timing.measured
    ]


def _kernels(number: int) -> str:
    return f"{number} kernel{'s' if number > 1 else ''}"
