"""Which readings a printed text needs before it may be timed or shipped, and what they say.

The field reading and the order reading need the text of a graph alone, and hold whatever it is
launched with; they need no solver. The concurrent reading is of the functions with roles that the
file's plans ask for, with as many consumers and slots as they do, and with as few slots as a plan
of a caller may ask for. The symbolic reading is of a whole file, with the numbers of its plans.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from itertools import groupby

from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.verify.questions import Question
from superopt.verify.source.concurrent.fewest import read_planned
from superopt.verify.source.concurrent.read import counted
from superopt.verify.source.concurrent.read import planned
from superopt.verify.source.concurrent.read import read_concurrent
from superopt.verify.source.field import CLAIM
from superopt.verify.source.field import read_field
from superopt.verify.source.load import KernelText
from superopt.verify.source.load import read_text
from superopt.verify.source.order import Seen
from superopt.verify.source.order import read_order
from superopt.verify.tasks import Answer
from superopt.verify.tasks import Does
from superopt.verify.tasks import FileText
from superopt.verify.tasks import OfGraph
from superopt.verify.tasks import OfMemory
from superopt.verify.tasks import OfRoles
from superopt.verify.tasks import Task
from superopt.verify.tasks import What
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken

Claim = tuple[str, Verdict]

LOG2_LIMIT = -60.0
DESCRIBED = f"{CLAIM}, with descriptors"
ROLES = "roles compute the spec in every order"
PLANNED = "every graph of the file is judged"
ORDER = "text in float64, on hostile inputs"
NO_SOLVER = "memory safety for all sizes: not proved on this machine, which has no z3"


@dataclass(frozen=True)
class FileReading:
    """What the readings say of a file.

    ``claims``: of each graph, in the file's order. ``questions``: those that were put to the
    solver. ``solver``: whether there is one.
    """

    claims: tuple[tuple[Claim, ...], ...]
    questions: tuple[Question, ...] = ()
    solver: bool = True

    def wanting(self, log2_limit: float = LOG2_LIMIT) -> list[tuple[int, Claim]]:
        """The claims without the evidence that they need, each with its graph.

        What is not known of the memory for all sizes is told (``is_open``) and refuses nothing:
        at the sizes that were read and executed every access was checked.
        """
        return [
            (graph, claim)
            for graph, found in enumerate(self.claims)
            for claim in found
            if not accepted(claim[1], log2_limit) and not is_open(claim)
        ]

    @property
    def open(self) -> tuple[str, ...]:
        """What is not known of the memory, in words for reports."""
        claims = [c for found in self.claims for c in found if is_open(c)]
        return tuple(f"open, {claim}: {spoken(verdict)}" for claim, verdict in claims)


def judge_text(
    text: KernelText,
    program: Program,
    graph: KernelGraph,
    index: int = 0,
    described: bool = False,
    seed: int = 0,
) -> tuple[Claim, ...]:
    """The claims about the text of graph ``index`` of a file, whatever it is launched with.

    ``program`` and ``graph`` are in the file's names. ``described``: it also has functions that
    take descriptors. A text that is not equal to its spec is read no further. Nothing wrong in the
    order reading is a fact that stands beside the equality; it is no claim of its own.
    """
    equal = read_field(text, program, graph, index, seed)
    if not isinstance(equal, Sampled):
        return ((CLAIM, equal),)
    order = read_order(text, program, graph, index, seed)
    if not isinstance(order, Seen):
        return ((CLAIM, equal), (ORDER, order))
    seen = f"nothing wrong was seen in float64 at {order.points} hostile inputs, which is no proof"
    found: list[Claim] = [(CLAIM, replace(equal, facts=(*equal.facts, seen)))]
    if described:
        found.append((DESCRIBED, read_field(text, program, graph, index, seed, descriptors=True)))
    return tuple(found)


def judge_roles(
    text: KernelText,
    program: Program,
    graph: KernelGraph,
    configs: Sequence[Config],
    index: int = 0,
    seed: int = 0,
) -> Claim:
    """The claim about the functions with roles that ``configs`` ask for."""
    reading = read_concurrent(text, program, graph, configs, index, seed)
    return f"{ROLES}, with {counted(configs)}", reading.verdict


def judge_file(
    source: str,
    program: Program,
    graphs: Sequence[KernelGraph],
    described: Collection[int] = (),
    seed: int = 0,
    does: Does | None = None,
) -> FileReading:
    """The claims about every graph of a file, and about its memory with the file's plans.

    ``described``: the graphs whose functions with descriptors are in the file. ``does``: does the
    readings, if they are not done here one after the other. Without a solver
    (a machine that only times need not have one) there are no claims about memory.
    """
    file = FileText(source, program, tuple(graphs), frozenset(described), seed)
    text = read_text(source, program.name)
    wanted: list[What] = [OfMemory()]  # which takes longest, where the file has many plans
    for index in range(len(graphs)):
        wanted.append(OfGraph(index))
        wanted += [OfRoles(index, configs, kinds) for configs, kinds in planned(text, index)]
    tasks = [Task(file, what) for what in wanted]
    memory, *answers = map(answer, tasks) if does is None else does(tasks)
    found: list[list[Claim]] = [[] for _ in graphs]
    for task, said in zip(tasks[1:], answers, strict=True):
        assert not isinstance(task.what, OfMemory)
        found[task.what.graph] += said.claims
    for claim in memory.claims:
        for index in _graphs_of(claim[0], len(graphs)):
            if index >= len(graphs):  # nothing else has been read of it
                other = (PLANNED, Unknown(f"the file dispatches to graph {index}, too"))
                found[0] += [other] if other not in found[0] else []
            else:
                found[index].append(claim)
    return FileReading(tuple(map(tuple, found)), memory.questions, memory.solver)


def answer(task: Task) -> Answer:
    """What one reading of a file says."""
    file = task.file
    text = read_text(file.source, file.program.name)
    match task.what:
        case OfGraph(graph=index):
            described = index in file.described
            graph = file.graphs[index]
            return Answer(judge_text(text, file.program, graph, index, described, file.seed))
        case OfRoles(graph=index, configs=configs, kinds=kinds):
            graph, plan = file.graphs[index], (configs, kinds)
            read = read_planned(text, file.program, graph, plan, index, file.seed)
            return Answer(((f"{ROLES}, with {counted(configs, kinds)}", read.verdict),))
        case OfMemory():
            return _of_memory(file)


def _of_memory(file: FileText) -> Answer:
    try:
        import z3  # noqa: F401
    except ImportError:
        return Answer((), solver=False)
    from superopt.verify.source.symbolic.read import read_symbolic

    memory = read_symbolic(file.source, file.program.name)
    questions = tuple(Question(q.claim, q.smt2, q.answer) for q in memory.queries)
    return Answer(memory.claims, questions)


def of_memory(claim: str) -> bool:
    """Whether a claim is one of the symbolic reading: the file's function stands before it."""
    return ": " in claim


def is_open(claim: Claim) -> bool:
    """Whether a claim about memory for all sizes is neither proved nor refuted."""
    return of_memory(claim[0]) and isinstance(claim[1], Unknown)


def together(claims: Iterable[Claim]) -> Iterator[Claim]:
    """``claims`` for people: those about one function's memory that follow one another and have
    the same verdict are one."""
    for (place, verdict), group in groupby(claims, lambda c: (_function(c[0]), c[1])):
        names = [claim for claim, _ in group]
        if place:
            yield f"{place}: {', '.join(n.removeprefix(f'{place}: ') for n in names)}", verdict
        else:
            yield from ((name, verdict) for name in names)


def _function(claim: str) -> str:
    return claim.rpartition(": ")[0] if of_memory(claim) else ""


def _graphs_of(claim: str, graphs: int) -> Sequence[int]:
    """The graphs that a claim of the symbolic reading is about; all, if it is about the file."""
    named = re.match(r"\w+_g(\d+)_k\d+|.*, graph (\d+)$", claim.rpartition(": ")[0])
    if named is None:
        return range(graphs)
    return (int(named[1] or named[2]),)
