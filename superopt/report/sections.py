"""Sections of the markdown page: the four lists of evidence, and each graph that won."""

from __future__ import annotations

from collections.abc import Iterator

from superopt.report import tables
from superopt.report.claims import Lists
from superopt.report.claims import claims
from superopt.report.claims import sorted_out
from superopt.report.evidence import assumed
from superopt.report.evidence import measured
from superopt.report.evidence import winners
from superopt.report.measured import cell
from superopt.report.roles import told as said_of_roles
from superopt.report.told import HOW_TO_READ
from superopt.report.told import repairs_of
from superopt.report.told import step
from superopt.run import Candidate
from superopt.run import Run
from superopt.ugraph.text import show
from superopt.verify.run.checks import Figure
from superopt.verify.run.checks import FloatReport

LONG = 24  # rows of a table from which on it is folded


def evidence(run: Run) -> Iterator[str]:
    """Proved, sampled, measured, assumed; and what is open, if anything is."""
    lists = sorted_out(c for c in claims(run) if c.won)
    yield "## Evidence on the winners"
    yield ""
    proved, sampled, still_open = tables.of_lists(lists)
    for table in (proved, sampled):
        yield from _titled(table)
    for title, lines in (("Measured", measured(run)), ("Assumed", assumed(run))):
        yield f"### {title}"
        yield ""
        yield from (f"* {cell(line)}" for line in lines)
        yield ""
    if still_open.rows:
        yield from _titled(still_open)


def others(run: Run) -> Iterator[str]:
    """The evidence on graphs that did not win, folded."""
    lists: Lists = sorted_out(c for c in claims(run) if not c.won)
    found = [t for t in tables.of_lists(lists) if t.rows]
    if not found:
        return
    yield "## Evidence on other candidates"
    yield ""
    for table in found:
        yield from folded(table, 0)


def graphs(run: Run) -> Iterator[str]:
    """Derivation, repairs, executions and text of every graph that won."""
    for winner, names in winners(run):
        yield f"## Graph `{winner.digest[:12]}`"
        yield ""
        yield f"Wins {', '.join(names)}."
        yield ""
        yield from _derivation(winner)
        yield from _repairs(winner)
        yield from _executions(winner)
        own = [(c.case.name, c.winner) for c in run.cases if c.winner and c.case.name in names]
        yield from folded(tables.compiled(own))
        yield from _roles(run, names)
        if winner.why:
            yield f"Note: {cell(winner.why)}"
            yield ""
        yield "```"
        yield show(winner.graph).rstrip()
        yield "```"
        yield ""


def _roles(run: Run, names: tuple[str, ...]) -> Iterator[str]:
    """What warps do, of the cases ``names``; those of which the same is said together."""
    found: dict[tuple[str, ...], list[str]] = {}
    for one in run.cases:
        if one.winner and one.case.name in names:
            lines = tuple(said_of_roles(one.winner, one.case, run.target))
            found.setdefault(lines, []).append(one.case.name)
    for lines, cases in found.items():
        yield f"Roles of warps ({', '.join(cases)}):"
        yield ""
        yield from ("```", *lines, "```", "")


def folded(table: tables.Table, most: int = LONG) -> Iterator[str]:
    """``table`` under its title; one with more than ``most`` rows is opened by the reader."""
    if not table.rows:
        return
    long = len(table.rows) > most
    yield f"<details><summary>{table.title}</summary>" if long else f"{table.title}"
    yield ""
    yield from grid(table)
    yield from ("</details>", "") if long else ()


def grid(table: tables.Table) -> Iterator[str]:
    """The rows of ``table`` alone."""
    yield f"| {' | '.join(table.heads)} |"
    yield "|---" * len(table.heads) + "|"
    yield from (f"| {' | '.join(map(cell, row))} |" for row in table.rows)
    yield ""


def _titled(table: tables.Table) -> Iterator[str]:
    yield f"### {table.title}"
    yield ""
    yield from grid(table) if table.rows else ("Nothing.", "")


def _derivation(winner: Candidate) -> Iterator[str]:
    yield "Derivation:"
    yield ""
    if not winner.derivation:
        yield "1. as written"
    for number, law in enumerate(map(step, winner.derivation), 1):
        yield f"{number}. {cell(law.law)}{f': `{law.statement}`' if law.statement else ''}"
        if law.before:
            yield f"   * before: `{law.before}`"
            yield f"   * after: `{law.after}`"
    yield ""


def _repairs(winner: Candidate) -> Iterator[str]:
    found = repairs_of(winner)
    if found:
        yield f"Repairs: {HOW_TO_READ}"
        yield ""
    for number, told in enumerate(found):
        yield f"* Repair {number}: {told.title}"
        yield from (f"  * {part}: `{line}`" for part, line in told.lines)
    yield from [""] if found else []


def _executions(winner: Candidate) -> Iterator[str]:
    """One row a dtype: how many executions, and which came nearest to its limit."""
    if not winner.figures:
        return
    report = FloatReport(winner.figures, winner.skipped)
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
    yield ""


def _sizes(figure: Figure) -> str:
    return " ".join(f"{a}={n}" for a, n in figure.sizes)
