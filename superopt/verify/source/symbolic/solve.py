"""Questions put to z3, each kept as the very text that it was asked."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import z3

from superopt.verify.questions import SAT
from superopt.verify.questions import UNSAT
from superopt.verify.solvers import substituting
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.linear import LEVELS
from superopt.verify.source.symbolic.linear import question
from superopt.verify.source.symbolic.table import Table

RLIMIT = 4_000_000  # of z3, for one question: about a second
BRIEF = 200_000  # in a context that others have used
_OF_THREAD = threading.local()


@dataclass(frozen=True)
class Query:
    """A question in SMT-LIB, and what z3 said: unsat (proved), sat or unknown."""

    claim: str
    smt2: str
    answer: str


@lru_cache(maxsize=8192)
def answer(smt2: str, rlimit: int = RLIMIT) -> str:
    """What z3 says of a script: unsat, sat or unknown.

    To make a context takes longer than most questions do, so one is asked in that of the thread
    first, briefly. What is unknown there may be so for earlier questions: a context of its own
    has the last word, with what is equal substituted first, and as the text stands.
    """
    if not hasattr(_OF_THREAD, "context"):
        _OF_THREAD.context = z3.Context()
    said = _asked(smt2, min(rlimit, BRIEF), z3.SimpleSolver(ctx=_OF_THREAD.context))
    for solver in (substituting, z3.SimpleSolver):
        if said in (UNSAT, SAT):
            break
        said = _asked(smt2, rlimit, solver(ctx=z3.Context()))
    return said


def _asked(smt2: str, rlimit: int, solver: z3.Solver) -> str:
    solver.from_string(smt2)
    return str(solver.check())


class Prover:
    """Proves goals under one claim after another, and keeps what was asked."""

    def __init__(self) -> None:
        self.claim = "facts"
        self.queries: dict[tuple[str, str], Query] = {}

    def follows(self, goal: Formula, atoms: Table) -> bool:
        """Whether ``goal`` follows from facts alone; only proofs are kept."""
        return self.proves(atoms.given, goal, atoms, "facts", keep=False)

    def proves(
        self,
        hypotheses: Sequence[Formula],
        goal: Formula,
        atoms: Table,
        claim: str | None = None,
        keep: bool = True,
    ) -> bool:
        """Whether facts and hypotheses imply ``goal``; ``keep``: also record a failure."""
        claim = self.claim if claim is None else claim
        smt2, said = "", "unknown"
        for level in range(LEVELS):
            longer = question(hypotheses, goal, atoms, level)
            if longer == smt2:
                continue
            smt2, said = longer, answer(longer)
            if said == UNSAT:
                break
        if keep or said == UNSAT:
            self.queries.setdefault((claim, smt2), Query(claim, smt2, said))
        return said == UNSAT
