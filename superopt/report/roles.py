"""What the warps of each launch of a winner do: roles, pipes and schedule, or why there are none.

All of it is made again from the graph and its Configs: nothing of it is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from superopt.case import Case
from superopt.device import target
from superopt.emit.struct.launch import with_roles
from superopt.report.algebra import algebra
from superopt.report.algebra import plain
from superopt.report.boxes import Box
from superopt.report.boxes import Line
from superopt.run import Candidate
from superopt.search.roles import why_none
from superopt.threads.build import of_config
from superopt.threads.build import shared_bytes
from superopt.threads.flight import events
from superopt.threads.flight import outstanding
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.split import launches
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import ThreadGraph
from superopt.ugraph.threads import operands_of
from superopt.ugraph.walk import substitute

NO_BETTER = "there may be some, but a plain function was better, or products do not bind"


@dataclass(frozen=True)
class Roles:
    """A launch with roles. ``conversions``: changes of layout in its text, and how many of them
    the compiler was told to refuse if they move anything. ``shared``: bytes of its tiles."""

    launch: int
    graph: ThreadGraph
    conversions: tuple[int, int]
    shared: int


def roles_of(winner: Candidate, case: Case) -> list[Roles]:
    """The launches of ``winner`` with roles."""
    found = []
    for number, (run, config) in enumerate(
        zip(launches(winner.graph), winner.configs, strict=True)
    ):
        if not config.consumers:
            continue
        graph = of_config(run, config, case.storage)
        text = with_roles(run, "kernel", config, case.storage).kernel.text
        counts = text.count("gl.convert_layout("), text.count("assert_trivial=True")
        found.append(Roles(number, graph, counts, shared_bytes(graph, case.storage)))
    return found


def told(winner: Candidate, case: Case, device: str) -> Iterator[str]:
    """A line for each launch, and for those with roles some more."""
    made = {r.launch: r for r in roles_of(winner, case)}
    for number, run in enumerate(launches(winner.graph)):
        if number not in made:
            why = why_none(run, case.sizes, case.storage, target(device)) or NO_BETTER
            yield f"launch {number}: no roles: {why}"
            continue
        yield f"launch {number}: {_summary(made[number])}"
        graph = made[number].graph
        yield from (f"  pipe {_pipe(p)}" for p in graph.pipes)
        for body in graph.bodies:
            yield from (f"  {line}" for line in _steps(body))


def thread_boxes(roles: Roles) -> tuple[Box, ...]:
    """A program with roles as boxes: the producer, and a consumer with all that it does."""
    graph = roles.graph
    consumer, producer = graph.registers
    inside = [
        _box(
            [f"producer: 1 warp, {producer} registers a thread"],
            [f"copy {_pipe(p)}" for p in graph.pipes],
        )
    ]
    split = f"{graph.config.tile[graph.rows]} of {graph.rows} each"
    split += ", whole tiles in turn" * graph.pingpong
    head = f"{graph.consumers} consumers: 4 warps, {split}, {consumer} registers a thread"
    for body in graph.bodies:
        inside.append(_box([head, f"a step of the walk of {body.axis}"], [*_steps(body)]))
    return (
        Box(
            "kernel",
            (Line("head", f"launch {roles.launch}: {_summary(roles)}"),),
            tuple(inside),
            (),
            (),
            tuple(f"{s.name}[{' '.join(s.order)}]" for s in graph.block.all_stores),
            frozenset(),
        ),
    )


def _box(head: list[str], body: list[str]) -> Box:
    lines = tuple(Line("plain", text) for text in body)
    return Box("walk", tuple(Line("head", h) for h in head), (), lines, (), (), frozenset())


def _summary(roles: Roles) -> str:
    graph = roles.graph
    turns = ", in turns" * graph.ring + ", which take whole tiles in turn" * graph.pingpong
    loop = ", masked tiles in the same loop" * graph.joined
    loop += ", each program for several tiles" * graph.persistent
    (total, free), registers = roles.conversions, graph.registers
    return (
        f"1 producer and {graph.consumers} consumers of {graph.config.tile[graph.rows]} "
        f"{graph.rows}{turns}{loop}; {registers[1]} and {registers[0]} registers a thread; "
        f"{roles.shared} bytes in tiles; {total} conversions of layouts, {free} of them free"
    )


def _pipe(pipe: Pipe) -> str:
    tensors = ", ".join(f"{t.name}[{' '.join(t.order)}]" for t in pipe.tensors)
    once = f"once a tile, {pipe.capacity} slots" if pipe.capacity > 1 else "once"
    slots = f"{pipe.capacity} slots along {pipe.walk}" if pipe.walk else once
    return f"{pipe.name}: {tensors}, {slots}"


def _own(body: Body, instr: Instr) -> Node:
    """What ``instr`` computes, with the names of others in it."""
    others = [i for i in body.instrs if i.name != instr.name and i.op is not Op.OPERAND]
    by: dict[Node, Node] = {
        i.value: Input(i.name, tuple(i.value.axes), "fp32")
        for i in others
        if i.value is not instr.value
    }
    operands = {i.value: i for i in body.instrs if i.op is Op.OPERAND}
    if instr.op is Op.PRODUCT:
        left = operands_of(instr)[0]
        if left in operands:
            by[left] = Input(operands[left].name, tuple(left.axes), "fp32")
    elif instr.op is Op.OPERAND:
        by |= {i.value: Input(i.name, tuple(i.value.axes), "fp32") for i in others}
    return substitute(instr.value, by)


def _steps(body: Body) -> Iterator[str]:
    """What happens in a step, in order, with the iterations that it belongs to."""
    values = {i.name: algebra(plain(_own(body, i))) for i in body.instrs}
    flying = outstanding(body)
    for place, event in enumerate(events(body)):
        back = f"[-{event.place.stage}]" if event.place.stage else ""
        if event.wait:
            left = flying.get(("loop", 0, place), 0)
            yield f"await {event.name}{back}, {left} more in flight"
        else:
            kind = body.by_name[event.name].op.value
            yield f"{kind} {event.name}{back} = {values[event.name]}"
