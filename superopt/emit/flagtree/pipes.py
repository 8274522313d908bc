"""What the roles share in TLE: buffers, and the pipes through which they are handed over.

A pipe of a thread graph is one ``tle.pipe`` with all consumers as readers, for tiles that all of
them read; for tiles of which each consumer has its own, it is one pipe to each consumer. Slots and
phases follow from the number of a tile, which is all that writers and readers are told.
"""

from __future__ import annotations

from dataclasses import dataclass

from superopt.emit.flagtree.words import ANY
from superopt.emit.struct.frames import Entry
from superopt.emit.struct.frames import Role
from superopt.emit.struct.names import Shared
from superopt.emit.value import Value
from superopt.emit.writer import Writer
from superopt.errors import NotEmittable
from superopt.ugraph.node import Input
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import ThreadGraph

RESERVED = ("fields", "readers")  # no names of fields, nor are those that begin with "_"


@dataclass(frozen=True)
class Edge:
    """``tensors`` on their way from the producer: to all consumers, or (``split``) one tile to
    each. ``stem``: of names. ``reader``: what consumers call their end of it. ``writers``,
    ``pipes``: one, or one for each consumer."""

    pipe: Pipe
    tensors: tuple[Input, ...]
    split: bool
    stem: str
    reader: str
    writers: tuple[str, ...]
    pipes: tuple[str, ...]


class Pipes(Shared):
    """Names and text of the shared memory of one kernel."""

    def __init__(self, entry: Entry, graph: ThreadGraph) -> None:
        super().__init__(entry, graph)
        self.consumers = graph.consumers
        for tensor in self.by_tensor:
            if tensor.name in RESERVED or tensor.name.startswith("_"):
                raise NotEmittable(f"tensor {tensor.name!r} can be no field of a tle.pipe")
        self.edges = tuple(e for p in graph.pipes for e in self._edges(p))
        self.ready: dict[str, str] = {}  # by reader: the variable of what has come once

    def of(self, pipe: Pipe) -> list[Edge]:
        """The edges that ``pipe`` is printed as."""
        return [e for e in self.edges if e.pipe == pipe]

    def edge(self, tensor: Input) -> Edge:
        """The edge on which ``tensor`` comes."""
        return next(e for e in self.edges if tensor in e.tensors)

    def given(self, name: str, consumer: int) -> str:
        """What role ``consumer`` (-1: the producer) is given for its parameter ``name``."""
        for edge in self.edges:
            if name in edge.writers:
                return f"{edge.pipes[edge.writers.index(name)]}.writer()"
            if name == edge.reader and edge.split:
                return f"{edge.pipes[consumer]}.reader()"
            if name == edge.reader:
                which = f'"consumer_{consumer}"' if self.consumers > 1 else ""
                return f"{edge.pipes[0]}.reader({which})"
        return name

    @property
    def ends(self) -> list[str]:
        """The parameters of roles that are ends of pipes."""
        return [n for e in self.edges for n in (e.reader, *e.writers)]

    def _edges(self, pipe: Pipe) -> list[Edge]:
        found = []
        for split in (False, True):
            tensors = tuple(t for t in pipe.tensors if self.split(t.order) is split)
            if tensors:
                fresh, stem = self.entry.names.fresh, "_".join(t.name for t in tensors)
                ends = [f"_{i}" for i in range(self.consumers)] if split else [""]
                found.append(
                    Edge(
                        pipe,
                        tensors,
                        split,
                        stem,
                        fresh(f"{stem}_reader"),
                        tuple(fresh(f"{stem}_writer{end}") for end in ends),
                        tuple(fresh(f"{stem}_pipe{end}") for end in ends),
                    )
                )
        return found

    def allocate(self, lines: Writer, stores: dict[str, tuple[str, tuple[str, ...]]]) -> None:
        """Prints all of it."""
        assert not stores  # results go to memory by address
        for edge in self.edges:
            count = self.capacity(edge.pipe)
            for number, pipe in enumerate(edge.pipes):
                fields = []
                for tensor in edge.tensors:
                    buffer = (
                        f"{self._tiles[tensor]}_{number}" if edge.split else self._tiles[tensor]
                    )
                    shape = ", ".join([count, *self.box(tensor.order)])
                    dtype = f"{self.descriptor(tensor)}.dtype"
                    lines.line(
                        f"{buffer} = tle.gpu.alloc([{shape}], dtype={dtype}, scope=tle.gpu.smem)"
                    )
                    fields.append(f"{tensor.name}={buffer}")
                names = [f'"consumer_{i}"' for i in range(self.consumers)]
                one = edge.split or self.consumers == 1
                readers = "" if one else f"readers=({', '.join(names)}), "
                lines.line(f"{pipe} = tle.pipe(capacity={count}, {readers}{', '.join(fields)})")


class Lying(Role):
    """The frame of a role whose values lie as the compiler likes."""

    def layout(self, dims: tuple[str, ...]) -> str:
        """What stands for a layout."""
        return ANY

    def operand(self, parent: tuple[str, str]) -> str:
        """The same for left operands."""
        return ANY

    def turned(self, value: Value, parent: tuple[str, str]) -> str:
        """A value along one axis, as it is."""
        return value.operand
