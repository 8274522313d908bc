"""A spec's text through the whole line; compilers are left out unless they are asked for."""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from superopt import pipeline
from superopt.budget import Budget
from superopt.device import target
from superopt.errors import UserError
from superopt.loading import load
from superopt.pipeline import search_function
from superopt.report.live import Progress
from superopt.run import Run
from superopt.run import Stage
from superopt.source import Facts
from superopt.verify.run.compile_ahead import Compiler
from superopt.verify.run.execute import Runner

BUDGET = Budget(candidates=6, text="6")


class Uncompiled(Compiler):
    """Says of every launch that it compiles, without compiling it."""

    def start(self):
        """No process is needed."""

    def compile_all(self, jobs: Sequence[object]):
        """Facts that no limit is exceeded by."""
        return tuple(Facts(spec.function, arch, 0, 32, 0) for _, spec, arch in jobs)


class Shared:
    """One runner for many searches: its process is started once."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    def __call__(self, **how: object) -> Shared:
        return self

    def __enter__(self) -> Runner:
        return self.runner

    def __exit__(self, *error: object) -> None:
        pass


@dataclass(frozen=True)
class Outcome:
    """What became of one spec. ``end``: verified, not a spec, refused, or crashed. ``why``: the
    reason. ``doubts``: candidates that a check found wrong, which something before should have
    seen."""

    end: str
    why: str = ""
    doubts: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def suspect(self) -> bool:
        """Whether somebody has to look at it: a crash, a wrong candidate, a no without a reason."""
        silent = self.end != "verified" and not self.why
        return self.end == "crashed" or bool(self.doubts) or silent


@contextmanager
def shared_processes(compiled: bool = False):
    """Searches inside of the block share one process that runs kernels."""
    before = pipeline.Runner, pipeline.Compiler
    with Runner() as runner:
        pipeline.Runner = Shared(runner)
        if not compiled:
            pipeline.Compiler = Uncompiled
        try:
            yield
        finally:
            pipeline.Runner, pipeline.Compiler = before


def follow(file: Path, folder: Path, seed: int = 0) -> Outcome:
    """The outcome of the spec in ``file``; candidates are written into ``folder``."""
    start = time.monotonic()
    try:
        (spec,) = load(str(file))
        progress = Progress(Console(), quiet=True)
        run = search_function(spec, spec.cases, target("h200"), BUDGET, seed, folder, progress, 1)
        if run.interrupted:
            raise KeyboardInterrupt
        found = outcome_of(run)
    except UserError as error:
        found = Outcome("not a spec", error.message)
    except Exception:  # an internal error is what is looked for
        found = Outcome("crashed", traceback.format_exc())
    return Outcome(found.end, found.why, found.doubts, round(time.monotonic() - start, 1))


def outcome_of(run: Run) -> Outcome:
    """What a finished search says."""
    (case,) = run.cases
    refused = [c.why for c in case.candidates if c.stage is Stage.REFUSED]
    doubts = tuple(w for w in refused if w.startswith("floats: ") or "REFUTED" in w)
    if run.verified:
        return Outcome("verified", doubts=doubts)
    reasons = refused or [why for why, _ in case.counts.rejected]
    return Outcome("refused", reasons[0] if reasons else "", doubts)
