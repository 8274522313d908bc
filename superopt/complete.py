"""Whether a certificate makes every claim that its file needs.

Claims that hold are no evidence for those that were left out, and of a row that is not listed
nothing is read or executed. So what the file needs is worked out from the file, and compared.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from collections.abc import Sequence

from superopt.again import Proofs
from superopt.certificate import Certificate
from superopt.emit.module import plans
from superopt.syntax import parsed
from superopt.verify.questions import UNSAT
from superopt.verify.questions import Question
from superopt.verify.readings import NO_SOLVER
from superopt.verify.readings import FileReading
from superopt.verify.readings import of_memory
from superopt.verify.verdict import Verdict


def lacking(
    claims: Certificate,
    text: str,
    proofs: Proofs,
    read: FileReading,
    stored: Sequence[Question],
    same: bool,
) -> list[str]:
    """What the certificate of a kernel file lacks, in words; none if it is complete.

    ``text``: the file. ``proofs``, ``read``: what was proved and read of it just now. ``stored``:
    the questions beside it; ``same``: this very verifier took them. A certificate that says that it
    was made without a solver needs no proofs.
    """
    found = [*_rows(claims, text), *_verdicts(claims, proofs, read)]
    if NO_SOLVER not in claims.not_executed:
        known = {claim for claim, _ in claims.laws}
        found += [f"the claim {name!r}" for name, _ in proofs.laws if name not in known]
        found += _questions((*proofs.questions, *read.questions), stored, same)
    if not claims.executed:
        found.append("executions")
    return found


def _rows(claims: Certificate, text: str) -> Iterator[str]:
    """Rows of the file that the certificate does not have, and the other way round; the Configs
    of the first row of each case, which are those of its winner, are executed, too."""
    there, listed = Counter(_dumped(text)), Counter(_dumped(plans(claims.rows)))
    for row in (there - listed).elements():
        yield f"the file's row {ast.unparse(ast.parse(row)).splitlines()[0]}"
    for row in (listed - there).elements():
        yield f"a file with the row {ast.unparse(ast.parse(row)).splitlines()[0]}"
    for case in dict.fromkeys(row.name for row in claims.rows):
        first = next(row for row in claims.rows if row.name == case)
        if (first.graph, first.configs) not in claims.tuned:
            yield f"an execution with the Configs of case {case}"
        if case not in {c.name for c in claims.cases}:
            yield f"the sizes of case {case}"


def _dumped(text: str) -> list[str]:
    """The rows of ``PLANS`` in a text, each as it is written without layout."""
    for node in parsed(text).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="PLANS")], value=ast.Tuple(elts=rows)):
                return [ast.unparse(row) for row in rows]
    return []


def _verdicts(claims: Certificate, proofs: Proofs, read: FileReading) -> Iterator[str]:
    """Claims about the graph of a case that are not among its verdicts, or with another word."""
    memory = NO_SOLVER not in claims.not_executed
    for case, graph in dict.fromkeys((row.name, row.graph) for row in claims.rows):
        told = dict(claims.verdicts.get(case, ()))
        for claim, verdict in (*proofs.graphs[graph], *read.claims[graph]):
            if not memory and of_memory(claim):
                continue
            if claim not in told:
                yield f"the claim {claim!r} of case {case}"
            elif _word(told[claim]) != _word(verdict):
                word = f"says {_word(told[claim])} and should say {_word(verdict)}"
                yield f"the right word: the claim {claim!r} of case {case} {word}"


def _word(verdict: Verdict) -> str:
    return type(verdict).__name__


def _questions(needed: Sequence[Question], stored: Sequence[Question], same: bool) -> Iterator[str]:
    """Proofs that were made just now and are not stored.

    They are counted by claim: z3 writes the parts of a question in an order of its own. Another
    verifier may take more questions for a claim, so of one there has to be a proof at least.
    """
    kept = Counter(q.claim for q in stored)
    lost = Counter(q.claim for q in needed if q.answer == UNSAT)
    for claim, number in (lost - kept).items():
        if same or claim not in kept:
            yield f"{number} stored proof{'s' * (number > 1)} of {claim}"
