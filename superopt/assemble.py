"""The file that is shipped: every case's winner in one kernel file, checked as it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from superopt.again import NO_PROOFS
from superopt.again import Proofs
from superopt.again import execute_again
from superopt.again import prove_again
from superopt.again import read_again
from superopt.case import Case
from superopt.certificate import Certificate
from superopt.certificate import write_certificate
from superopt.device import Device
from superopt.device import target
from superopt.emit.module import emit
from superopt.emit.names import ascii_name
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.errors import DoesNotFit
from superopt.examine import Examiner
from superopt.examine import row_of
from superopt.fitting import Fitted
from superopt.fitting import fit
from superopt.header import header
from superopt.interrupts import NOT_HELD
from superopt.interrupts import Held
from superopt.run import CANDIDATES
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Stage
from superopt.run import best
from superopt.search.configs import ladders
from superopt.source import Facts
from superopt.stopwatch import Stopwatch
from superopt.tune.printed import has_roles
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.verify.readings import NO_SOLVER
from superopt.verify.readings import ROLES
from superopt.verify.readings import FileReading
from superopt.verify.readings import of_memory
from superopt.verify.run.checks import FloatReport
from superopt.verify.verdict import spoken

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")


class Described(Protocol):
    """What the file says of its spec (``spec.Spec``, or what a run keeps of it)."""

    @property
    def name(self) -> str:
        """The function's name."""

    @property
    def source_text(self) -> str:
        """The text of the spec."""


def assemble(
    spec: Described,
    results: Sequence[CaseRun],
    examiner: Examiner,
    directory: Path,
    architectures: Sequence[str] = ARCHITECTURES,
    watch: Stopwatch | None = None,
    held: Held = NOT_HELD,
) -> tuple[Path | None, list[CaseRun]]:
    """Write the kernel file with the winners of ``results``, and its certificate.

    A graph that fails the checks of the whole file (its text is read with the numbers of all
    plans, and its executions draw other inputs than those of its candidate) is refused, and the
    next verified candidate takes its place. ``watch`` gets the seconds of each step, beside those
    of the whole; the file is read and proved while it is executed. Once an interrupt was ``held``
    back, no Configs for further targets are looked for.

    Returns the file (None if no verified candidate is left) and the results with the facts of
    every one of ``architectures``.
    """
    results, watch = list(results), watch or Stopwatch()
    while any(r.winner for r in results):
        file, results = _attempt(spec, results, examiner, directory, architectures, watch, held)
        if file is not None:
            return file, results
    return None, results


def _attempt(
    spec: Described,
    results: Sequence[CaseRun],
    examiner: Examiner,
    directory: Path,
    architectures: Sequence[str],
    watch: Stopwatch,
    held: Held,
) -> tuple[Path | None, list[CaseRun]]:
    """The file and the results, or None and the results without the graph that failed."""
    won = [r for r in results if r.winner is not None]
    program = examiner.names.back(examiner.program)  # what is printed follows the meaning alone
    graphs = list(dict.fromkeys(r.winner.graph for r in won if r.winner))
    rows: list[Row] = []
    done: list[CaseRun] = []
    draft = directory / CANDIDATES / f"{spec.name}_draft.py"
    # Configs for other targets may ask for descriptors, so the draft has all that there is.
    draft.write_text(emit(program, graphs, _draft_rows(won, graphs, examiner), Header(), True))
    for result in results:
        if result.winner is None:
            done.append(result)
            continue
        index = graphs.index(result.winner.graph)
        targets = () if held.came else architectures
        with watch.of("file: other targets", f"kernel file: other targets, {result.case.name}"):
            more, facts, missing = _other_targets(draft, result, index, examiner, targets)
        rows += [row_of(result.case, index, result.winner.configs, examiner.device.arch), *more]
        facts = [_in_file(fact, spec.name, index) for fact in (*result.winner.facts, *facts)]
        winner = replace(result.winner, facts=tuple(dict.fromkeys(facts)), why=missing)
        done.append(_with(result, winner))
    draft.unlink()
    file = directory / f"{spec.name}.py"
    file.write_text(emit(program, graphs, rows, Header()))
    claims = _claims(program, done, graphs, rows, examiner.seed)
    with ThreadPoolExecutor(1) as thread:
        judging = thread.submit(_judged, file, claims, examiner, watch)
        with watch.of("file: execute", "kernel file: reading, proving and executing it"):
            report = execute_again(file, claims, examiner.runner)
        read, proofs = judging.result()
    if failed := _failed(read, proofs, report):
        file.unlink()
        at, failure = failed
        why = f"the assembled file: {examiner.said(failure)}"
        refused = graphs if at is None else [graphs[at]]
        return None, [_without(r, refused, why) for r in results]
    done = [_read(r, graphs, read) for r in done]
    file.write_text(emit(program, graphs, rows, header(spec.source_text, done, graphs, rows)))
    claims = _claims(program, done, graphs, rows, examiner.seed)
    on_device = tuple(r.winner.device for r in done if r.winner and r.winner.device)
    executed = (*(str(f) for f in report.figures), *on_device)
    unseen = [r for r in done if r.winner and not r.winner.device]
    missing_runs = (*(("bf16 on this GPU",) if unseen else ()), *report.skipped)
    missing_runs += read.open if read.solver else (NO_SOLVER,)
    claims = replace(claims, laws=proofs.laws, executed=executed, not_executed=missing_runs)
    with watch.of("file: certificate"):
        write_certificate(file, claims, (*proofs.questions, *read.questions))
    return file, done


