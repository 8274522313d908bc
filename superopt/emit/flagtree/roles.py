"""The producer and the consumers in the words of TLE."""

from __future__ import annotations

from superopt.emit.expression import Expressions
from superopt.emit.flagtree.pipes import Edge
from superopt.emit.flagtree.pipes import Pipes
from superopt.emit.struct.consumer import Consumer
from superopt.emit.struct.loops import Loop
from superopt.emit.struct.producer import Producer
from superopt.emit.struct.values import Values
from superopt.emit.value import Value
from superopt.emit.writer import Writer
from superopt.errors import NotEmittable
from superopt.threads.flight import Event
from superopt.ugraph.contraction import MatrixProduct
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import Use
from superopt.ugraph.walk import topo


class TleProducer(Producer):
    """Acquires a slot, copies a tile, commits it."""

    shared: Pipes

    def once(self) -> None:
        """Prints the copies that are made once a tile of the grid."""
        for pipe in (p for p in self.shared.pipes if not p.walk):
            self._next(pipe, once(self), {}, self.role.lines)

    def _next(self, pipe: Pipe, number: str, slots: dict[str, str], lines: Writer) -> None:
        for edge in self.shared.of(pipe):
            for consumer, writer in enumerate(edge.writers):
                slot = self.role.names.fresh(f"{edge.stem}_slot")
                lines.line(f"{slot} = {writer}.acquire({number})")
                which, self.role.which = self.role.which, str(consumer)
                for tensor in edge.tensors:
                    self._copy(tensor, slot, lines)
                self.role.which = which
                lines.line(f"{writer}.commit({number})")

    def _copy(self, tensor: Input, slot: str, lines: Writer) -> None:
        box = ", ".join(self.shared.box(tensor.order))
        at = ", ".join(self.at(tensor.order))
        described = self.shared.descriptor(tensor)
        lines.line(f"tle.gpu.copy({described}, {slot}.{tensor.name}, [{box}], [{at}])")


def once(role: Producer | TleConsumer) -> str:
    """The number of what comes once a tile of the grid: how many tiles the program has had."""
    waves = role.role.entry.waves
    return "0" if waves is None else waves.wave


class TleValues(Values):
    """Expressions without layouts; tiles in shared memory are read by their addresses."""

    def _load(self, node: Input) -> Value:
        if node not in self.pipes:
            return super()._load(node)
        dims = self.frame.dims(node.order)
        text = f"tl.load(tle.gpu.local_ptr({self.shared(node, dims)}))"
        return Value(f"tl.trans({text})" if self.turned(node, dims) else text, dims, node.kind)

    def shared(self, node: Input, dims: tuple[str, ...]) -> str:
        """The tile of ``node`` in shared memory, its axes in the order of memory."""
        kept = self._kept(node)
        shape = f".reshape([{', '.join(self.frame.tile(a) for a in kept)}])"
        return self.slot(node) + (shape if kept != node.order else "")

    def turned(self, node: Input, dims: tuple[str, ...]) -> bool:
        """Whether that order is not ``dims``."""
        return self._kept(node) != dims

    def _kept(self, node: Input) -> tuple[str, ...]:
        return tuple(a for a in node.order if a in self.frame.dims(node.order))

    def _fold(self, node: Reduce) -> Value:
        return Expressions._fold(self, node)

    def left(self, product: MatrixProduct, axis: str) -> str:
        """The left operand of a product in registers, rounded to the dtype of the product."""
        return self._operand(product, product.left, (product.row, axis), axis)


class TleLoop(Loop):
    """Waits for tiles and gives them back by their numbers."""

    shared: Pipes
    values: TleValues

    def _turn(self, event: Event, issues: list[Event], instr: Instr) -> None:
        self._issue(instr)

    def _acquire(self, event: Event) -> None:
        for name, (first, _) in self.reading.items():
            for edge in self.shared.of(self.pipes[name]) if first == event else ():
                ready, number = self.role.names.fresh(f"{edge.stem}_ready"), self._counted()
                self.lines.line(f"{ready} = {edge.reader}.wait({number})")
                assert self.now is not None
                self.now.slots[edge.reader] = ready

    def _release(self, event: Event) -> None:
        for name, (_, last) in self.reading.items():
            for edge in self.shared.of(self.pipes[name]) if last == event else ():
                self.lines.line(f"{edge.reader}.release({self._counted()})")

    def tile(self, tensor: Input) -> str:
        """The tile of ``tensor`` in shared memory that the iteration in hand reads."""
        edge = self.shared.edge(tensor)
        known = self.shared.ready
        if edge.pipe.walk:
            known = self.now.slots if self.now is not None else {}
        if edge.reader not in known:
            raise NotEmittable(
                f"{tensor.name!r} is read in several steps of the loop, and a slot of a tle.pipe "
                "is known in the step that waits for it"
            )
        return f"{known[edge.reader]}.slot.{tensor.name}"

    def _issue(self, instr: Instr) -> None:
        product = self._product(instr)
        assert isinstance(instr.value, Reduce)
        assert isinstance(product.right, Input)
        axis, dims, words = instr.value.axis, (product.row, product.column), []
        left, tile = product.left, (product.row, instr.value.axis)
        if isinstance(left, Input):
            first = self.values.shared(left, tile)
            words += ["trans_a=True"] * self.values.turned(left, tile)
        elif left in self.body.operands:
            first = self._read(instr, Use(self.body.operands[left]))
        else:
            text = self.values.left(product, axis)
            first = self.values.outside(("operand", left), text, "operand")
        tile = (axis, product.column)
        second = self.values.shared(product.right, tile)
        words += ["trans_b=True"] * self.values.turned(product.right, tile)
        onto, _ = self._onto(instr, dims)
        text = ", ".join([first, second, *([onto] if onto else []), *words])
        self.lines.line(f"{self._flight(instr)} = tle.gpu.wgmma({text})")

    def _onto(self, instr: Instr, dims: tuple[str, str]) -> tuple[str, str]:
        return (self._read(instr, instr.onto) if instr.onto is not None else "", "")

    def _landed(self, instr: Instr, allowed: int) -> str:
        return f"tle.gpu.wgmma_wait({allowed}, {self._flight(instr)})"


class TleConsumer(Consumer):
    """Reads what has come through pipes, and stores by address."""

    expressions = TleValues
    loops = TleLoop
    shared: Pipes

    def arrive(self) -> None:
        """Prints the wait for what is copied once a tile of the grid."""
        for edge in self._once():
            ready = self.role.names.fresh(f"{edge.stem}_ready")
            self.role.lines.line(f"{ready} = {edge.reader}.wait({once(self)})")
            self.shared.ready[edge.reader] = ready

    def leave(self, behind: bool) -> None:
        """Prints that what was copied once is read no more."""
        stored: list[Node] = [s.value for s in self.graph.block.stores]
        read = {n for n in topo(stored) if isinstance(n, Input)}
        for edge in self._once():
            if behind is not read.isdisjoint(edge.pipe.tensors):
                self.role.lines.line(f"{edge.reader}.release({once(self)})")

    def _once(self) -> list[Edge]:
        return [e for e in self.shared.edges if not e.pipe.walk]
