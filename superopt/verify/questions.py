"""Questions put to solvers, as SMT-LIB text: kept while somebody wants them, and their file.

The file holds one script after another, each with the claim that it was asked for and the answer
that it got, so that any solver which reads SMT-LIB can be asked again.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

REALS = "QF_NRA"
INTEGERS = "QF_LIA"
UNSAT, SAT = "unsat", "sat"

_CLAIM = "; claim: "
_ANSWER = "; answer: "
_END = "(reset)\n"
_HEAD = "; Questions of superopt, each with its answer; unsat: there is no counterexample.\n"


@dataclass(frozen=True)
class Question:
    """``smt2``: a script that ends in ``(check-sat)``; unsat: ``claim`` has no counterexample
    there. ``answer``: unsat, sat or unknown."""

    claim: str
    smt2: str
    answer: str


Kept = dict[tuple[str, str], Question]

_KEPT: ContextVar[Kept | None] = ContextVar("kept", default=None)
_ABOUT: ContextVar[str] = ContextVar("about", default="")


@contextmanager
def kept() -> Iterator[Kept]:
    """Every question that is asked by ``asked`` in the block, by claim and text."""
    found: Kept = {}
    token = _KEPT.set(found)
    try:
        yield found
    finally:
        _KEPT.reset(token)


@contextmanager
def about(claim: str) -> Iterator[None]:
    """What the questions of the block are for."""
    before = _ABOUT.get()
    token = _ABOUT.set(f"{before}, {claim}" if before else claim)
    try:
        yield
    finally:
        _ABOUT.reset(token)


def asked(solver: Any, logic: str) -> Any:
    """What a z3 solver says of its assertions, which are in ``logic``."""
    answer = solver.check()
    found = _KEPT.get()
    if found is not None:
        smt2 = script_of(solver, logic)
        claim = _ABOUT.get()
        found.setdefault((claim, smt2), Question(claim, smt2, str(answer)))
    return answer


def script_of(solver: Any, logic: str) -> str:
    """The assertions of a z3 solver as a script without z3's own notes."""
    lines = [n for n in solver.to_smt2().splitlines() if not n.startswith((";", "(set-info"))]
    return "\n".join([f"(set-logic {logic})", *lines, ""])


def packed(questions: Iterable[Question]) -> bytes:
    """The file of ``questions``; the same questions give the same bytes."""
    text = "".join(f"{_CLAIM}{q.claim}\n{_ANSWER}{q.answer}\n{q.smt2}{_END}" for q in questions)
    return gzip.compress((_HEAD + text).encode(), mtime=0)


def unpacked(data: bytes) -> tuple[Question, ...]:
    """The questions of a file.

    Raises:
        ValueError: it is no such file.
    """
    try:
        text = gzip.decompress(data).decode()
    except (OSError, EOFError) as error:
        raise ValueError(f"no gzip file: {error}") from error
    if not text.startswith(_HEAD):
        raise ValueError("not a file of questions")
    found = []
    for part in text.removeprefix(_HEAD).split(_END)[:-1]:
        claim, answer, smt2 = part.split("\n", 2)
        if not claim.startswith(_CLAIM) or not answer.startswith(_ANSWER):
            raise ValueError("a question without claim or answer")
        found.append(Question(claim.removeprefix(_CLAIM), smt2, answer.removeprefix(_ANSWER)))
    return tuple(found)
