"""A thread graph as text: one function for each role, and the entry that starts them."""

from __future__ import annotations

from dataclasses import replace

from superopt.emit.expression import Expressions
from superopt.emit.kernel import Kernel
from superopt.emit.kernel import StructKernel
from superopt.emit.segments import Ranges
from superopt.emit.segments import Segment
from superopt.emit.struct.consumer import Consumer
from superopt.emit.struct.consumer import Result
from superopt.emit.struct.dialect import spelled
from superopt.emit.struct.dialect import used
from superopt.emit.struct.frames import CONSUMER
from superopt.emit.struct.frames import CONSUMERS
from superopt.emit.struct.frames import LANES
from superopt.emit.struct.frames import WARP_LANES
from superopt.emit.struct.frames import Entry
from superopt.emit.struct.frames import Role
from superopt.emit.struct.frames import Stretch
from superopt.emit.struct.frames import plus
from superopt.emit.struct.names import Shared
from superopt.emit.struct.producer import WHICH
from superopt.emit.struct.producer import Producer
from superopt.emit.struct.waves import Waves
from superopt.emit.struct.waves import needed
from superopt.emit.writer import INDENT
from superopt.emit.writer import Writer
from superopt.emit.writer import fill
from superopt.threads.body import Products
from superopt.threads.body import instructions
from superopt.threads.build import WARPS
from superopt.threads.build import copied_out
from superopt.threads.layouts import Layouts
from superopt.threads.layouts import layouts_of
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Node
from superopt.ugraph.threads import ThreadGraph
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo


def print_threads(graph: ThreadGraph, name: str) -> StructKernel:
    """Prints ``graph`` as function ``name``, with its roles.

    Raises:
        NotEmittable: something in the graph has no text; the message says what.
    """
    return Struct(graph, name).printed()


