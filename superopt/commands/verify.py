"""``superopt verify``: a kernel file against its certificate, and the checks once more."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from superopt.again import execute_again
from superopt.again import prove_again
from superopt.again import read_again
from superopt.certificate import Certificate
from superopt.certificate import changed
from superopt.certificate import read_certificate
from superopt.certificate import read_questions
from superopt.commands.console import line_console
from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED
from superopt.examine import Evidence
from superopt.report.directory import kernel_of
from superopt.verify.questions import SAT
from superopt.verify.readings import NO_SOLVER
from superopt.verify.readings import is_open
from superopt.verify.readings import together
from superopt.verify.solvers import Z3
from superopt.verify.solvers import Asks
from superopt.verify.solvers import again
from superopt.verify.solvers import solver_of
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken


def run_verify(kernel: Path, solver: str = Z3, quick: bool = False) -> int:
    """0 if every claim about ``kernel``, a file or its run, holds, 1 if one fails.

    ``solver``: which one the stored proofs are put to. ``quick``: without executions.

    Raises:
        UserError: one of its files is missing or unreadable, or the solver is not there.
    """
    console = line_console()
    ask = solver_of(solver)
    kernel = kernel_of(kernel)
    if different := changed(kernel):
        console.print(f"FAILED: {different[0]} is not as it was verified; nothing was run")
        return NONE_FOUND
    console.print("files: unchanged since they were verified")
    certificate = read_certificate(kernel)
    holds = _proofs(console, certificate)
    holds = _text(console, kernel, certificate) and holds
    holds = _questions(console, kernel, solver, ask) and holds
    if quick:
        console.print("not executed: --quick")
    else:
        holds = _floats(console, kernel, certificate) and holds
    console.print("holds" if holds else "FAILED")
    return VERIFIED if holds else NONE_FOUND


def _proofs(console: Console, certificate: Certificate) -> bool:
    """Every graph: its equality with the algebra, its repairs, the limits of its loops; the laws
    of its derivation."""
    proofs = prove_again(certificate)
    for number, found in enumerate(proofs.graphs):
        _tell(console, f"graph {number}, ", found)
    _tell(console, "", proofs.laws)
    return not proofs.wanting


def _text(console: Console, kernel: Path, certificate: Certificate) -> bool:
    """The readings of the text: what it computes, and its memory for all sizes."""
    read = read_again(kernel, certificate)
    for number, found in enumerate(read.claims):
        _tell(console, f"graph {number}, ", found)
    if not read.solver:
        console.print(f"FAILED: {NO_SOLVER}")
    return read.solver and not read.wanting()


def _tell(console: Console, place: str, claims: Evidence) -> None:
    for claim, verdict in together(claims):
        word = "" if accepted(verdict) else "open: " if is_open((claim, verdict)) else "FAILED: "
        console.print(f"{word}{place}{claim}: {spoken(verdict)}")


def _questions(console: Console, kernel: Path, solver: str, ask: Asks) -> bool:
    """The stored proofs, put to ``solver`` as they were stored.

    All of them came from z3, which must prove them again; another solver may not know an answer.
    """
    questions = read_questions(kernel)
    failed = again(questions, ask)
    for question, answer in failed:
        word = "FAILED: " if solver == Z3 or answer == SAT else ""
        console.print(f"{word}stored proof of {question.claim}: {solver} says {answer}")
    proved = len(questions) - len(failed)
    console.print(f"stored proofs: {proved} of {len(questions)} proved again by {solver}")
    return not any(solver == Z3 or answer == SAT for _, answer in failed)


def _floats(console: Console, kernel: Path, certificate: Certificate) -> bool:
    """The text, executed on the CPU on the inputs of the search."""
    report = execute_again(kernel, certificate)
    for figure in report.failures:
        console.print(f"FAILED: executed: {figure}")
    word = "within the tolerance" if report.ok else "NOT within the tolerance"
    console.print(f"{len(report.figures)} executions in fp32 and fp16 on the CPU: {word}")
    for what in certificate.not_executed:
        console.print(f"not executed: {what}")
    return report.ok
