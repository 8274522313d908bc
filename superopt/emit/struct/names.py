"""What the roles share: buffers and barriers of pipes, with the text that names a slot."""

from __future__ import annotations

from superopt.emit.struct.frames import CONSUMER
from superopt.emit.struct.frames import CONSUMERS
from superopt.emit.struct.frames import Entry
from superopt.emit.writer import Writer
from superopt.threads.layouts import WIDEST
from superopt.threads.parts import parted
from superopt.ugraph.node import Input
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import ThreadGraph
from superopt.ugraph.walk import topo


class Shared:
    """Names of the shared memory of one kernel, handed out by the frame of its entry."""

    def __init__(self, entry: Entry, graph: ThreadGraph) -> None:
        self.entry, self.pipes, self.by_tensor = entry, graph.pipes, graph.by_tensor
        fresh = entry.names.fresh
        self._tiles = {t: fresh(f"{t.name}_tiles") for t in self.by_tensor}
        self._full = {p.name: fresh(f"{p.name}_full") for p in graph.pipes}
        moving = [p for p in graph.pipes if p.walk or graph.persistent]
        self._empty = {p.name: fresh(f"{p.name}_empty") for p in moving}
        self._slots = {p.name: str(p.capacity) for p in graph.pipes}
        self._slots |= {p: fresh(f"{p.upper()}_SLOTS") for p, _ in self._rings}
        # The slot of what comes once a tile, as every role calls it.
        self._kept = {p.name: fresh(f"{p.name}_slot") for p in graph.pipes if self._turned(p)}
        self.results: dict[str, str] = {}  # buffers of results on their way out
        self.parts = {s.name for s in graph.block.stores if parted(graph.block, s)}
        self._loaded = _loaded(graph)
        # One barrier for each consumer: it is its turn to issue products.
        self.turns = fresh("turns") if graph.ring and graph.consumers > 1 else ""
        # And the same for walks, where consumers take tiles in turn.
        self.walks = fresh("walks") if graph.pingpong else ""
        self.pingpong = graph.pingpong

    @property
    def slots(self) -> tuple[tuple[str, int], ...]:
        """(constexpr, capacity) of every ring."""
        return tuple((self._slots[name], capacity) for name, capacity in self._rings)

    @property
    def _rings(self) -> list[tuple[str, int]]:
        return [(p.name, p.capacity) for p in self.pipes if p.walk and p.capacity > 1]

    @staticmethod
    def _turned(pipe: Pipe) -> bool:
        return not pipe.walk and pipe.capacity > 1

    def kept(self, pipe: Pipe) -> str:
        """The slot of a pipe whose tiles come once a tile of the grid: a variable of every role."""
        return self._kept.get(pipe.name, "0")

    def turn(self, pipe: Pipe, wave: str, lines: Writer) -> str:
        """Prints which slot of such a pipe wave number ``wave`` has; the parity of its filling."""
        if not self._turned(pipe):
            return f"{wave} & 1"
        lines.line(f"{self.kept(pipe)} = {wave} % {self.capacity(pipe)}")
        return f"({wave} // {self.capacity(pipe)}) & 1"

    def capacity(self, pipe: Pipe) -> str:
        """How many slots ``pipe`` has."""
        return self._slots[pipe.name]

    def full(self, pipe: Pipe, slot: str) -> str:
        """The barrier that says that the tiles of a slot have come."""
        return f"{self._full[pipe.name]}.index({slot})"

    def empty(self, pipe: Pipe, slot: str) -> str:
        """The barrier that says that all consumers that read a slot have done with it."""
        return f"{self._empty[pipe.name]}.index({slot})"

    def release(self, pipe: Pipe, slot: str, lines: Writer) -> None:
        """Prints that a consumer has done with a slot. Where its warps have read it themselves, a
        fence comes first: a barrier alone does not order their reads with the copy that is next,
        for the copy engine sees memory in another way (PTX: another proxy)."""
        if pipe.name in self._loaded:
            lines.line("fence_async_shared()")
        lines.line(f"mbarrier.arrive({self.empty(pipe, slot)})")

    def split(self, order: tuple[str, ...]) -> bool:
        """Whether each consumer has its own tile of a tensor."""
        return self.entry.rows in order

    def tile(self, tensor: Input, slot: str, which: str) -> str:
        """The tile in a slot, of the consumer ``which``."""
        at = slot
        if self.split(tensor.order):
            at = which if slot == "0" else f"{slot} * {CONSUMERS} + {which}"
        return f"{self._tiles[tensor]}.index({at})"

    def place(self, order: tuple[str, ...], which: str) -> str:
        """Where among the buffers of a result the tile of the consumer ``which`` is."""
        return which if self.pingpong or self.split(order) else "0"

    def descriptor(self, tensor: Input) -> str:
        """The parameter that describes ``tensor``."""
        entry = self.entry
        return entry.tensor(tensor.name, tensor.order, tensor.dtype, written=False).pointer

    def box(self, order: tuple[str, ...]) -> list[str]:
        """Positions along each axis that one copy moves."""
        tiled = self.entry.dims(order)
        return [self.entry.one(a) if a in tiled else "1" for a in order]

    def result(self, name: str, order: tuple[str, ...]) -> str:
        """The buffer of a result."""
        if name not in self.results:
            self.results[name] = self.entry.names.fresh(f"{name}_tiles")
        return self.results[name]

    def allocate(self, lines: Writer, stores: dict[str, tuple[str, tuple[str, ...]]]) -> None:
        """Prints all of it. ``stores``: descriptor and axes of every result that has a buffer."""
        for pipe in self.pipes:
            for tensor in pipe.tensors:
                count = self._count(self.capacity(pipe), tensor.order)
                described = self.descriptor(tensor)
                self._buffer(
                    lines, self._tiles[tensor], described, [count, *self.box(tensor.order)]
                )
        for name, (described, order) in stores.items():
            *before, columns = self.box(order)
            columns = part_of(columns) if name in self.parts else columns
            count = CONSUMERS if self.place(order, CONSUMER) == CONSUMER else "1"
            shape = [count, *before, columns]
            self._buffer(lines, self.results[name], described, shape)
        for pipe in self.pipes:
            barriers = [(self._full[pipe.name], "1")]
            releases = "1" if self.pingpong else CONSUMERS  # of each filling
            barriers += [(self._empty[pipe.name], releases)] if pipe.name in self._empty else []
            count = self.capacity(pipe)
            for barrier, arrivals in barriers:
                lines.line(
                    f"{barrier} = gl.allocate_shared_memory(gl.int64, [{count}, 1], "
                    "mbarrier.MBarrierLayout())"
                )
                if pipe.capacity == 1:
                    lines.line(f"mbarrier.init({barrier}.index(0), count={arrivals})")
                    continue
                with lines.block(f"for slot in gl.static_range({count}):"):
                    lines.line(f"mbarrier.init({barrier}.index(slot), count={arrivals})")

        for token in filter(None, (self.turns, self.walks)):
            lines.line(
                f"{token} = gl.allocate_shared_memory(gl.int64, [{CONSUMERS}, 1], "
                "mbarrier.MBarrierLayout())"
            )
            with lines.block(f"for slot in gl.static_range({CONSUMERS}):"):
                lines.line(f"mbarrier.init({token}.index(slot), count=1)")
            lines.line(f"mbarrier.arrive({token}.index(0))")

    def _count(self, capacity: str, order: tuple[str, ...]) -> str:
        if not self.split(order):
            return capacity
        return CONSUMERS if capacity == "1" else f"{capacity} * {CONSUMERS}"

    def _buffer(self, lines: Writer, name: str, described: str, shape: list[str]) -> None:
        lines.line(
            f"{name} = gl.allocate_shared_memory({described}.dtype, [{', '.join(shape)}], "
            f"{described}.layout)"
        )

    def offered(self) -> list[str]:
        """Every name that roles may ask for, but for constants."""
        return [
            *self._tiles.values(),
            *self.results.values(),
            *(b for p in self.pipes for b in (self._full[p.name], self._empty.get(p.name)) if b),
        ]


def parts_of(tile: str) -> str:
    """Text of ``threads.parts.parts``."""
    return f"1 + {tile} // {WIDEST}"


def part_of(tile: str) -> str:
    """Columns of each part."""
    return f"{tile} // ({parts_of(tile)})"


def _loaded(graph: ThreadGraph) -> frozenset[str]:
    """The pipes that warps load from; the others are read by products of matrices alone."""
    found = {n for n in topo([s.value for s in graph.block.stores]) if isinstance(n, Input)}
    for body in graph.bodies:
        for instr in body.instrs:
            found |= set(body.tensors(instr) if instr.op is not Op.PRODUCT else ())
    return frozenset(p.name for p in graph.pipes if not found.isdisjoint(p.tensors))
