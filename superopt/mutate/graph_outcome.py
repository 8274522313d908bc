"""Which reading finds a mutant of a kernel graph: of the graph, or of what is printed from it."""

from __future__ import annotations

from dataclasses import replace

from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.errors import SuperoptError
from superopt.mutate.graph import GraphMutant
from superopt.mutate.judge import EQUIVALENT
from superopt.mutate.judge import Outcome
from superopt.mutate.outcome import GRAPH
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.outcome import VOCABULARY
from superopt.mutate.outcome import Found
from superopt.mutate.outcome import Subject
from superopt.ugraph.levels import KernelGraph
from superopt.verify.field.graphs import verify_graph
from superopt.verify.source.load import read_text
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken

FRESH = "NaN, or any number, may stand in its place"


def graph_outcome(subject: Subject, mutant: GraphMutant, row: Row) -> Outcome:
    """What becomes of a mutant; ``row``: the numbers that its text is printed with.

    A limit of a walk that leaves out nothing is no fault of the equality: a walk that visits more
    tiles than it needs computes the same.
    """
    found = _read(subject, mutant.graph)
    if found.by == SURVIVED:
        found = _printed(subject, mutant.graph, row)
    if found.by == SURVIVED and any(_read(subject, g).by == SURVIVED for g in mutant.unknown):
        found = Found(EQUIVALENT, FRESH)
    return Outcome(mutant.kind, found.by, found.said, mutant.what)


def _read(subject: Subject, graph: KernelGraph) -> Found:
    try:
        verdict = verify_graph(subject.program, graph, subject.seed)
    except SuperoptError as error:
        return Found(VOCABULARY, str(error))
    if accepted(verdict):
        return Found(SURVIVED)
    return Found(GRAPH if isinstance(verdict, Refuted) else VOCABULARY, spoken(verdict))


def _printed(subject: Subject, graph: KernelGraph, row: Row) -> Found:
    """What the readings say of the text of a graph that equals the spec."""
    try:
        text = emit(subject.program, [graph], [replace(row, graph=0)], Header())
    except SuperoptError as error:
        return Found(VOCABULARY, str(error))
    other = replace(subject, text=read_text(text), graph=graph, index=0, memory=False, _known={})
    return other.judged(text)
