"""The last of the readings: a mutant's text in Triton's interpreter, against the tolerance."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from superopt.mutate.outcome import Subject
from superopt.ugraph.levels import KernelGraph
from superopt.verify.run.checks import Figure
from superopt.verify.run.checks import check_floats
from superopt.verify.run.execute import Runner

Floats = Callable[[str], str]  # what is wrong with a text, if anything


def executed(subject: Subject, graphs: Sequence[KernelGraph], text: str, runner: Runner) -> str:
    """The first figure of a text that is not within its limits, and is for the subject's own text;
    empty if there is none.

    ``graphs``: all of the file, in its order.
    """
    own = _wrong_anyway(subject, tuple(graphs), runner)
    failures = _failures(subject, tuple(graphs), text, runner, stop_early=not own)
    return next((str(f) for f in failures if _call(f) not in own), "")


@lru_cache(maxsize=4)
def _wrong_anyway(
    subject: Subject, graphs: tuple[KernelGraph, ...], runner: Runner
) -> frozenset[tuple[object, ...]]:
    """The calls at which the subject's own text is not within its limits: they say nothing."""
    text = subject.text.text
    return frozenset(map(_call, _failures(subject, graphs, text, runner, stop_early=False)))


def _call(figure: Figure) -> tuple[object, ...]:
    return figure.label, figure.dtype, figure.graph, figure.sizes, figure.output


def _failures(
    subject: Subject,
    graphs: tuple[KernelGraph, ...],
    text: str,
    runner: Runner,
    stop_early: bool,
) -> tuple[Figure, ...]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{subject.function}.py"
        file.write_text(text)
        report = check_floats(
            file,
            subject.function,
            subject.program,
            graphs,
            seed=subject.seed,
            runner=runner,
            stop_early=stop_early,
        )
    return report.failures
