"""What follows from a schedule: passes of the loop, products in flight, values kept for later.

A loop of ``n`` iterations with ``S`` stages has ``n + S - 1`` steps: in step ``j``, what is at
stage ``s`` belongs to iteration ``j - s``, if there is one. The first ``S - 1`` steps and the last
ones lack some stages; they are printed apart from the loop, as **passes**. The loop is entered
only if ``n >= S - 1``.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass

from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import Place
from superopt.ugraph.threads import Use


@dataclass(frozen=True)
class Event:
    """Something that happens in a step: an instruction, or (``wait``) the wait for a product."""

    place: Place
    name: str
    wait: bool = False


@dataclass(frozen=True)
class Pass:
    """One step as it is printed: the ``number``-th of a ``kind`` (``first``, ``loop``, ``last``).

    ``stages``: those that have an iteration.
    """

    kind: str
    number: int
    stages: tuple[int, ...]

    def iteration(self, stage: int, step: str, count: str) -> str:
        """The iteration that ``stage`` is in, as text. ``step``: the variable of the loop."""
        match self.kind:
            case "first":
                return str(self.number - stage)
            case "loop":
                return f"{step} - {stage}" if stage else step
            case _:
                return f"{count} - {stage - self.number}"


def passes(stages: int) -> tuple[Pass, ...]:
    """The passes of a loop with so many stages, in order."""
    depth = range(stages)
    first = [Pass("first", p, tuple(depth[: p + 1])) for p in range(stages - 1)]
    last = [Pass("last", p, tuple(depth[p + 1 :])) for p in range(stages - 1)]
    return (*first, Pass("loop", 0, tuple(depth)), *last)


def events(body: Body) -> tuple[Event, ...]:
    """All that happens in a step of ``body``, in order."""
    found = [Event(place, name) for name, place in body.schedule.places]
    found += [Event(place, name, True) for name, place in body.schedule.waits]
    return tuple(sorted(found, key=lambda e: e.place.order))


def issuing(body: Body, happening: Iterable[Event]) -> list[Event]:
    """The events among ``happening`` that issue a product."""
    names = body.by_name
    return [e for e in happening if not e.wait and names[e.name].op is Op.PRODUCT]


def ready(body: Body, instr: Instr) -> Place:
    """From when on the result of ``instr`` may be read."""
    schedule = body.schedule
    return (schedule.wait if instr.op is Op.PRODUCT else schedule.place)[instr.name]


def age(body: Body, reader: Instr, use: Use) -> int:
    """How many newer values of ``use.name`` there are when ``reader`` reads it.

    Negative: it is not there yet.
    """
    source, at = ready(body, body.by_name[use.name]), body.schedule.place[reader.name]
    steps = at.stage + use.back - source.stage
    return steps - (at.order <= source.order)


def kept(body: Body) -> dict[str, int]:
    """How many older values of each result are still read when a new one comes."""
    found = {i.name: 0 for i in body.instrs}
    for reader in body.instrs:
        for use in body.uses(reader):
            found[use.name] = max(found[use.name], age(body, reader, use))
    return found


def chained(body: Body, product: Instr) -> bool:
    """Whether ``product`` adds to its own result of the iteration before, and may do so while
    that is in flight."""
    return product.onto == Use(product.name, 1) and age(body, product, product.onto) < 0


def reading(body: Body, pipes: Iterable[Pipe]) -> dict[str, tuple[Event, Event]]:
    """By pipe: what is first to read a tile of it, and what is last to be done with it."""
    places, waits = body.schedule.place, body.schedule.wait
    found: dict[str, tuple[Event, Event]] = {}
    for pipe in pipes:
        readers = [i for i in body.instrs if set(pipe.tensors) & set(body.tensors(i))]
        begin = [Event(places[i.name], i.name) for i in readers]
        end = [
            Event(waits[i.name], i.name, True)
            if i.op is Op.PRODUCT
            else Event(places[i.name], i.name)
            for i in readers
        ]
        found[pipe.name] = min(begin, key=_when), max(end, key=_when)
    return found


def _when(event: Event) -> tuple[int, int]:
    return event.place.stage, event.place.order


Key = tuple[str, int, int]  # kind and number of a pass, place among the events


def last_taken(body: Body, pipes: Iterable[Pipe]) -> Key:
    """Where a walk is through with what others wait for: behind it, no product is issued and no
    tile of ``pipes`` is awaited."""
    first = {begin for begin, _ in reading(body, pipes).values()}
    listed = events(body)
    taking = {*issuing(body, listed), *first}
    for one in reversed(passes(body.schedule.stages)):
        for place, event in reversed([*enumerate(listed)]):
            if event in taking and event.place.stage in one.stages:
                return one.kind, one.number, place
    return "loop", 0, 0


def outstanding(body: Body) -> dict[Key, int]:
    """How many products may still be in flight behind each wait, wherever it is printed.

    It is the number of those that were issued after the one that is awaited; where that depends
    on the number of iterations (the first steps have fewer), the least. Every
    case is in loops of up to twice the stages.
    """
    stages = body.schedule.stages
    found: dict[Key, int] = {}
    for count in range(max(1, stages - 1), 2 * stages + 2):
        issued: list[tuple[str, int]] = []
        for key, event, iteration in _run(body, count):
            if not event.wait:
                if body.by_name[event.name].op is Op.PRODUCT:
                    issued.append((event.name, iteration))
                continue
            after = len(issued) - 1 - issued.index((event.name, iteration))
            found[key] = min(found.get(key, after), after)
    return found


def _run(body: Body, count: int) -> Iterator[tuple[Key, Event, int]]:
    """All that happens in a loop of ``count`` iterations: where it is printed, what, and of which
    iteration."""
    stages, listed = body.schedule.stages, events(body)
    for step in range(count + stages - 1):
        kind, number = ("first", step) if step < stages - 1 else ("loop", 0)
        if step >= count:
            kind, number = "last", step - count
        for place, event in enumerate(listed):
            iteration = step - event.place.stage
            if 0 <= iteration < count:
                yield (kind, number, place), event, iteration
