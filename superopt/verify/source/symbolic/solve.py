"""Questions put to z3, each kept as the very text that it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import z3

from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.linear import LEVELS
from superopt.verify.source.symbolic.linear import question
from superopt.verify.source.symbolic.table import Table

RLIMIT = 4_000_000  # of z3, for one question: about a second


@dataclass(frozen=True)
class Query:
    """A question in SMT-LIB, and what z3 said: unsat (proved), sat or unknown."""

    claim: str
    smt2: str
    answer: str


@lru_cache(maxsize=4096)
def answer(smt2: str, rlimit: int = RLIMIT) -> str:
    """What z3 says of a script: unsat, sat or unknown."""
    solver = z3.SimpleSolver(ctx=z3.Context())  # its own, so that no earlier question matters
    solver.set("rlimit", rlimit)
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
            if said == "unsat":
                break
        if keep or said == "unsat":
            self.queries.setdefault((claim, smt2), Query(claim, smt2, said))
        return said == "unsat"
