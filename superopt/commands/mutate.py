"""``superopt mutate``: one thing changed in a right kernel, and which reading finds it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from superopt.certificate import Certificate
from superopt.certificate import certificate_path
from superopt.certificate import read_certificate
from superopt.commands.console import line_console
from superopt.emit.plan import Row
from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED
from superopt.mutate.execution import executed
from superopt.mutate.graph import graph_mutants
from superopt.mutate.graph_outcome import graph_outcome
from superopt.mutate.judge import EQUIVALENT
from superopt.mutate.judge import Outcome
from superopt.mutate.judge import outcome
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.outcome import Subject
from superopt.mutate.source import balanced
from superopt.mutate.source import drawn
from superopt.mutate.source import source_mutants
from superopt.mutate.table import counted
from superopt.mutate.table import lines
from superopt.verify.run.execute import Runner
from superopt.verify.source.load import read_text

GRAPHS = 4  # source mutants for each mutant of a graph


def run_mutate(target: str, count: int, seed: int) -> int:
    """About ``count`` mutants of a kernel file, or of the winner of a search for a spec.

    0 if each is found, or shown to compute the same; 1 if one survives.

    Raises:
        UserError: the file, its certificate, or the spec is missing or unreadable.
    """
    console = line_console()
    path = Path(target)
    if certificate_path(path).exists():
        return _mutate(console, path, count, seed)
    with tempfile.TemporaryDirectory() as folder:
        found = _searched(target, seed, Path(folder))
        codes = [_mutate(console, kernel, count, seed) for kernel in found]
    return max(codes, default=NONE_FOUND)


def _searched(target: str, seed: int, folder: Path) -> list[Path]:
    """The kernel files of a search for one spec or several."""
    from superopt.commands.search import TimingOptions
    from superopt.commands.search import run_search

    options = TimingOptions(wanted=False)
    run_search(target, (), "h200", "100", seed, folder, None, True, options, 1)
    return sorted(f.with_name(f.name.removesuffix(".cert.json") + ".py")
                  for f in folder.rglob("*.cert.json"))  # fmt: skip


def _mutate(console: Console, kernel: Path, count: int, seed: int) -> int:
    certificate = read_certificate(kernel)
    found: list[tuple[str, Outcome]] = []
    share = max(1, count // len(certificate.graphs))
    with Runner() as runner:
        for index in range(len(certificate.graphs)):
            for judged in _outcomes(certificate, kernel, index, share, seed, runner):
                found.append((judged.kind, judged))
                if judged.by in (SURVIVED, EQUIVALENT):
                    said = f": {judged.said}" if judged.said else ""
                    console.print(escape(f"{judged.by}{said} ({judged.kind})\n{judged.diff}"))
    for line in lines("kind", counted(found)):
        console.print(escape(line))
    survived = sum(o.by == SURVIVED for _, o in found)
    console.print(f"{len(found)} mutants, {survived} survived")
    return NONE_FOUND if survived else VERIFIED


def _outcomes(
    certificate: Certificate, kernel: Path, index: int, count: int, seed: int, runner: Runner
) -> Iterator[Outcome]:
    """Those of the text and of the graph of one number."""
    graph, program = certificate.graphs[index], certificate.program
    subject = Subject(kernel.stem, read_text(kernel), program, graph, index, seed)
    for mutant in balanced(source_mutants(subject.text, program.name, index), count, seed):
        yield outcome(
            subject, mutant, floats=lambda text: executed(subject, certificate.graphs, text, runner)
        )
    row = _row(certificate, index)
    for changed in drawn(tuple(graph_mutants(graph)), max(1, count // GRAPHS), seed):
        yield graph_outcome(subject, changed, row)


def _row(certificate: Certificate, index: int) -> Row:
    """A row of the file that dispatches to the graph."""
    return next(r for r in certificate.rows if r.graph == index)
