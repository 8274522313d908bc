"""``superopt mutate``: one thing changed in a right kernel, and which reading finds it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.progress import SpinnerColumn
from rich.progress import TextColumn
from rich.progress import TimeElapsedColumn

from superopt.certificate import Certificate
from superopt.certificate import certificate_path
from superopt.certificate import read_certificate
from superopt.commands.console import error_console
from superopt.commands.console import line_console
from superopt.emit.plan import Row
from superopt.errors import INTERRUPTED
from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED
from superopt.mutate.execution import executed
from superopt.mutate.graph import graph_mutants
from superopt.mutate.graph_outcome import graph_outcome
from superopt.mutate.judge import EQUIVALENT
from superopt.mutate.judge import NOT_JUDGED
from superopt.mutate.judge import Outcome
from superopt.mutate.judge import outcome
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.outcome import Subject
from superopt.mutate.source import balanced
from superopt.mutate.source import drawn
from superopt.mutate.source import source_mutants
from superopt.mutate.table import counted
from superopt.mutate.table import lines
from superopt.report.directory import kernel_of
from superopt.verify.run.execute import Runner
from superopt.verify.source.load import read_text

OF_GRAPHS = 5  # one in so many mutants is of the graph, the others are of its text


@dataclass(frozen=True)
class Work:
    """What is judged of one graph of a file: ``texts`` and ``graphs`` are how many mutants there
    are, ``left`` those that were drawn and are still to be judged."""

    kernel: str
    index: int
    texts: int
    graphs: int
    drawn: int
    left: Iterator[Outcome]


def run_mutate(target: str, count: int, seed: int) -> int:
    """``count`` mutants of a kernel file, or of the winner of a search for each spec of a file.

    0 if each is found, or shown to compute the same; 1 if one survives, or there is no kernel. An
    interrupt ends it; what was judged until then is printed.

    Raises:
        UserError: the file, its certificate, or the spec is missing or unreadable.
    """
    console = line_console()
    path = kernel_of(Path(target))
    if certificate_path(path).exists():
        return _mutate(console, path, count, seed)
    codes: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, kernel in _searched(target, seed, Path(folder)):
            if kernel is None:
                console.print(f"{name}: no kernel was verified")
                codes.append(NONE_FOUND)
            else:
                codes.append(_mutate(console, kernel, count, seed))
            if codes[-1] == INTERRUPTED:
                break
    return max(codes, default=NONE_FOUND)


def _searched(target: str, seed: int, folder: Path) -> Iterator[tuple[str, Path | None]]:
    """Each spec of a file, and the kernel file of a short search for it."""
    from superopt.commands.asked import parse_budget
    from superopt.commands.asked import select
    from superopt.device import target as device_of
    from superopt.loading import load
    from superopt.pipeline import search_function
    from superopt.report.live import Progress as Live

    budget, device = parse_budget("100"), device_of("h200")
    for spec, cases in select(target, load(target), ()):
        work = folder / spec.name
        work.mkdir()
        with Live(error_console()) as live:
            run = search_function(spec, cases, device, budget, seed, work, live, 1)
        yield spec.name, work / run.kernel.name if run.kernel else None


def _mutate(console: Console, kernel: Path, count: int, seed: int) -> int:
    certificate = read_certificate(kernel)
    found: list[tuple[str, Outcome]] = []
    share = max(1, count // len(certificate.graphs))
    interrupted = False
    with Runner() as runner, _progress() as progress:
        task = progress.add_task("mutants", total=None)
        try:
            for index in range(len(certificate.graphs)):
                work = _work(certificate, kernel, index, share, seed, runner)
                console.print(
                    f"{work.kernel}, graph {index}: {work.drawn} mutants of "
                    f"{work.texts} of the text and {work.graphs} of the graph"
                )
                for judged in work.left:
                    found.append((judged.kind, judged))
                    progress.update(task, description=_state(found))
                    _show(console, judged)
        except KeyboardInterrupt:
            interrupted = True
    for line in lines("kind", counted(found)):
        console.print(line)
    survived = sum(o.by == SURVIVED for _, o in found)
    unjudged = sum(o.by == NOT_JUDGED for _, o in found)
    aside = f", {unjudged} not judged" if unjudged else ""
    console.print(f"{len(found)} mutants, {survived} survived{aside}")
    if interrupted:
        return INTERRUPTED
    return NONE_FOUND if survived else VERIFIED


def _show(console: Console, judged: Outcome) -> None:
    """What no reading found, with its reason if there is one."""
    if judged.by in (SURVIVED, NOT_JUDGED, EQUIVALENT):
        said = f": {judged.said}" if judged.said else ""
        console.print(f"{judged.by}{said} ({judged.kind})\n{judged.diff}")


def _work(
    certificate: Certificate, kernel: Path, index: int, count: int, seed: int, runner: Runner
) -> Work:
    """The mutants of the text and of the graph of one number."""
    graph, program = certificate.graphs[index], certificate.program
    subject = Subject(kernel.stem, read_text(kernel), program, graph, index, seed)
    texts = source_mutants(subject.text, program.name, index)
    graphs = tuple(graph_mutants(graph))
    some = drawn(graphs, count // OF_GRAPHS, seed)
    others = balanced(texts, count - len(some), seed)

    def outcomes() -> Iterator[Outcome]:
        for mutant in others:
            yield outcome(subject, mutant, floats=floats)
        for changed in some:
            yield graph_outcome(subject, changed, _row(certificate, index))

    def floats(text: str) -> str:
        return executed(subject, certificate.graphs, text, runner)

    chosen = len(some) + len(others)
    return Work(kernel.stem, index, len(texts), len(graphs), chosen, outcomes())


def _row(certificate: Certificate, index: int) -> Row:
    """A row of the file that dispatches to the graph."""
    return next(r for r in certificate.rows if r.graph == index)


def _state(found: list[tuple[str, Outcome]]) -> str:
    by = Counter(o.by for _, o in found)
    return f"{len(found)} judged: " + ", ".join(f"{n} {who}" for who, n in by.most_common())


def _progress() -> Progress:
    """On the error stream, and on a terminal only."""
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    console = error_console()
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
