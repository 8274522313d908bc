"""``superopt search``: from a spec file to verified kernel files."""

from __future__ import annotations

import hashlib
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console

from superopt.case import Case
from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED
from superopt.errors import UserError
from superopt.loading import load
from superopt.pipeline import Budget
from superopt.pipeline import search_function
from superopt.report.live import Progress
from superopt.report.markdown import report
from superopt.report.record import claim_directory
from superopt.report.record import write
from superopt.run import Run
from superopt.spec import Spec
from superopt.ugraph.text import digest

DEFAULT_OUT = Path("runs")


def run_search(
    target_file: str,
    cases: tuple[str, ...],
    target: str,
    budget: str,
    seed: int,
    out: Path | None,
    jobs: int,
    quiet: bool,
) -> int:
    """Search every selected function and case; the largest exit code of the functions."""
    from superopt.device import target as device_of

    limits = parse_budget(budget)
    device = device_of(target)
    specs = load(target_file)
    chosen = [(s, select(s, cases)) for s in specs]
    if not any(c for _, c in chosen):
        have = ", ".join(c.name for s in specs for c in s.cases)
        raise UserError(f"{target_file}: no case named {', '.join(cases)}; it has {have}")
    chosen = [(s, c) for s, c in chosen if c]
    directories = [directory_of(s, out, alone=len(chosen) == 1) for s, _ in chosen]
    for directory in directories:
        claim_directory(directory)
    console = Console(highlight=False, soft_wrap=True)
    codes = []
    with Progress(console, quiet) as progress:
        for (spec, selected), directory in zip(chosen, directories, strict=True):
            run = search_function(
                spec, selected, device, limits, seed, directory, progress, max(1, jobs)
            )
            write(run, head(spec))
            (directory / "report.md").write_text(report(run))
            codes.append(VERIFIED if run.verified or _kept(run) else NONE_FOUND)
            conclude(console, run)
            if run.interrupted:
                break
    return max(codes)


def _kept(run: Run) -> bool:
    """An interrupted run that has a verified winner counts as a success."""
    return run.interrupted and run.kernel is not None


def parse_budget(text: str) -> Budget:
    """``400`` candidates, or ``5m``, ``30s``, ``1h`` of time.

    Raises:
        UserError: neither.
    """
    found = re.fullmatch(r"(\d+)([smh]?)", text.strip())
    if not found or int(found[1]) == 0:
        raise UserError(f"--budget {text!r}: a number of candidates (400), or a time (30s, 5m, 1h)")
    number = int(found[1])
    if not found[2]:
        return Budget(candidates=number, text=text)
    return Budget(seconds=number * {"s": 1, "m": 60, "h": 3600}[found[2]], text=text)


def select(spec: Spec, names: tuple[str, ...]) -> tuple[Case, ...]:
    """The cases of ``spec`` with one of ``names`` (all if there are none)."""
    return tuple(c for c in spec.cases if not names or c.name in names)


def directory_of(spec: Spec, out: Path | None, alone: bool) -> Path:
    """Where a function's run goes: ``out`` itself if only one is searched, else below it."""
    if out is None:
        return DEFAULT_OUT / spec.name
    return out if alone else out / spec.name


def head(spec: Spec) -> dict[str, Any]:
    """What run.json says of the spec and of the tools."""
    return {
        "spec": {
            "file": Path(spec.file).name,
            "line": spec.line,
            "program_digest": digest(spec.program),
            "source_sha256": hashlib.sha256(spec.source_text.encode()).hexdigest(),
        },
        "versions": {
            name: version(name) for name in ("superopt", "torch", "triton", "sympy", "z3-solver")
        },
    }


def conclude(console: Console, run: Run) -> None:
    """The end of a search: where the kernel is, and what to do next."""
    if run.kernel is None:
        console.print(f"{run.name}: no verified kernel; see {run.directory / 'report.md'}")
        return
    console.print(f"{run.name}: verified kernel {run.kernel}")
    console.print("  not timed: no GPU; ranked by the model. bf16 on this GPU: not executed")
    console.print(f"  report  {run.directory / 'report.md'}")
    console.print(f"  next    python {run.kernel}        (self-test)")
    console.print(f"          superopt verify {run.kernel}")