class Struct:
    """Prints one thread graph. What its parts are made by is a matter of the dialect."""

    entries: type[Entry] = Entry
    shares: type[Shared] = Shared
    roles: type[Role] = Role
    producers: type[Producer] = Producer
    consumers: type[Consumer] = Consumer

    def __init__(self, graph: ThreadGraph, name: str) -> None:
        self.graph, self.name = graph, name
        self.products = Products(graph.block)
        for walk in graph.block.walks:  # makes the products known
            instructions(walk, self.products)
        self.stores = self.through_shared()
        described = [t.name for t in graph.by_tensor] + [s.name for s in self.stores]
        several = graph.persistent, graph.config.each
        self.entry = self.entries(graph.block, described, graph.split, graph.consumers, *several)
        self.shared = self.shares(self.entry, graph)
        # How often rings have been filled before the tile in hand, and behind it.
        self.filled: dict[str, str] = {}

    def printed(self) -> StructKernel:
        """The kernel: the entry, with its text and that of the roles."""
        entry, graph, block = self.entry, self.graph, self.graph.block
        entry.programs()
        (walk,), (body,) = block.walks, graph.bodies
        stretches = self._stretches(walk)
        layouts = self._layouts()
        for read in graph.by_tensor:
            self.shared.descriptor(read)
        producer_role = self.roles(entry, layouts, WHICH)
        producer = self.producers(producer_role, self.shared)
        producer.once()
        for stretch in stretches:
            producer.stretch(body, stretch)
        role = self.roles(entry, layouts, CONSUMER)
        consumer = self.consumers(role, graph, self.products, self.shared)
        consumer.arrive()
        consumer.walk(walk, body, stretches)
        consumer.leave(behind=False)
        consumer.values.count([s.value for s in block.stores])
        results: dict[str, tuple[str, tuple[str, ...]]] = {}
        for store in block.stores:
            tensor = entry.tensor(store.name, store.order, store.dtype, written=True)
            result = Result(store, tensor.pointer) if store in self.stores else None
            consumer.store(store, result)
            if store.name in self.shared.results:
                results[store.name] = tensor.pointer, store.order
        consumer.leave(behind=True)
        if entry.waves is not None:
            self._repeated(entry.waves, (producer_role, role))
        return self.assembled(producer_role, role, results)

    def through_shared(self) -> tuple[Store, ...]:
        """The stores that the copy engine makes."""
        return copied_out(self.graph.block, self.products)

    def _repeated(self, waves: Waves, roles: tuple[Role, Role]) -> None:
        """What the roles do becomes the body of a loop over tiles; the entry counts these."""
        decided, self.entry.lines = self.entry.lines.lines, Writer(1)
        self.entry.lines.line(f"{waves.tiles} = {self.entry.count()}")
        for role in roles:
            body = role.lines.lines
            if self.graph.pingpong and role.which == CONSUMER:
                body = waves.every(CONSUMERS, CONSUMER, body)
            for filled, counted in self.filled.items():
                role.before.line(f"{filled} = 0")
                body = [*body, f"{INDENT}{filled} = {counted}"]
            decides = needed(decided, used("\n".join(body)))
            if role.which == WHICH:
                decides = [line.replace(LANES, WARP_LANES) for line in decides]
            body = decides + body
            role.lines = Writer(1)
            role.lines.lines = [*role.before.lines, *waves.around(body), *role.behind.lines]

    def _layouts(self) -> Layouts:
        """How values lie: results of products decide, then whatever else has two axes."""
        tiles = []
        for body in self.graph.bodies:
            for instr in body.instrs:
                product = self.products.of(instr.value)
                tiles += [(product.row, product.column)] if product else []
        roots = [i.value for b in self.graph.bodies for i in b.instrs]
        roots += [s.value for s in self.graph.block.stores]
        for node in topo(roots, self._in_registers):
            if len(dims := self.products.dims(node)) == 2:
                tiles.append((dims[0], dims[1]))
        for store in self.graph.block.stores:
            dims = self.entry.dims(store.order)
            tiles += [(dims[0], dims[1])] if len(dims) == 2 else []
        return layouts_of(tiles)

    def _in_registers(self, node: Node) -> tuple[Node, ...]:
        """The arguments of ``node`` that are in registers."""
        product = self.products.of(node)
        if product is None:
            return children(node)
        return () if product.left in self.graph.by_tensor else (product.left,)

    def _stretches(self, walk: Walk) -> list[Stretch]:
        """Prints how many tiles each loop of ``walk`` has."""
        entry = self.entry
        values = Expressions(entry, [])
        ranges = Ranges(entry, values)
        span = ranges.span(walk)
        stem, tile = entry.stem(walk.axis), entry.tile(walk.axis)
        found: list[Stretch] = []
        start = before = entry.names.fresh(f"{stem}_filled") if self.graph.persistent else "0"
        for segment in span.segments[::-1] if walk.reverse else span.segments:
            length = segment.end if segment.begin == "0" else f"{segment.end} - {segment.begin}"
            count = entry.names.fresh(f"{stem}_count")
            text = f"tl.cdiv({length}, {tile})"
            positive = segment.begin == "0" and segment.end == entry.size(walk.axis)
            entry.lines.line(f"{count} = {text if positive else f'tl.maximum({text}, 0)'}")
            found.append(self._stretch(walk, segment, count, before))
            before = plus(before, count)
        if self.graph.persistent:
            self.filled[start] = before
        if self.graph.joined and len(found) == 2 and not any(s.unless for s in found):
            return [self._joined(start, *sorted(found, key=lambda s: not s.clear))]
        return found

    def _joined(self, before: str, clear: Stretch, masked: Stretch) -> Stretch:
        """Both stretches of a walk as one, whose tiles are in the order of their positions."""
        entry, axis = self.entry, clear.walk.axis
        stem = entry.stem(axis)
        count = entry.names.fresh(f"{stem}_count")
        entry.lines.line(f"{count} = {clear.count} + {masked.count}")
        if masked.jump is None:
            bound = "0", clear.count
            return replace(clear, count=count, before=before, clear=False, bound=bound)
        first, end = (entry.names.fresh(f"{stem}_clear_{word}") for word in ("tile", "end"))
        length = masked.jump[0] if masked.begin == "0" else f"({masked.jump[0]} - {masked.begin})"
        entry.lines.line(f"{first} = {length} // {entry.tile(axis)}")
        entry.lines.line(f"{end} = {first} + {clear.count}")
        return replace(masked, count=count, before=before, jump=None, bound=(first, end))

    def _stretch(self, walk: Walk, segment: Segment, count: str, before: str) -> Stretch:
        entry = self.entry
        begin = segment.begin
        if not begin.isidentifier() and begin != "0":
            begin = entry.names.fresh(f"{entry.stem(walk.axis)}_begin")
            entry.lines.line(f"{begin} = {segment.begin}")
        clear = segment.clear
        return Stretch(walk, begin, count, before, clear, segment.unless, segment.jump)

    # Text.

    def assembled(
        self, producer: Role, consumer: Role, results: dict[str, tuple[str, tuple[str, ...]]]
    ) -> StructKernel:
        """The functions of the roles and the entry, which starts them."""
        entry, graph = self.entry, self.graph
        lines = Writer(1)
        lines.line(f"{CONSUMERS}: gl.constexpr = {graph.consumers}")
        lines.lines += entry.lines.lines
        self.shared.allocate(lines, results)
        texts = {
            "producer": _text(producer),
            "consumer": _text(consumer),
        }
        constants = self._constants()
        offered = [*self._plain(), *constants, CONSUMERS, CONSUMER]
        offered += [n for n in self._local(lines) if n not in offered]
        taken = {r: [n for n in offered if n in used(t)] for r, t in texts.items()}
        with lines.block("gl.warp_specialize("):
            with lines.block("["):
                for number in range(graph.consumers):
                    given = [str(number) if n == CONSUMER else n for n in taken["consumer"]]
                    lines.line(fill(f"({self.name}_consumer, ", given, "),"))
                lines.line(fill(f"({self.name}_producer, ", taken["producer"], "),"))
            lines.line("],")
            warps = [WARPS] * (graph.consumers - 1) + [1]
            registers = [graph.registers[0]] * (graph.consumers - 1) + [graph.registers[1]]
            lines.line(f"{warps},")
            lines.line(f"{registers},")
        lines.line(")")
        head = Writer()
        for role, text in texts.items():
            arguments = [
                f"{n}: gl.constexpr" if n in {*constants, CONSUMERS, CONSUMER} else n
                for n in taken[role]
            ]
            head.line(fill(f"@gluon.jit\ndef {self.name}_{role}", arguments, ":"))
            head.lines += text.split("\n")
            head.line()
            head.line()
        arguments = [*self._plain(typed=True), *(f"{c}: gl.constexpr" for c in constants)]
        head.line(fill(f"@gluon.jit\ndef {self.name}", arguments, ":"))
        text = head.text() + spelled(lines.text())
        return self._made(text)

    def _made(self, text: str) -> StructKernel:
        """The kernel with this text."""
        entry, graph = self.entry, self.graph
        kernel = Kernel(
            self.name,
            text,
            graph.block,
            entry.tensors,
            entry.sizes,
            entry.scalars,
            entry.tiles,
            False,
            tuple(entry.helpers),
            bool(entry.grouped),
        )
        moving = tuple(t.name for p in graph.pipes if p.walk for t in p.tensors)
        return StructKernel(kernel, self.shared.slots, graph.split, graph.consumers, moving)

    def _plain(self, typed: bool = False) -> list[str]:
        """The parameters of the kernel that are no constants."""
        entry = self.entry
        found = [t.pointer for t in entry.tensors]
        wide = ": gl.int64" if typed else ""
        found += [f"{s}{wide}" for t in entry.tensors for _, s in t.strides]
        return [*found, *(p for _, p in entry.sizes), *(s.parameter for s in entry.scalars)]

    def _constants(self) -> list[str]:
        """The constexprs of the kernel."""
        entry = self.entry
        found = [t.tile for t in entry.tiles] + [t.even for t in entry.tiles]
        found += [name for name, _ in self.shared.slots]
        return [*found, *(["GROUP"] if entry.grouped else [])]

    def _local(self, lines: Writer) -> list[str]:
        """The variables of the entry, in the order in which they are assigned."""
        found = [line.strip().partition(" = ")[0] for line in lines.lines if " = " in line]
        return [n for n in dict.fromkeys(found) if n.isidentifier()]


def _text(role: Role) -> str:
    """The body of the function of a role."""
    return spelled("\n".join([*role.constants.lines, *role.lines.lines]))
