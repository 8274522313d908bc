"""``superopt time``: measures a finished search on a GPU and rewrites its results with the times.

It needs what kernels need, torch and triton, and sympy; no solver, and Optuna only if the choice
of Configs is to be learnt.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Console

from superopt.assemble import ARCHITECTURES
from superopt.assemble import assemble
from superopt.certificate import changed
from superopt.certificate import read_certificate
from superopt.commands.console import line_console
from superopt.commands.console import table_console
from superopt.commands.named import SHOWN
from superopt.commands.named import named
from superopt.commands.named import with_named
from superopt.device import target as device_of
from superopt.errors import INTERRUPTED
from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED
from superopt.errors import UserError
from superopt.examine import Examiner
from superopt.interrupts import Held
from superopt.report.directory import FILE
from superopt.report.directory import REPORT
from superopt.report.directory import STORE
from superopt.report.directory import discard
from superopt.report.directory import files_of
from superopt.report.directory import publish
from superopt.report.directory import start_work
from superopt.report.hints import hint
from superopt.report.live import Progress
from superopt.report.markdown import report
from superopt.report.record import read
from superopt.report.record import write
from superopt.report.restore import run_from
from superopt.report.summary import made_in
from superopt.report.tuning import in_a_line
from superopt.report.tuning import print_tuning
from superopt.run import CANDIDATES
from superopt.run import CaseRun
from superopt.run import Run
from superopt.stopwatch import Stopwatch
from superopt.tune.machine import NO_GPU
from superopt.tune.outcome import Tuned
from superopt.tune.record import Machine
from superopt.tune.session import Session
from superopt.tune.session import cores
from superopt.tune.session import local
from superopt.tuned import in_words
from superopt.tuned import job_of
from superopt.tuned import timing_of
from superopt.tuned import with_times
from superopt.ugraph.names import canonical
from superopt.verify.run.compile_ahead import Compiler
from superopt.verify.run.execute import Runner
from superopt.verify.run.process import stem

KEPT = (
    "interrupted: the kernel file is being finished with what was measured; once more to give "
    "that up (the same command goes on from what was measured)"
)
HEAD = ("spec", "versions")  # what run.json says of the spec and the tools of its search


@dataclass(frozen=True)
class Source:
    """What a run keeps of its spec."""

    name: str
    source_text: str


def run_time(
    path: Path,
    store: Path | None,
    trials: int,
    names: tuple[str, ...],
    jobs: int | None,
    quiet: bool,
    candidates: tuple[str, ...] = (),
) -> int:
    """0 if every chosen case of the run at ``path`` has a timed kernel, 1 if not; if it was
    interrupted, 0 if one has, 130 if none.

    ``candidates``: beginnings of the digests of those that are timed as well.

    Raises:
        UserError: there is no run, it is damaged, or a case or candidate is unknown.
    """
    directory = path.parent if path.is_file() else path
    record = read(directory / FILE)
    run = run_from(record, directory)
    chosen = selected(run, names)
    also = named(run, chosen, candidates)
    console = line_console()
    if run.kernel is None:
        console.print(f"{run.name}: no verified kernel, so nothing to time; search again")
        return NONE_FOUND
    if different := changed(run.kernel):
        raise UserError(f"{directory}: {different[0]} is not as it was verified; search again")
    device = device_of(run.target)
    try:
        machine = local(device)
    except UserError as error:  # the run is fine, the machine cannot time it
        console.print(f"{run.name}: not timed: {error}")
        if error.message == NO_GPU:
            console.print(f"  copy {directory} to a machine with one, and superopt time it there")
        return NONE_FOUND
    check_machine(run, chosen, machine)
    where = store or directory.absolute().parent / STORE
    try:
        with (
            Session(where, machine, device, trials, run.seed) as session,
            Progress(console, quiet) as progress,
        ):
            done, tuned = time_into(run, record, chosen, session, jobs, progress, also)
    except KeyboardInterrupt:
        console.print(f"{run.name}: interrupted; {directory} is as it was")
        console.print(f"  what was measured is in {where}: the same command goes on from there")
        return INTERRUPTED
    conclude(console, done, tuned, session)
    timed = {t.case for t in tuned if t.winner is not None}
    if session.interrupted:
        return VERIFIED if timed else INTERRUPTED
    return VERIFIED if timed >= set(chosen) else NONE_FOUND


def selected(run: Run, names: tuple[str, ...]) -> tuple[str, ...]:
    """The cases called ``names``, all that have a verified kernel if there are none.

    Raises:
        UserError: the run has no such case.
    """
    have = [c.case.name for c in run.cases]
    for name in names:
        if name not in have:
            raise UserError(f"{run.directory}: no case named {name!r}; it has {', '.join(have)}")
    return tuple(c.case.name for c in run.cases if c.case.name in names or (not names and c.winner))


def check_machine(run: Run, chosen: Sequence[str], machine: Machine) -> None:
    """Raises a ``UserError`` if the run would hold times of two machines."""
    before = run.timing.machine
    rest = [m.case for m in run.timing.measured if m.case not in chosen]
    if before is not None and before != machine and rest:
        raise UserError(
            f"{run.directory}: case {rest[0]!r} was timed on another machine ({before.gpu}, driver "
            f"{before.driver}, triton {before.triton}); time all cases here"
        )


def time_into(
    run: Run,
    record: dict[str, Any],
    chosen: Sequence[str],
    session: Session,
    jobs: int | None,
    progress: Progress,
    also: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[Run, list[Tuned]]:
    """Tunes the cases ``chosen`` and writes the run anew; the run as it is now, and what was
    found out. If the file with the new winners fails its checks, the run stays as it was.
    ``also``: by case, candidates that are verified first if they are not (``named``). An interrupt
    ends the tuning; one while the file is made, or the first one, is held back until it is done. If
    nothing has a time yet, or at the next one, ``KeyboardInterrupt`` is raised."""
    assert run.kernel is not None
    certificate = read_certificate(run.kernel)
    work = start_work(run.directory)
    try:
        scratch = work / CANDIDATES
        scratch.mkdir()
        old = run.directory / CANDIDATES
        for name in sorted(f for f in record["files"] if f.startswith(f"{CANDIDATES}/")):
            if (old.parent / name).is_file():
                shutil.copy2(old.parent / name, work / name)
        workers = jobs or cores()
        with (
            stem() as root,
            Runner(stem=root) as runner,
            Compiler(workers, stem=root) as compiler,
        ):
            session.start()
            compiler.start()
            runner.start()
            program, names = canonical(certificate.program)
            examiner = Examiner(program, names, session.device, run.seed, scratch, runner, compiler)
            results, tuned = _tuned(run, chosen, also, session, examiner, progress)
            if session.interrupted:
                if not any(one.winner for one in tuned):
                    raise KeyboardInterrupt
                progress.say(KEPT)
            timing = timing_of(session.machine, tuned, run.timing)
            with Held(KEPT, came=session.interrupted) as held:
                done = _assembled(run, record, results, held, examiner, progress)
                done = replace(done, directory=work, timing=timing)
                if done.kernel is not None:
                    (work / REPORT).write_text(report(done))
                    files = files_of(work)
                    write(done, {key: record[key] for key in HEAD if key in record}, files)
                    publish(work, files)
            session.interrupted = held.came
    finally:
        discard(work)
    if done.kernel is None:
        return replace(run, timing=timing), tuned
    return replace(done, directory=run.directory, kernel=run.directory / done.kernel.name), tuned


def _tuned(
    run: Run,
    chosen: Sequence[str],
    also: Mapping[str, Sequence[str]],
    session: Session,
    examiner: Examiner,
    progress: Progress,
) -> tuple[list[CaseRun], list[Tuned]]:
    results, tuned = list(run.cases), list[Tuned]()
    if run.timing.machine is not None:
        results = [in_words(r, run.timing.machine) for r in results]
    program = examiner.names.back(examiner.program)
    for number, result in enumerate(results):
        if result.case.name not in chosen or session.interrupted:
            continue
        progress.case(run.name, result.case.name)
        if wanted := also.get(result.case.name, ()):
            progress.stage("verifying named candidates")
            try:
                result = with_named(result, wanted, examiner)
            except KeyboardInterrupt:
                session.interrupted = True
                continue
            for c in result.candidates:
                if c.digest in wanted and not c.holds:
                    progress.say(f"candidate {c.digest[:SHOWN]} is not timed: {c.why}")
        progress.stage("tuning on the device")
        left = len(chosen) - len(tuned)
        job = job_of(program, result, session.device)
        found = session.tune(job, left, examiner.compiler, examiner.directory, progress)
        tuned.append(found)
        progress.say(f"{run.name} / {result.case.name}: {in_a_line(found)}")
        results[number] = with_times(result, found, session.machine)
    return results, tuned


def _assembled(
    run: Run,
    record: dict[str, Any],
    results: Sequence[CaseRun],
    held: Held,
    examiner: Examiner,
    progress: Progress,
) -> Run:
    source = Source(run.name, record.get("spec", {}).get("source", ""))
    directory = examiner.directory.parent
    watch = Stopwatch(progress.stage)
    with watch.of("assemble", "writing and checking the kernel file"):
        kernel, cases = assemble(source, results, examiner, directory, ARCHITECTURES, watch, held)
    progress.say(f"{run.name}: {made_in(watch.seconds)}")
    seconds = dict(run.seconds) | watch.seconds  # those of the file as it is now
    return replace(run, cases=tuple(cases), kernel=kernel, seconds=tuple(seconds.items()))


def conclude(console: Console, run: Run, tuned: Sequence[Tuned], session: Session) -> None:
    """The end: a table, and where the kernel is."""
    print_tuning(table_console(), run, tuned)
    if session.interrupted:
        console.print("interrupted: the best until then; the same command goes on from there")
    if any(t.measured and not t.studied for t in tuned):
        console.print(
            "Optuna is not installed: Configs came from the model and beside the best so far"
        )
    for one in tuned:
        if one.winner is None:
            console.print(f"{run.name} / {one.case}: no timed kernel: {one.why}")
    for result in run.cases:
        if text := hint(result, run.target):
            console.print(f"{run.name} / {result.case.name}: {text}")
    if session.bench.replaced:
        console.print(f"the device's process was replaced {session.bench.replaced} times")
    console.print(f"{run.name}: timed on {session.machine.gpu}; kernel {run.kernel}")