def _in_file(fact: Facts, name: str, index: int) -> Facts:
    """``fact`` of the function that graph ``index`` of the file of ``name`` has; its candidate had
    a file of its own, or the graph another number."""
    begin = re.escape(ascii_name(name))
    return replace(fact, function=re.sub(rf"^({begin}_g)\d+", rf"\g<1>{index}", fact.function))


def _judged(
    file: Path, claims: Certificate, examiner: Examiner, watch: Stopwatch
) -> tuple[FileReading, Proofs]:
    with watch.of("file: read"):
        read = read_again(file, claims, examiner.compiler.readings)
    with watch.of("file: prove"):
        return read, prove_again(claims) if read.solver else NO_PROOFS


def _failed(
    read: FileReading, proofs: Proofs, report: FloatReport
) -> tuple[int | None, str] | None:
    """The first check that says no, with its graph if it is that of one."""
    for index, (claim, verdict) in (*proofs.wanting, *read.wanting()):
        return index, f"{claim}: {spoken(verdict)}"
    for figure in report.failures:
        return figure.graph, str(figure)
    return None if report.figures else (None, "nothing could be executed")


def _read(result: CaseRun, graphs: Sequence[KernelGraph], read: FileReading) -> CaseRun:
    """``result`` with what was read of the file in place of what was read of its winner."""
    winner = result.winner
    if winner is None:
        return result
    kept = {c: v for c, v in winner.evidence if not of_memory(c) and not c.startswith(ROLES)}
    evidence = kept | dict(read.claims[graphs.index(winner.graph)])
    skipped = winner.skipped if read.solver else (*winner.skipped, NO_SOLVER)
    return _with(result, replace(winner, evidence=tuple(evidence.items()), skipped=skipped))


def _claims(
    program: Program,
    results: Sequence[CaseRun],
    graphs: Sequence[KernelGraph],
    rows: Sequence[Row],
    seed: int,
) -> Certificate:
    won = [(r.case, r.winner) for r in results if r.winner is not None]
    tuned = dict.fromkeys((graphs.index(w.graph), w.configs) for _, w in won)
    return Certificate(
        program=program,
        graphs=tuple(graphs),
        repairs=tuple(next(w.records for _, w in won if w.graph == g) for g in graphs),
        derivations=tuple(next(w.derivation for _, w in won if w.graph == g) for g in graphs),
        rows=tuple(rows),
        tuned=tuple(tuned),
        scalars=next((c.scalars for c, _ in won if c.scalars), {}),
        cases=tuple(c for c, _ in won),
        seed=seed,
        verdicts={c.name: w.evidence for c, w in won},
    )


def _draft_rows(won: Sequence[CaseRun], graphs: list[KernelGraph], examiner: Examiner) -> list[Row]:
    return [
        row_of(r.case, graphs.index(r.winner.graph), r.winner.configs, examiner.device.arch)
        for r in won
        if r.winner
    ]


def _other_targets(
    file: Path, result: CaseRun, index: int, examiner: Examiner, architectures: Sequence[str]
) -> tuple[list[Row], list[Facts], str]:
    """Rows and facts of a winner for ``architectures``; and what could not be had."""
    winner, case = result.winner, result.case
    assert winner is not None
    # Where a winner's roles cannot run, its plain function does, with a Config of its own.
    roles = has_roles(winner.configs)
    others = [a for a in architectures if a != examiner.device.arch or roles]
    with ThreadPoolExecutor(max(1, len(others))) as threads:
        fitted = list(
            threads.map(
                lambda arch: _fitting(file, winner.graph, case, target(arch), index, examiner),
                others,
            )
        )
    missing = [
        f"no Config for {arch}: {examiner.said(found.why)}"
        for arch, found in zip(others, fitted, strict=True)
        if found.why
    ]
    good = [(arch, f) for arch, f in zip(others, fitted, strict=True) if not f.why]
    rows = [row_of(case, index, found.configs, arch) for arch, found in good]
    return rows, [fact for _, found in good for fact in found.facts], "; ".join(missing)


def _fitting(
    file: Path, graph: KernelGraph, case: Case, device: Device, index: int, examiner: Examiner
) -> Fitted:
    """The Configs by the model that compile within ``device``'s limits."""
    try:
        found = ladders(graph, case.sizes, case.storage, device, case.tf32)
    except DoesNotFit as error:
        return Fitted((), why=str(error))
    plain = [tuple(rung for rung in ladder if not has_roles(rung)) for ladder in found]
    return fit(examiner.compiler, file, graph, plain, case, device, index, examiner.compiled)


def _with(result: CaseRun, winner: Candidate) -> CaseRun:
    """``result`` with its winner replaced, among the candidates too."""
    candidates = tuple(winner if c is result.winner else c for c in result.candidates)
    return replace(result, candidates=candidates, winner=winner)


def _without(result: CaseRun, failed: Sequence[KernelGraph], why: str) -> CaseRun:
    """``result`` with the graphs in ``failed`` refused, and the next best as its winner."""
    candidates = tuple(
        replace(c, stage=Stage.REFUSED, why=why) if c.graph in failed and c.holds else c
        for c in result.candidates
    )
    return replace(result, candidates=candidates, winner=best(candidates))
