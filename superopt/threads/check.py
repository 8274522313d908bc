"""Whether a schedule is legal: values are there when they are read, and no role waits for ever.

The roles are few and do not depend on data, so the second is found by letting them run: one
consumer (all do the same) and the producer, each as far as it comes, for loops of every length up
to a few times the stages and slots. If both are stuck, they would be on a device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from superopt.threads.flight import age
from superopt.threads.flight import chained
from superopt.threads.flight import events
from superopt.threads.flight import reading
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import ThreadGraph


def check(graph: ThreadGraph) -> list[str]:
    """Everything that is wrong with the schedules of ``graph``, one line each."""
    found = []
    for body in graph.bodies:
        pipes = [p for p in graph.pipes if p.walk == body.axis]
        problems = [*_named(body, pipes)]
        if not problems:
            problems = [*_early(body), *_unawaited(body)]
        if not problems:
            problems = [*_stuck(body, pipes)]
        found += problems
    return found


def _named(body: Body, pipes: list[Pipe]) -> Iterator[str]:
    """A schedule places every instruction, wait and load, each once and at a place of its own."""
    schedule = body.schedule
    products = [i.name for i in body.instrs if i.op is Op.PRODUCT]
    wanted = (
        ("instruction", schedule.places, [i.name for i in body.instrs]),
        ("wait", schedule.waits, products),
        ("load", schedule.loads, [p.name for p in pipes]),
    )
    for word, placed, names in wanted:
        counts = Counter(n for n, _ in placed)
        for name in dict.fromkeys([*names, *counts]):
            if counts[name] != names.count(name):
                yield f"the {word} of {name!r} is placed {counts[name]} times"
    for word, all_ in (("step", (*schedule.places, *schedule.waits)), ("load", schedule.loads)):
        orders = Counter(p.order for _, p in all_)
        for order in (o for o, n in orders.items() if n > 1):
            yield f"place {order} of a {word} is taken twice"
        if any(p.stage < 0 for _, p in all_):
            yield f"a {word} has a stage before the first"


def _early(body: Body) -> Iterator[str]:
    """Nothing is read before it is there."""
    for reader in body.instrs:
        for use in body.uses(reader):
            if age(body, reader, use) < 0 and not (
                reader.onto == use and use.name == reader.name and _alone(body, reader)
            ):
                yield f"{reader.name!r} reads {use.name!r} before it is there"


def _alone(body: Body, product: Instr) -> bool:
    """Whether no other instruction reads ``product``."""
    return not any(
        use.name == product.name
        for reader in body.instrs
        if reader is not product
        for use in body.uses(reader)
    )


def _unawaited(body: Body) -> Iterator[str]:
    """A product is awaited after it is issued; in the same step, unless it is a chain: the
    compiler would serialise all products if one that others touch were in flight at the end."""
    schedule = body.schedule
    for name, place in schedule.waits:
        issued = schedule.place[name]
        if (place.stage, place.order) < (
            issued.stage,
            issued.order,
        ) and place.stage <= issued.stage:
            yield f"{name!r} is awaited before it is issued"
        elif place.stage != issued.stage and not chained(body, body.by_name[name]):
            yield f"{name!r} is in flight at the end of a step, and others read it"
        elif place.stage > issued.stage + 1:
            yield f"{name!r} is awaited {place.stage - issued.stage} steps after it is issued"


def _stuck(body: Body, pipes: list[Pipe]) -> Iterator[str]:
    """No loop of a few iterations stops for ever."""
    slots = max((p.capacity for p in pipes), default=1)
    stages = body.schedule.stages
    for count in range(max(1, stages - 1), 2 * (stages + slots) + 1):
        if why := _blocked(body, pipes, count):
            yield f"with {count} iterations, {why}"
            return


def _blocked(body: Body, pipes: list[Pipe], count: int) -> str:
    """What both roles wait for in a loop of ``count`` iterations; empty if they end."""
    filled, emptied = Counter[str](), Counter[str]()
    capacity = {p.name: p.capacity for p in pipes}
    copies, work = _copies(body, count), _work(body, pipes, count)
    copy, step = next(copies, None), next(work, None)
    while copy is not None or step is not None:
        moved = False
        while copy is not None and filled[copy] - emptied[copy] < capacity[copy]:
            filled[copy] += 1
            copy, moved = next(copies, None), True
        while step is not None and (step[0] == "free" or filled[step[1]] > step[2]):
            if step[0] == "free":
                emptied[step[1]] += 1
            step, moved = next(work, None), True
        if not moved:
            waits = f"a consumer waits for tile {step[2]} of {step[1]!r}" if step else "all is read"
            return f"{waits}, and the producer for a slot of {copy!r}"
    return ""


def _copies(body: Body, count: int) -> Iterator[str]:
    """The pipes in the order in which the producer fills them."""
    loads = sorted(body.schedule.loads, key=lambda load: load[1].order)
    last = max((p.stage for _, p in loads), default=0)
    for step in range(count + last):
        yield from (name for name, place in loads if 0 <= step - place.stage < count)


def _work(body: Body, pipes: list[Pipe], count: int) -> Iterator[tuple[str, str, int]]:
    """What a consumer does with tiles: (take or free, pipe, iteration), in order."""
    listed, read = events(body), reading(body, pipes)
    for step in range(count + body.schedule.stages - 1):
        for event in listed:
            iteration = step - event.place.stage
            if not 0 <= iteration < count:
                continue
            for pipe, (first, last) in read.items():
                if event == first:
                    yield "take", pipe, iteration
                if event == last:
                    yield "free", pipe, iteration
