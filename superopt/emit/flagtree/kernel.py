"""A thread graph in TLE-Struct: a function for each role, and the entry that starts them.

It is the thread graph of the Gluon text: the same pipes, instructions, schedule and registers.
Results are stored by address; what TLE has no word for is refused.
"""

from __future__ import annotations

from superopt.emit.flagtree.pipes import Lying
from superopt.emit.flagtree.pipes import Pipes
from superopt.emit.flagtree.roles import TleConsumer
from superopt.emit.flagtree.roles import TleProducer
from superopt.emit.flagtree.words import spelled
from superopt.emit.kernel import StructKernel
from superopt.emit.struct.dialect import used
from superopt.emit.struct.frames import CONSUMER
from superopt.emit.struct.frames import CONSUMERS
from superopt.emit.struct.frames import Role
from superopt.emit.struct.kernel import Struct
from superopt.emit.writer import Writer
from superopt.emit.writer import fill
from superopt.errors import NotEmittable
from superopt.threads.build import WARPS
from superopt.ugraph.levels import Store
from superopt.ugraph.threads import ThreadGraph

NO_TURNS = (
    "consumers that take turns have no word: a tle.pipe orders its writer and its readers, and no "
    "readers among each other"
)


def print_threads(graph: ThreadGraph, name: str) -> StructKernel:
    """Prints ``graph`` as function ``name``, with its roles.

    Raises:
        NotEmittable: something in the graph has no word; the message says what.
    """
    if (graph.ring or graph.pingpong) and graph.consumers > 1:
        raise NotEmittable(NO_TURNS)
    return _Struct(graph, name).printed()


class _Struct(Struct):
    shares = Pipes
    roles = Lying
    producers = TleProducer
    consumers = TleConsumer
    shared: Pipes

    def through_shared(self) -> tuple[Store, ...]:
        return ()

    def assembled(
        self, producer: Role, consumer: Role, results: dict[str, tuple[str, tuple[str, ...]]]
    ) -> StructKernel:
        entry, graph = self.entry, self.graph
        lines = Writer(1)
        lines.line(f"{CONSUMERS}: tl.constexpr = {graph.consumers}")
        lines.lines += entry.lines.lines
        ends, local = self.shared.ends, self._local(lines)
        self.shared.allocate(lines, results)
        texts = {"producer": _text(producer), "consumer": _text(consumer)}
        constants = {*self._constants(), CONSUMERS, CONSUMER}
        offered = dict.fromkeys([*ends, *self._plain(), *self._constants(), *local])
        offered |= dict.fromkeys((CONSUMERS, CONSUMER))
        taken = {r: [n for n in offered if n in used(t)] for r, t in texts.items()}
        with lines.block("tle.gpu.warp_specialize("):
            with lines.block("["):
                for number in range(graph.consumers):
                    self._start(lines, "consumer", taken["consumer"], number)
                self._start(lines, "producer", taken["producer"], -1)
            lines.line("],")
            warps = [WARPS] * (graph.consumers - 1) + [1]
            registers = [graph.registers[0]] * (graph.consumers - 1) + [graph.registers[1]]
            lines.line(f"{warps},")
            lines.line(f"{registers},")
        lines.line(")")
        head = Writer()
        for role, text in texts.items():
            arguments = [f"{n}: tl.constexpr" if n in constants else n for n in taken[role]]
            head.line(fill(f"@triton.jit\ndef {self.name}_{role}", arguments, ":"))
            head.lines += text.split("\n")
            head.line()
            head.line()
        arguments = [*self._plain(typed=True), *(f"{c}: tl.constexpr" for c in self._constants())]
        head.line(fill(f"@triton.jit\ndef {self.name}", arguments, ":"))
        text = spelled(head.text() + lines.text())
        return self._made(text)

    def _start(self, lines: Writer, role: str, taken: list[str], consumer: int) -> None:
        """A role with what it is given."""
        given = [
            str(consumer) if name == CONSUMER else self.shared.given(name, consumer)
            for name in taken
        ]
        lines.line(fill(f"({self.name}_{role}, ", given, "),"))


def _text(role: Role) -> str:
    """The body of the function of a role."""
    return spelled("\n".join(role.lines.lines))
