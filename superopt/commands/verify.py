"""``superopt verify``: a kernel file against its certificate, and the checks once more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from superopt.again import Proofs
from superopt.again import execute_again
from superopt.again import prove_again
from superopt.again import read_again
from superopt.certificate import Certificate
from superopt.certificate import changed
from superopt.certificate import read_certificate
from superopt.certificate import read_questions
from superopt.commands.console import line_console
from superopt.complete import lacking
from superopt.emit.dialect import Dialect
from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED
from superopt.examine import Evidence
from superopt.report.directory import kernel_of
from superopt.verify.questions import SAT
from superopt.verify.questions import Question
from superopt.verify.readings import NO_SOLVER
from superopt.verify.readings import FileReading
from superopt.verify.readings import is_open
from superopt.verify.readings import together
from superopt.verify.solvers import Z3
from superopt.verify.solvers import Asks
from superopt.verify.solvers import again
from superopt.verify.solvers import solver_of
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken
from superopt.versions import verifier


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
    if certificate.dialect is not Dialect.TRITON:
        console.print(f"dialect: {certificate.dialect.value}")
    same = _verifier(console, certificate)
    proofs = _proofs(console, certificate)
    read = _text(console, kernel, certificate)
    holds = not proofs.wanting and read.solver and not read.wanting()
    stored = read_questions(kernel)
    missing = lacking(certificate, kernel.read_text(), proofs, read, stored, same)
    for what in missing:
        console.print(f"FAILED: the certificate lacks {what}")
    holds = _questions(console, stored, solver, ask) and holds and not missing
    if quick:
        console.print("not executed: --quick")
    else:
        holds = _floats(console, kernel, certificate) and holds
    console.print("holds" if holds else "FAILED")
    return VERIFIED if holds else NONE_FOUND


def _verifier(console: Console, certificate: Certificate) -> bool:
    """Whether the claims were made by this very code, which has no bearing on whether they hold."""
    made, here = certificate.verifier, verifier()
    if made == here:
        console.print(f"verifier: the one that made the claims ({here})")
    else:
        by = made or "one that the certificate does not name"
        console.print(f"verifier: {here}; the claims were made by {by}")
        console.print("the same seeds may draw other primes and inputs here")
    return made == here


def _proofs(console: Console, certificate: Certificate) -> Proofs:
    """Every graph: its equality with the algebra, its repairs, the limits of its loops; the laws
    of its derivation."""
    proofs = prove_again(certificate)
    for number, found in enumerate(proofs.graphs):
        _tell(console, f"graph {number}, ", found)
    _tell(console, "", proofs.laws)
    return proofs


def _text(console: Console, kernel: Path, certificate: Certificate) -> FileReading:
    """The readings of the text: what it computes, and its memory for all sizes."""
    read = read_again(kernel, certificate)
    for number, found in enumerate(read.claims):
        _tell(console, f"graph {number}, ", found)
    if not read.solver:
        console.print(f"FAILED: {NO_SOLVER}")
    return read


def _tell(console: Console, place: str, claims: Evidence) -> None:
    for claim, verdict in together(claims):
        word = "" if accepted(verdict) else "open: " if is_open((claim, verdict)) else "FAILED: "
        console.print(f"{word}{place}{claim}: {spoken(verdict)}")


def _questions(console: Console, questions: Sequence[Question], solver: str, ask: Asks) -> bool:
    """The stored proofs, put to ``solver`` as they were stored.

    All of them came from z3, which must prove them again; another solver may not know an answer.
    """
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
