"""The last of the readings: a mutant's text in Triton's interpreter, against the tolerance."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path

from superopt.mutate.outcome import Subject
from superopt.ugraph.levels import KernelGraph
from superopt.verify.run.checks import check_floats
from superopt.verify.run.execute import Runner

Floats = Callable[[str], str]  # what is wrong with a text, if anything


def executed(subject: Subject, graphs: Sequence[KernelGraph], text: str, runner: Runner) -> str:
    """The first figure of a text that is not within its limits; empty if all are.

    ``graphs``: all of the file, in its order.
    """
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
            stop_early=True,
        )
    return str(report.failures[0]) if report.failures else ""
