"""The file that is shipped: every case's winner in one kernel file, checked as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from superopt.case import Case
from superopt.certificate import write_certificate
from superopt.device import Device
from superopt.device import target
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.errors import DoesNotFit
from superopt.examine import Examiner
from superopt.examine import compiled
from superopt.examine import row_of
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Stage
from superopt.search.configs import configs
from superopt.source import Facts
from superopt.spec import Spec
from superopt.ugraph.levels import KernelGraph
from superopt.verify.checks import check_floats
from superopt.verify.verdict import spoken

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
CONFIGS_TRIED = 5  # per architecture, until one compiles within the limits


def assemble(
    spec: Spec, results: Sequence[CaseRun], examiner: Examiner, directory: Path
) -> tuple[Path | None, list[CaseRun]]:
    """Write the kernel file with the winners of ``results``, and its certificate.

    Returns the file (None if there is no winner, or if the file fails its checks) and the
    results with the facts of every architecture.
    """
    won = [r for r in results if r.winner is not None]
    if not won:
        return None, list(results)
    graphs = list(dict.fromkeys(r.winner.graph for r in won if r.winner))
    file = directory / f"{spec.name}.py"
    rows: list[Row] = []
    done: list[CaseRun] = []
    draft = directory / "candidates" / f"{spec.name}_draft.py"
    draft.write_text(emit(spec.program, graphs, _draft_rows(won, graphs, examiner), Header()))
    for result in results:
        if result.winner is None:
            done.append(result)
            continue
        index = graphs.index(result.winner.graph)
        more, facts, missing = _other_targets(draft, result, index, examiner)
        rows += [row_of(result.case, index, result.winner.configs, examiner.device.arch), *more]
        winner = replace(result.winner, facts=(*result.winner.facts, *facts), why=missing)
        done.append(_with(result, winner))
    draft.unlink()
    file.write_text(emit(spec.program, graphs, rows, _header(spec, done, rows)))
    report = check_floats(
        file,
        spec.name,
        spec.program,
        graphs,
        seed=examiner.seed + 1,
        runner=examiner.runner,
        tuned=[(graphs.index(r.winner.graph), r.winner.configs) for r in won if r.winner],
        stop_early=True,
    )
    if not report.ok:
        failure = str(report.failures[0]) if report.failures else "nothing could be executed"
        file.rename(file.with_suffix(".refused"))
        return None, [_refused(r, f"the assembled file: {failure}") for r in done]
    write_certificate(file, spec.program, graphs, rows, done, examiner.seed, report)
    return file, done


def _draft_rows(won: Sequence[CaseRun], graphs: list[KernelGraph], examiner: Examiner) -> list[Row]:
    return [
        row_of(r.case, graphs.index(r.winner.graph), r.winner.configs, examiner.device.arch)
        for r in won
        if r.winner
    ]


def _other_targets(
    file: Path, result: CaseRun, index: int, examiner: Examiner
) -> tuple[list[Row], list[Facts], str]:
    """Rows and facts of a winner for the other architectures; and what could not be had."""
    winner, case = result.winner, result.case
    assert winner is not None
    rows: list[Row] = []
    facts: list[Facts] = []
    missing: list[str] = []
    for arch in ARCHITECTURES:
        if arch == examiner.device.arch:
            continue
        device = target(arch)
        found, why = _fitting(file, winner.graph, case, device, index, examiner)
        if found is None:
            missing.append(f"{arch}: {why}")
            continue
        rows.append(found[0])
        facts += found[1]
    return rows, facts, "; ".join(missing)


def _fitting(
    file: Path, graph: KernelGraph, case: Case, device: Device, index: int, examiner: Examiner
) -> tuple[tuple[Row, tuple[Facts, ...]] | None, str]:
    """The first Config by the model that compiles within ``device``'s limits."""
    dtype = case.dtype or "bf16"
    try:
        choices = configs(graph, case.sizes, dtype, device, CONFIGS_TRIED, case.tf32)
    except DoesNotFit as error:
        return None, str(error)
    refusal = ""
    for choice in choices:
        facts, why = compiled(examiner.compiler, file, graph, choice, case, device, index)
        if not why:
            return (row_of(case, index, choice, device.arch), facts), ""
        refusal = refusal or why
    return None, refusal


def _with(result: CaseRun, winner: Candidate) -> CaseRun:
    """``result`` with its winner replaced, among the candidates too."""
    candidates = tuple(winner if c is result.winner else c for c in result.candidates)
    return replace(result, candidates=candidates, winner=winner)


def _refused(result: CaseRun, why: str) -> CaseRun:
    if result.winner is None:
        return result
    refused = _with(result, replace(result.winner, stage=Stage.REFUSED, why=why))
    return replace(refused, winner=None)


def _header(spec: Spec, results: Sequence[CaseRun], rows: Sequence[Row]) -> Header:
    """What a reader of the file sees first; no clock belongs here."""
    derivation: list[str] = []
    verdict: list[str] = []
    for result in results:
        winner = result.winner
        if winner is None:
            continue
        derivation.append(f"case {result.case.name}, graph {winner.digest[:12]}:")
        derivation += [f"  {step}" for step in winner.derivation or ("as written",)]
        derivation += [f"  {line}" for line in winner.repairs]
        verdict.append(f"case {result.case.name}, graph {winner.digest[:12]}:")
        verdict += [f"  {claim}: {spoken(v)}" for claim, v in winner.evidence]
        executed = len(winner.figures)
        verdict.append(f"  executed {executed} times in fp32 and fp16 on the CPU: within tolerance")
    verdict.append("bf16 on a GPU: not executed. Ranked by model, not timed.")
    tuning = [
        f"{r.name} {r.target} {r.dtype} "
        + ", ".join(f"{a}={n}" for a, n in r.sizes)
        + ": "
        + "; ".join(
            " ".join(f"{a}:{n}" for a, n in c.tiles)
            + f" parts {c.parts} warps {c.warps} stages {c.stages}"
            for c in r.configs
        )
        for r in rows
    ]
    return Header(spec.source_text, "\n".join(derivation), "\n".join(verdict), "\n".join(tuning))
