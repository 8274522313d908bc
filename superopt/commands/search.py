"""``superopt search``: from a spec file to verified kernel files."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from superopt.approximate.offer import offers
from superopt.budget import Budget
from superopt.case import Case
from superopt.commands.against import Rivals
from superopt.commands.against import best_peer
from superopt.commands.against import check_rivals
from superopt.commands.against import with_peers
from superopt.commands.asked import Asked
from superopt.commands.console import line_console
from superopt.device import Device
from superopt.device import target as device_of
from superopt.errors import BAD_INPUT
from superopt.errors import INTERRUPTED
from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED
from superopt.errors import UserError
from superopt.interrupts import Held
from superopt.pipeline import search_function
from superopt.report.directory import REPORT
from superopt.report.directory import STORE
from superopt.report.directory import discard
from superopt.report.directory import earlier_run
from superopt.report.directory import files_of
from superopt.report.directory import publish
from superopt.report.directory import start_work
from superopt.report.hints import hint
from superopt.report.live import Progress
from superopt.report.markdown import report
from superopt.report.record import write
from superopt.report.summary import made_in
from superopt.report.summary import why_none
from superopt.run import CaseRun
from superopt.run import Run
from superopt.spec import Spec
from superopt.tune.machine import NO_GPU
from superopt.tune.record import Machine
from superopt.tune.session import TRIALS
from superopt.tune.session import Session
from superopt.tune.session import cores
from superopt.tune.session import local
from superopt.ugraph.text import digest
from superopt.verify.run.process import stem
from superopt.verify.run.stem import Stem
from superopt.versions import version_of

JOBS = 2  # compilers of a search that times nothing
NO_GPU_WORDS = "no GPU"
WRITING = "interrupted: what was found is being written; once more to give that up"
REASONS = 3  # of a case without a kernel that are printed; the report has all


@dataclass(frozen=True)
class TimingOptions:
    """What the command line says of timing. ``store``: None means beside the run. ``trials``: at
    most so many Configs a function."""

    store: Path | None = None
    trials: int = TRIALS
    wanted: bool = True
    peers: Path | None = None
    against: str = ""


@dataclass(frozen=True)
class Settings:
    """What is the same for every function of a search. ``machine``: where winners are timed, None
    if they are not. ``stem``: what processes are forked from."""

    device: Device
    budget: Budget
    seed: int
    jobs: int
    finalists: int | None
    options: TimingOptions
    machine: Machine | None
    rivals: Rivals | None
    stem: Stem


def run_search(
    asked: Asked,
    target: str,
    seed: int,
    jobs: int | None,
    quiet: bool,
    options: TimingOptions | None = None,
    finalists: int | None = None,
) -> int:
    """Search every function and case that is asked for; the largest exit code of the functions.

    Raises:
        UserError: the input is wrong; then nothing was searched or written.
    """
    options = options or TimingOptions()
    limits, chosen = asked.budget, asked.chosen
    rivals = _rivals(options, [s for s, _ in chosen])
    device = device_of(target)
    console = line_console()
    machine, why = _machine(options, device)
    jobs = jobs or (JOBS if machine is None else cores())
    codes: list[int] = []
    began = time.monotonic()
    with stem() as root, Progress(console, quiet) as progress:
        settings = Settings(device, limits, seed, jobs, finalists, options, machine, rivals, root)
        for number, (spec, selected) in enumerate(chosen):
            left = settings.budget.seconds - (time.monotonic() - began)
            share = max(1e-3, left / (len(chosen) - number)) if settings.budget.seconds else 0.0
            now = replace(settings, budget=replace(settings.budget, seconds=share))
            try:
                run = search_into(asked.directories[number], spec, selected, now, progress)
            except UserError as error:  # the others are still searched
                progress.error(f"error: {error}")
                codes.append(BAD_INPUT)
                continue
            codes.append(code_of(run))
            conclude(console, run, why)
            if run.interrupted:
                break
    return max(codes)


def search_into(
    directory: Path,
    spec: Spec,
    cases: tuple[Case, ...],
    settings: Settings,
    progress: Progress,
) -> Run:
    """Searches one function; its results take the place of an earlier run's in ``directory``.

    A search that was interrupted before any kernel was verified leaves an earlier run as it is.

    Raises:
        UserError: the reference disagrees, or the directory cannot be written.
    """
    work = start_work(directory)
    try:
        with ExitStack() as stack:
            session = None
            if settings.machine is not None:
                store = settings.options.store or directory.absolute().parent / STORE
                trials = settings.options.trials
                session = stack.enter_context(
                    Session(store, settings.machine, settings.device, trials, settings.seed)
                )
            run = search_function(
                spec,
                cases,
                settings.device,
                settings.budget,
                settings.seed,
                work,
                progress,
                settings.jobs,
                session,
                settings.finalists,
                settings.stem,
            )
        if run.kernel is not None:
            progress.say(f"{run.name}: {made_in(dict(run.seconds))}")
        if settings.machine and settings.rivals and not run.interrupted:
            progress.stage("timing the peers")
            try:
                run = with_peers(run, spec, settings.rivals)
            except KeyboardInterrupt:  # the peers are not worth the search
                run = replace(run, interrupted=True)
        with Held(WRITING, came=run.interrupted) as held:
            run = replace(run, substitutes=offers(spec, settings.seed))
            (work / REPORT).write_text(report(run))
            files = files_of(work)
            write(run, head(spec), files)
            if code_of(run) != INTERRUPTED or earlier_run(directory) is None:
                publish(work, files)
    finally:
        discard(work)
    kernel = directory / run.kernel.name if run.kernel else None
    return replace(run, directory=directory, kernel=kernel, interrupted=held.came)


def _machine(options: TimingOptions, device: Device) -> tuple[Machine | None, str]:
    """Where winners are timed, or None and why they are not."""
    if not options.wanted:
        return None, "--no-time"
    try:
        return local(device), ""
    except UserError as error:
        return None, NO_GPU_WORDS if error.message == NO_GPU else error.message


def _rivals(options: TimingOptions, specs: Sequence[Spec]) -> Rivals | None:
    """The peers that are asked for.

    Raises:
        UserError: there is no such peer, or ``--peers`` is given without ``--against``.
    """
    names = tuple(n for n in map(str.strip, options.against.split(",")) if n)
    if not names:
        if options.peers is not None:
            raise UserError("--peers declares peers, --against says which are timed: give both")
        return None
    rivals = Rivals(names, options.peers)
    for spec in specs:
        check_rivals(rivals, spec)
    return rivals


def code_of(run: Run) -> int:
    """The exit code of one function's search."""
    if run.interrupted:
        return VERIFIED if run.kernel is not None else INTERRUPTED
    return VERIFIED if run.verified else NONE_FOUND


