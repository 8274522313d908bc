"""Whether a schedule is legal: values are there when they are read, and no role waits for ever.

The roles are few and do not depend on data, so the second is found by letting them run: the
producer and one consumer (all do the same; with turns, all of them), each as far as it comes, for
loops of every length up to a few times the stages and slots. If all are stuck, they would be on a
device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from functools import lru_cache

from superopt.threads.flight import Event
from superopt.threads.flight import age
from superopt.threads.flight import chained
from superopt.threads.flight import events
from superopt.threads.flight import issuing
from superopt.threads.flight import reading
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import ThreadGraph


def check(graph: ThreadGraph) -> list[str]:
    """Everything that is wrong with the schedules of ``graph``, one line each."""
    if graph.pingpong and (graph.ring or graph.consumers < 2 or not graph.persistent):
        return [
            "consumers take tiles in turn only if there are several, of a program that takes "
            "several tiles, and they take no turns in a step as well"
        ]
    consumers = graph.consumers if graph.ring else 1
    return [
        problem
        for body in graph.bodies
        for problem in _problems(
            body, tuple(p for p in graph.pipes if p.walk == body.axis), consumers, graph.ring
        )
    ]


@lru_cache(maxsize=512)  # tiles are none of its arguments, so most graphs of a search are alike
def _problems(body: Body, pipes: tuple[Pipe, ...], consumers: int, ring: bool) -> tuple[str, ...]:
    return (
        tuple(_named(body, pipes))
        or (*_early(body), *_unawaited(body))
        or tuple(_stuck(body, pipes, consumers, ring))
    )


def _named(body: Body, pipes: Sequence[Pipe]) -> Iterator[str]:
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


def _stuck(body: Body, pipes: Sequence[Pipe], consumers: int, ring: bool) -> Iterator[str]:
    """No loop of a few iterations stops for ever."""
    slots = max((p.capacity for p in pipes), default=1)
    stages = body.schedule.stages
    listed, read = events(body), reading(body, pipes)
    for count in range(max(1, stages - 1), 2 * (stages + slots) + 1):
        work = [*_work(body, listed, read, count, ring)]
        run = _Run(
            {p.name: p.capacity for p in pipes},
            [*_copies(body, count)],
            [[*work] for _ in range(consumers)],
        )
        if why := run.blocked():
            yield f"with {count} iterations, {why}"
            return


Read = Mapping[str, tuple[Event, Event]]
Step = tuple[str, str, int]  # take, free, turn or pass; the pipe and the iteration


@dataclass
class _Run:
    """The producer and some consumers, on their way. ``copies``: the pipes in the order in which
    they are filled. ``work``: what each consumer does."""

    capacity: dict[str, int]
    copies: list[str]
    work: list[list[Step]]
    filled: Counter[str] = field(default_factory=Counter)
    passed: int = 0  # turns that are over

    def __post_init__(self) -> None:
        self.copies.reverse()
        for steps in self.work:
            steps.reverse()
        self.freed = [Counter[str]() for _ in self.work]

    def blocked(self) -> str:
        """What all wait for; empty if they end."""
        while self.copies or any(self.work):
            moved = [self._consume(which) for which in range(len(self.work))]
            if not self._produce() and not any(moved):
                return self._why()
        return ""

    def _produce(self) -> bool:
        moved = False
        while self.copies:
            pipe = self.copies[-1]
            if self.filled[pipe] - min(f[pipe] for f in self.freed) >= self.capacity[pipe]:
                break
            self.filled[self.copies.pop()] += 1
            moved = True
        return moved

    def _consume(self, which: int) -> bool:
        steps, begun = self.work[which], len(self.work[which])
        while steps:
            kind, pipe, iteration = steps[-1]
            if kind == "take" and self.filled[pipe] <= iteration:
                break
            if kind == "turn" and self.passed % len(self.work) != which:
                break
            self.freed[which][pipe] += kind == "free"
            self.passed += kind == "pass"
            steps.pop()
        return len(steps) < begun

    def _why(self) -> str:
        waits = [steps[-1] for steps in self.work if steps]
        kind, pipe, iteration = next((w for w in waits if w[0] == "take"), ("", "", 0))
        consumer = f"a consumer waits for tile {iteration} of {pipe!r}" if kind else "nobody moves"
        return (
            f"{consumer}, and the producer for a slot of {self.copies[-1]!r}"
            if self.copies
            else consumer
        )


def _copies(body: Body, count: int) -> Iterator[str]:
    """The pipes in the order in which the producer fills them."""
    loads = sorted(body.schedule.loads, key=lambda load: load[1].order)
    last = max((p.stage for _, p in loads), default=0)
    for step in range(count + last):
        yield from (name for name, place in loads if 0 <= step - place.stage < count)


def _work(
    body: Body, listed: Sequence[Event], read: Read, count: int, ring: bool
) -> Iterator[Step]:
    """What a consumer does with tiles and turns, in order. ``listed``: all that happens in a step;
    ``read``: by pipe, what is first to read a tile, and what is last."""
    for step in range(count + body.schedule.stages - 1):
        active = [e for e in listed if 0 <= step - e.place.stage < count]
        issues = issuing(body, active) if ring else []
        for event in active:
            iteration = step - event.place.stage
            yield from (("take", p, iteration) for p, (first, _) in read.items() if event == first)
            if event in issues[:1]:
                yield "turn", "", 0
            if event in issues[-1:]:
                yield "pass", "", 0
            yield from (("free", p, iteration) for p, (_, last) in read.items() if event == last)
