"""The readings of a kernel file as tasks of which none needs another, so that processes may share
them."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass

from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.verify.questions import Question
from superopt.verify.verdict import Verdict


@dataclass(frozen=True)
class FileText:
    """A kernel file and what it was printed from, in its names.

    ``described``: the graphs whose functions with descriptors are in it. ``seed``: of the points
    at which it is read.
    """

    source: str
    program: Program
    graphs: tuple[KernelGraph, ...]
    described: frozenset[int]
    seed: int


@dataclass(frozen=True)
class OfGraph:
    """Reads the text of a graph, whatever it is launched with."""

    graph: int


@dataclass(frozen=True)
class OfRoles:
    """Reads the functions with roles of a graph that plans ask for (``planned``)."""

    graph: int
    configs: tuple[Config, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class OfMemory:
    """Reads the whole file with symbols for sizes, which needs a solver."""


What = OfGraph | OfRoles | OfMemory


@dataclass(frozen=True)
class Task:
    """One reading of ``file``."""

    file: FileText
    what: What


@dataclass(frozen=True)
class Answer:
    """What a reading says. ``questions``: those that it put to the solver; ``solver``: whether
    there was one, if it needed one."""

    claims: tuple[tuple[str, Verdict], ...]
    questions: tuple[Question, ...] = ()
    solver: bool = True


Does = Callable[[Sequence[Task]], Iterable[Answer]]
"""Does tasks; the answers are in their order."""