def head(spec: Spec) -> dict[str, Any]:
    """What run.json says of the spec and of the tools."""
    return {
        "spec": {
            "file": Path(spec.file).name,
            "line": spec.line,
            "program_digest": digest(spec.program),
            "source_sha256": hashlib.sha256(spec.source_text.encode()).hexdigest(),
            "source": spec.source_text,
        },
        "versions": {
            name: version_of(name) for name in ("superopt", "torch", "triton", "sympy", "z3-solver")
        },
    }


def conclude(console: Console, run: Run, why: str) -> None:
    """The end of a search: where the kernel is, and what to do next. ``why``: the reason why
    nothing was timed, if so."""
    if code_of(run) == INTERRUPTED:
        console.print(f"{run.name}: interrupted before any kernel was verified")
        return
    if run.kernel is None:
        _without(console, run)
        return
    console.print(f"{run.name}: verified kernel {run.kernel}")
    for text in run.substitutes:
        console.print(f"  a substitute is offered: {text.partition('.')[0]}; see the report")
    if without := [c.case.name for c in run.cases if c.winner is None]:
        console.print(f"  without a kernel of their own: {', '.join(without)}")
    if run.interrupted:
        console.print("  interrupted: the best until then")
    _cases(console, run, why)
    console.print(f"  report  {run.directory / REPORT}")
    console.print(f"  next    python {run.kernel}        (self-test)")
    console.print(f"          superopt verify {run.kernel}")
    if why == NO_GPU_WORDS:
        console.print(f"          superopt time {run.directory}        (on a machine with a GPU)")


def _cases(console: Console, run: Run, why: str) -> None:
    """What each case takes, where it was timed, and what may help those that take too long."""
    if why:
        console.print(f"  not timed: {why}; ranked by the model. bf16 on this GPU: not executed")
    else:
        for result in run.cases:
            console.print(f"  {result.case.name}: {_time_in_words(run, result)}")
            for peer in run.timing.of(result.case.name).peers:
                if peer.us is None:
                    console.print(f"    {peer.name} has no time: {peer.why}")
    for result in run.cases:
        if text := hint(result, run.target):
            console.print(f"  {result.case.name}: {text}")


def _without(console: Console, run: Run) -> None:
    """The end of a search that found nothing: the most frequent reasons."""
    console.print(f"{run.name}: no verified kernel; see {run.directory / REPORT}")
    for result in run.cases:
        for reason in why_none(result)[:REASONS]:
            console.print(f"  {result.case.name}: {reason}")


def _time_in_words(run: Run, result: CaseRun) -> str:
    winner = result.winner
    if winner is None:
        return "no kernel of its own"
    if winner.timed is None:
        return f"not timed: {result.untimed or 'the search ended before'}"
    said = f"{winner.timed.us:.1f} us on {run.timing.machine.gpu if run.timing.machine else '?'}"
    if (peer := best_peer(run, result.case.name)) is not None:
        said += f"; {peer.ratio:.2f}x the best peer, {peer.name} ({peer.us:.1f} us)"
    return said
