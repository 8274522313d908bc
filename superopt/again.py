"""The checks of a kernel file as it stands: its proofs, the readings of its text, its executions.

A search makes them before it writes the certificate; ``superopt verify`` makes them again from the
files alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from superopt.certificate import Certificate
from superopt.examine import Evidence
from superopt.examine import claims_in_words
from superopt.repair.record import Repair
from superopt.rewrite import algebra
from superopt.rewrite import folds
from superopt.rewrite import lowering
from superopt.rewrite.rule import RULES
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.names import canonical
from superopt.ugraph.names import rename
from superopt.verify.questions import Question
from superopt.verify.questions import about
from superopt.verify.questions import kept
from superopt.verify.readings import Claim
from superopt.verify.readings import FileReading
from superopt.verify.readings import judge_file
from superopt.verify.run.checks import FloatReport
from superopt.verify.run.checks import check_floats
from superopt.verify.run.execute import Runner
from superopt.verify.tasks import Does
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import accepted

assert algebra, (folds, lowering)  # their import fills RULES


@dataclass(frozen=True)
class Proofs:
    """``graphs``: the claims about each graph. ``laws``: those of the derivations. ``questions``:
    all that was put to the solver on the way."""

    graphs: tuple[Evidence, ...]
    laws: Evidence
    questions: tuple[Question, ...]

    @property
    def wanting(self) -> list[tuple[int | None, Claim]]:
        """The claims without the evidence that they need, each with its graph (laws have none)."""
        of_laws = [(None, claim) for claim in self.laws]
        of_graphs = [(i, claim) for i, found in enumerate(self.graphs) for claim in found]
        return [(at, c) for at, c in (*of_laws, *of_graphs) if not accepted(c[1])]


NO_PROOFS = Proofs((), (), ())
NO_REPAIR = "no repair explains them"


def prove_again(claims: Certificate) -> Proofs:
    """Every graph: its equality with the algebra, its repairs, the limits of its loops; and the
    laws that its derivation names.

    All is judged in canonical names, as in the search, so that the answers are the same.
    """
    from superopt.verify.judge import judge  # z3, which a machine that only times may lack
    from superopt.verify.reals.laws import prove_law

    program, names = canonical(claims.program)
    axes = {user: ours for ours, user in names.axes.items()}
    tensors = {user: ours for ours, user in names.tensors.items()}
    graphs: list[Evidence] = []
    laws: list[Claim] = []
    with kept() as questions:
        for number, graph in enumerate(claims.graphs):
            repairs = claims.repairs[number]
            with about(f"graph {number}"):
                found = judge(program, rename(graph, axes, tensors), repairs, claims.seed)
            moved = [(f"moves of {c}", Unknown(NO_REPAIR)) for c in unexplained(graph, repairs)]
            graphs.append(claims_in_words((*found.verdicts, *moved), names))
        for law in laws_of(step for steps in claims.derivations for step in steps):
            with about(f"law {law}"):
                laws.append((f"law {law}", prove_law(RULES[law])))
    return Proofs(tuple(graphs), tuple(laws), tuple(questions.values()))


def laws_of(steps: Iterable[str]) -> list[str]:
    """The names of the laws that steps of a derivation ("law: before -> after") took, each once.

    A step that is no law stands for those that lower a form.
    """
    named = [step.partition(": ")[0] for step in steps]
    lowers = [name for name, law in RULES.items() if law.lowering]
    return list(dict.fromkeys(law for n in named for law in ([n] if n in RULES else lowers)))


def unexplained(graph: KernelGraph, repairs: Sequence[Repair]) -> list[str]:
    """The carries that are moved without being a component of a repair."""
    known = {c.name for r in repairs for c in r.components}
    walks = (w for k in graph.kernels for w in k.nest)
    return [c.name for w in walks for c in w.carries if c.moves and c.name not in known]


def read_again(file: Path, claims: Certificate, does: Does | None = None) -> FileReading:
    """The readings of the file's text, done by ``does`` (or here)."""
    return judge_file(
        file.read_text(), claims.program, claims.graphs, _described(claims), claims.seed, does
    )


def execute_again(file: Path, claims: Certificate, runner: Runner | None = None) -> FloatReport:
    """The float checks of the file, with the Configs of its dispatch rows and with small ones."""
    return check_floats(
        file,
        claims.program.name,
        claims.program,
        claims.graphs,
        seed=claims.seed + 1,
        runner=runner,
        tuned=claims.tuned,
        scalars=claims.scalars,
        described=_described(claims),
        stop_early=True,
    )


def _described(claims: Certificate) -> set[int]:
    """The graphs whose functions with tensor descriptors are in the file."""
    return {row.graph for row in claims.rows if any(c.descriptors for c in row.configs)}
