"""The table at the end of tuning: what was tried of every structure, and how the model did."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from superopt.report.correlation import spearman
from superopt.run import Run
from superopt.tune.outcome import Measured
from superopt.tune.outcome import Tuned
from superopt.tune.record import STAGES

COLUMNS = ("case", "structure", "tried", "failed", "best us", "model us", "rank correlation", "")


def print_tuning(console: Console, run: Run, tuned: Sequence[Tuned]) -> None:
    """One row a structure and case, and one for each case as a whole."""
    table = Table(title=f"{run.name}: tuning", title_justify="left")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in COLUMNS[:2] else "right", no_wrap=True)
    for one in tuned:
        for digest in dict.fromkeys(m.digest for m in one.measured):
            mine = [m for m in one.measured if m.digest == digest]
            won = one.winner is not None and one.winner.digest == digest
            table.add_row(one.case, digest[:12], *_figures(mine), "winner" if won else "")
        if len({m.digest for m in one.measured}) > 1:
            table.add_row(one.case, "all", *_figures(one.measured), "", end_section=True)
    console.print(table)


def in_a_line(tuned: Tuned) -> str:
    """What came of one case."""
    counts = f"{len(tuned.measured)} Configs tried, {tuned.failed.total()} failed"
    if tuned.winner is None:
        return f"{counts}; no timed kernel: {tuned.why}"
    figures = tuned.winner.figures
    return (
        f"{counts}; winner {tuned.winner.digest[:12]} {figures.us:.1f} us "
        f"({figures.low:.1f} to {figures.high:.1f})"
    )


def _figures(measured: Sequence[Measured]) -> tuple[str, ...]:
    timed = [(m.outcome.figures.us, m.point.model_us) for m in measured if m.outcome.figures]
    failed = [(s, sum(m.outcome.stage == s for m in measured)) for s in STAGES]
    best = min(timed, default=None)
    rank = spearman([us for us, _ in timed], [model for _, model in timed])
    return (
        str(len(measured)),
        ", ".join(f"{n} {stage}" for stage, n in failed if n) or "0",
        f"{best[0]:.1f}" if best else "-",
        f"{best[1]:.1f}" if best else "-",
        f"{rank:.2f}" if rank is not None else "-",
    )
