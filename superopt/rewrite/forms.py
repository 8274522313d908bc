"""The best distinct forms of a program that the laws can reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from superopt.rewrite.choose import HOPELESS
from superopt.rewrite.choose import Candidate
from superopt.rewrite.choose import candidates
from superopt.rewrite.choose import shape
from superopt.rewrite.egraph import ENode
from superopt.rewrite.rank import Sizes
from superopt.rewrite.rank import rank
from superopt.rewrite.saturate import Budget
from superopt.rewrite.saturate import Saturated
from superopt.rewrite.saturate import saturate
from superopt.rewrite.show import class_text
from superopt.ugraph.levels import Program
from superopt.ugraph.names import ordered
from superopt.ugraph.walk import transform

CHOICES = 600  # choices that extraction looks at


@dataclass(frozen=True)
class Step:
    """One law of a derivation: a term (``before``) and what it was replaced by."""

    law: str
    before: str
    after: str


@dataclass(frozen=True)
class Form:
    """A program that computes the same values.

    ``steps``: the laws that made it, in an order in which they can be applied (none: as it
    was written). ``passes``, ``work``, ``read``: see ``rank.py``. ``assumes``: axes that may
    not be empty, because the spec itself is undefined if they are.
    """

    program: Program
    steps: tuple[Step, ...]
    passes: int
    work: float
    read: float
    assumes: tuple[str, ...] = ()


def forms(
    program: Program,
    limit: int,
    sizes: Mapping[str, int] | None = None,
) -> list[Form]:
    """Up to ``limit`` forms, best first by (passes, work, inputs read); deterministic.

    ``program`` is in canonical names, and is itself always among the forms. Forms are
    *distinct*: of those whose folds and dependences are the same, only the best one is kept
    and the one that is closest to what was written. ``sizes``: representative numbers of
    positions on axes (default 1024 each).
    """
    elements = Sizes(sizes or {})
    found = saturate(program, Budget())
    own = rank(program, elements)
    assumes = tuple(sorted(found.graph.domain))
    kept: dict[Program, Form] = {
        program: Form(program, (), own.passes, own.work, own.read, assumes)
    }
    sorted_ = transform([s.value for s in program.outputs], ordered)
    same = tuple(sorted_[s.value] for s in program.outputs)
    for one in _distinct(candidates(found, program, elements, CHOICES), program):
        if tuple(s.value for s in one.program.outputs) == same:
            continue  # the program as it was written, but for the order of operands
        kept.setdefault(
            one.program,
            Form(
                one.program,
                steps_of(found, one),
                one.rank.passes,
                one.rank.work,
                one.rank.read,
                assumes,
            ),
        )
    ranked = sorted(kept.values(), key=lambda f: (f.passes, f.work, f.read, len(f.steps)))
    chosen = ranked[: max(limit, 1)]
    if all(f.steps for f in chosen):
        chosen[-1] = kept[program]  # the last place is the written form's
    return chosen


def _distinct(met: list[Candidate], program: Program) -> list[Candidate]:
    """Of every shape the best candidate and the one with the fewest changes."""
    least = min(c.rank.work for c in met)
    groups: dict[object, list[Candidate]] = {}
    for one in met:
        if one.rank.work <= HOPELESS * least:
            groups.setdefault(one.shape, []).append(one)
    found: list[Candidate] = []
    for key, group in groups.items():
        best = min(group, key=lambda c: (c.rank, c.changes))
        plain = min(group, key=lambda c: (c.changes, c.rank))
        found.append(best)
        if plain is not best and key != shape(program):
            found.append(plain)
    return found


def steps_of(found: Saturated, one: Candidate) -> tuple[Step, ...]:
    """The laws that brought the chosen nodes into the e-graph, causes first."""
    graph = found.graph
    steps: dict[Step, None] = {}
    visited: set[object] = set()

    def explain(cid: int, node: ENode) -> None:
        cid = graph.find(cid)
        cls = graph.classes[cid]
        known = {graph.canonical(n): (n, o) for n, o in cls.nodes.items()}
        if node not in known or (cid, node) in visited:
            return
        visited.add((cid, node))
        here, origin = known[node]
        if origin is None:
            return
        before = graph.canonical(origin.before)
        for arg in before.args:
            explain(arg, graph.nodes(arg)[0])
        explain(cid, before)
        steps[Step(origin.law, class_text(graph, before), class_text(graph, here))] = None

    for cid, node in one.used:
        explain(cid, node)
    return tuple(steps)
