"""Thread graphs as text that ``parse_threads`` turns into the same graph.

In the text of an instruction ``%name`` is the result of another one::

    threads
      rows m consumers 2 registers 240 24
      config m=64 d=128 n=128 e=128 | parts=1 warps=4 stages=2
      pipe k capacity 2 along n of k[b h n d]
      body n
        product product_1 at 0 0 awaited 0 2 = add[d](mul(q[b h m d], k[b h n d]))
        compute max_3 at 0 4 = max[n](%product_1)
        load k at 0 0
    kernel
      ...

``at 0 4`` is a stage and a place in the order of a step.
"""

from __future__ import annotations

from superopt.errors import ParseError
from superopt.ugraph.lines import Line
from superopt.ugraph.lines import lines
from superopt.ugraph.node import Input
from superopt.ugraph.parse import Reader
from superopt.ugraph.parse_parts import read_config
from superopt.ugraph.text import _block
from superopt.ugraph.text import _config
from superopt.ugraph.text import _Writer
from superopt.ugraph.text import tensor
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import Place
from superopt.ugraph.threads import Schedule
from superopt.ugraph.threads import ThreadGraph
from superopt.ugraph.threads import Use

FLAGS = ("ring", "joined", "persistent", "pingpong")


def show_threads(graph: ThreadGraph) -> str:
    """The text of ``graph``."""
    writer = _Writer()
    writer.line(0, "threads")
    consumer, producer = graph.registers
    numbers = f"consumers {graph.consumers} registers {consumer} {producer}"
    flags = [word for word in FLAGS if getattr(graph, word)]
    writer.line(1, " ".join([f"rows {graph.rows} {numbers}", *flags]))
    writer.line(1, _config(graph.config))
    for pipe in graph.pipes:
        along = f" along {pipe.walk}" if pipe.walk else ""
        tensors = ", ".join(tensor(t.name, t.order, t.dtype) for t in pipe.tensors)
        writer.line(1, f"pipe {pipe.name} capacity {pipe.capacity}{along} of {tensors}")
    for body in graph.bodies:
        _body(writer, body)
    _block(writer, graph.block, "kernel")
    return "\n".join(writer.lines) + "\n"


def _body(writer: _Writer, body: Body) -> None:
    schedule = body.schedule
    model = f"interval {schedule.interval} registers {schedule.registers} phase {schedule.phase}"
    writer.line(1, f"body {body.axis} {model}")
    writer.share([i.value for i in body.instrs])
    for instr in body.instrs:
        writer.uses[instr.value] = 0  # it has a name
    for instr in body.instrs:
        value = writer.expression(instr.value, 2)
        words = [instr.op.value, instr.name, _at("at", schedule.place[instr.name])]
        if instr.op is Op.PRODUCT:
            words.append(_at("awaited", schedule.wait[instr.name]))
        words += [f"carry {instr.carry}"] if instr.carry else []
        words += [f"onto {instr.onto.name} {instr.onto.back}"] if instr.onto else []
        writer.line(2, f"{' '.join(words)} = {value}")
        if instr.op is not Op.OPERAND:
            writer.texts[instr.value] = f"%{instr.name}"
    for name, place in schedule.loads:
        writer.line(2, f"load {name} {_at('at', place)}")


def _at(word: str, place: Place) -> str:
    return f"{word} {place.stage} {place.order}"


def parse_threads(text: str) -> ThreadGraph:
    """The graph that ``text`` says.

    Raises:
        ParseError: it says none; the message begins with the number of the line.
    """
    reader = Reader(list(lines(text)))
    if not reader.lines:
        raise ParseError("line 1: the text is empty")
    head = _entered(reader, "threads", 0)
    head.end()
    line = _entered(reader, "rows", 1)
    rows = line.name()
    line.expect("consumers")
    consumers = line.integer()
    line.expect("registers")
    registers = line.integer(), line.integer()
    flags = {word: line.accept(word) for word in FLAGS}
    line.end()
    config = read_config(_entered(reader, "config", 1))
    pipes = []
    while found := reader.section("pipe", 1):
        pipes.append(_read_pipe(reader, found))
    bodies = []
    while found := reader.section("body", 1):
        bodies.append(_read_body(reader, found))
    block = reader.block()
    if (rest := reader.next_line()) is not None:
        rest.fail(f"{rest.peek()!r} does not belong here")
    return ThreadGraph(
        block, config, rows, consumers, registers, tuple(pipes), tuple(bodies), **flags
    )


def _entered(reader: Reader, word: str, depth: int) -> Line:
    line = reader.section(word, depth)
    if line is None:
        last = reader.lines[min(reader.at, len(reader.lines) - 1)]
        last.fail(f"expected {word!r}")
    return line


def _read_pipe(reader: Reader, line: Line) -> Pipe:
    name = line.name()
    line.expect("capacity")
    capacity = line.integer()
    walk = line.name() if line.accept("along") else ""
    line.expect("of")
    tensors = [Input(*reader.tensor(line))]
    while line.accept(","):
        tensors.append(Input(*reader.tensor(line)))
    line.end()
    return Pipe(name, tuple(tensors), capacity, walk)


def _read_body(reader: Reader, line: Line) -> Body:
    axis = line.name()
    numbers = []
    for word in ("interval", "registers", "phase"):
        line.expect(word)
        numbers.append(line.integer())
    line.end()
    instrs: list[Instr] = []
    places: list[tuple[str, Place]] = []
    waits: list[tuple[str, Place]] = []
    while (found := reader.next_line()) is not None and found.peek() in {o.value for o in Op}:
        reader.at += 1
        op, name = Op(found.take()), found.name()
        places.append((name, _read_place(found, "at")))
        if op is Op.PRODUCT:
            waits.append((name, _read_place(found, "awaited")))
        carry = found.name() if found.accept("carry") else ""
        onto = Use(found.name(), found.integer()) if found.accept("onto") else None
        found.expect("=")
        value = reader.expression(found)
        found.end()
        instrs.append(Instr(name, op, value, carry, onto))
        if op is not Op.OPERAND:
            reader.bound[name] = value
    loads: list[tuple[str, Place]] = []
    while found := reader.section("load", 2):
        loads.append((found.name(), _read_place(found, "at")))
        found.end()
    interval, registers, phase = numbers
    schedule = Schedule(tuple(places), tuple(waits), tuple(loads), interval, registers, phase)
    return Body(axis, tuple(instrs), schedule)


def _read_place(line: Line, word: str) -> Place:
    line.expect(word)
    return Place(line.integer(), line.integer())
