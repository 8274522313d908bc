"""Questions put to z3, each kept as the very text that it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import z3

from superopt.verify.questions import SAT
from superopt.verify.questions import UNSAT
from superopt.verify.solvers import substituted
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.linear import LEVELS
from superopt.verify.source.symbolic.linear import question
from superopt.verify.source.symbolic.table import Table

RLIMIT = 4_000_000  # of z3, for one question: about a second
BRIEF = 200_000  # in a context that others have used
SHORT = 1_000_000  # where what is equal was substituted
_OF_THREAD = threading.local()


@dataclass(frozen=True)
class Query:
    """A question in SMT-LIB, and what z3 said: unsat (proved), sat or unknown."""

    claim: str
    smt2: str
    answer: str


@lru_cache(maxsize=8192)
def answer(smt2: str) -> str:
    """What z3 says of a script: unsat, sat or unknown.

    To make a context takes longer than most questions do, so one is asked in that of the thread
    first, briefly. What is unknown there may be so for earlier questions: a context of its own
    has the last word.
    """
    if (said := _briefly(smt2)) in (UNSAT, SAT):
        return said
    solver = z3.SimpleSolver(ctx=z3.Context())
    solver.set("rlimit", RLIMIT)
    solver.from_string(smt2)
    return str(solver.check())


@lru_cache(maxsize=8192)
def _briefly(smt2: str) -> str:
    """What is said at once, or soon after what is equal was substituted."""
    if not hasattr(_OF_THREAD, "context"):
        _OF_THREAD.context = z3.Context()
    solver = z3.SimpleSolver(ctx=_OF_THREAD.context)
    solver.set("rlimit", BRIEF)
    solver.from_string(smt2)
    said = str(solver.check())
    return said if said in (UNSAT, SAT) else substituted(smt2, SHORT)


def _asked(scripts: Iterable[str]) -> tuple[str, str]:
    """The first of ``scripts``, each of which says more, that is unsat, or else the last one; and
    the answer to it. A question that is long with little said may be short with more."""
    tried: dict[str, str] = {}
    for script in scripts:
        if script not in tried:
            tried[script] = _briefly(script)
        if tried[script] == UNSAT:
            return script, UNSAT
    for script, said in tried.items():
        if said != SAT:
            tried[script] = answer(script)
        if tried[script] == UNSAT:
            return script, UNSAT
    return list(tried.items())[-1]


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
        levels = (question(hypotheses, goal, atoms, level) for level in range(LEVELS))
        smt2, said = _asked(levels)
        if keep or said == UNSAT:
            self.queries.setdefault((claim, smt2), Query(claim, smt2, said))
        return said == UNSAT
