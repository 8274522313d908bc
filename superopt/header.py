"""The comments at the top of a kernel file: spec, derivation, verdict and tuning."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from collections.abc import Sequence

from superopt.emit.module import MARKER
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.text import digest
from superopt.verify.readings import together
from superopt.verify.verdict import spoken

TITLES = ("# Spec:", "# Derivation:", "# Verdict:", "# Tuning:")
WIDTH = 96  # "#   " comes before each line

NOT_DONE = "Not executed: bf16, and compiled code on a GPU. Ranked by the model, not timed."


def header(
    source: str, results: Sequence[CaseRun], graphs: Sequence[KernelGraph], rows: Sequence[Row]
) -> Header:
    """The header of the file that holds ``graphs``, the winners of ``results``; no clock is in it.

    ``source``: the text of the spec.
    """
    derivation: list[str] = []
    verdict: list[str] = []
    for index, graph in enumerate(graphs):
        won = [r for r in results if r.winner is not None and r.winner.graph == graph]
        winner = next(r.winner for r in won if r.winner is not None)
        title = title_of(index, graph, [r.case.name for r in won])
        derivation += [title, *(f"  {line}" for line in _derivation(winner))]
        verdict += [title, *(f"  {line}" for line in _verdict(winner))]
    return Header(
        source,
        wrapped(derivation),
        wrapped([*verdict, *_not_done(results)]),
        tuning(rows, results),
    )


def title_of(index: int, graph: KernelGraph, cases: Sequence[str]) -> str:
    """The line above what is said of a graph of the file, the winner of ``cases``."""
    return f"graph {index} ({digest(graph)[:12]}), for {', '.join(cases)}:"


def written(text: str) -> Header:
    """The header of a printed file, read back."""
    blocks: dict[str, list[str]] = {}
    for line in text.partition(f"{MARKER}\n")[0].splitlines()[1:]:
        title = line.removeprefix("# ").removesuffix(":").lower()
        if line in TITLES:
            blocks[title] = []
        elif line.startswith("# sha256 "):
            break
        elif blocks:
            blocks[list(blocks)[-1]].append(line.removeprefix("#").removeprefix("   "))
    return Header(**{title: "\n".join(lines).strip("\n") for title, lines in blocks.items()})


def wrapped(lines: Sequence[str], width: int = WIDTH) -> str:
    """``lines``, each broken at spaces to ``width`` columns; what follows is indented deeper."""
    found: list[str] = []
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        found += textwrap.wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(found)


def _derivation(winner: Candidate) -> Iterator[str]:
    yield from winner.derivation or ("as written",)
    yield from winner.repairs


def _verdict(winner: Candidate) -> Iterator[str]:
    for claim, verdict in together(winner.evidence):
        yield f"{claim}: {spoken(verdict)}"
    dtypes = " and ".join(dict.fromkeys(f.dtype for f in winner.figures))
    yield f"{len(winner.figures)} executions in {dtypes} on the CPU: within the tolerance"


def _not_done(results: Sequence[CaseRun]) -> Iterator[str]:
    """What was executed on a device, and what was not."""
    won = [(r.case.name, r.winner) for r in results if r.winner is not None]
    yield from (f"executed on the device: {winner.device}" for _, winner in won if winner.device)
    without = [name for name, winner in won if not winner.device]
    if len(without) == len(won):
        yield NOT_DONE
    elif without:
        yield f"{', '.join(without)}: {NOT_DONE[0].lower()}{NOT_DONE[1:]}"


def tuning(rows: Sequence[Row], results: Sequence[CaseRun] = ()) -> str:
    """One line a case, and below it one for the targets that have the same Configs; with the
    times that ``results`` have."""
    return wrapped(list(_tuning(rows, results)))


def _tuning(rows: Sequence[Row], results: Sequence[CaseRun]) -> Iterator[str]:
    times = {r.case.name: r.winner.timed for r in results if r.winner and r.winner.timed}
    for name in dict.fromkeys(r.name for r in rows):
        mine = [r for r in rows if r.name == name]
        first = mine[0]
        sizes = " ".join(f"{a}={n}" for a, n in first.sizes)
        yield f"{name}: {sizes}, {first.dtype}{', tf32' if first.tf32 else ''}, graph {first.graph}"
        if timed := times.get(name):
            yield f"  measured: {timed.us:.1f} us (quartiles {timed.low:.1f} to {timed.high:.1f})"
        for configs in dict.fromkeys(r.configs for r in mine):
            targets = ", ".join(r.target for r in mine if r.configs == configs)
            yield f"  {targets}: {'; then '.join(launch_words(c) for c in configs)}"


def launch_words(config: Config) -> str:
    """One launch in a line: its numbers, and the options that it takes."""
    tiles = " ".join(f"{a}={n}" for a, n in config.tiles)
    parts = f", {config.parts} parts" if config.parts > 1 else ""
    how = ", descriptors" if config.descriptors else ""
    how += f", groups of {config.group}" if config.group != 1 else ""
    how += ", dependent" if config.dependent else ""
    if config.consumers:
        kind = f", {config.kind}" if config.kind else ""
        return (
            f"tiles {tiles} of each of {config.consumers} consumers beside a producer, "
            f"{config.stages} slots{how}{kind}; else the plain function"
        )
    return f"tiles {tiles or 'none'}{parts}, {config.warps} warps, {config.stages} stages{how}"
