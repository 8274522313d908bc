"""The scheduling problem of one body: what remains of it when only times, units, registers and
slots matter.

Times are in units of ``UNIT`` cycles, rounded up: a solver then sees small numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from superopt.threads.body import Products
from superopt.threads.body import instructions
from superopt.threads.schedule.costs import Costs
from superopt.threads.schedule.costs import Rates
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import ThreadGraph
from superopt.ugraph.threads import Use

UNIT = 32  # cycles
SMALL = 4  # registers: values up to this size are taken to live all the time
RESERVE = 16  # registers for addresses, counters and what else a compiler needs


@dataclass(frozen=True)
class Task:
    """One instruction. ``busy``: time that its warpgroup spends on it, during which it does
    nothing else. ``unit``, ``span``: which unit it keeps busy, and for how long; of a product, from
    some time after its issue. ``size``: registers of its result. ``held``: it is the left operand
    of these products, whose registers it needs until they are awaited. ``chain``: a product that
    may fly over the end of a step: it adds to itself, nothing else reads it, and its operands are
    in shared memory."""

    name: str
    product: bool
    busy: int
    unit: str
    span: int
    size: int
    uses: tuple[Use, ...] = ()
    held: tuple[str, ...] = ()
    chain: bool = False


@dataclass(frozen=True)
class Ring:
    """A pipe. ``busy``: time that one copy takes on the copy engine, ``latency``: until its data
    are there. ``readers``: the instructions that read a slot."""

    name: str
    capacity: int
    busy: int
    latency: int
    readers: tuple[str, ...]


@dataclass(frozen=True)
class Problem:
    """``tasks``: in the order of the body. ``budget``: registers of a thread for values of more
    than ``SMALL`` registers, ``reserved``: for the others."""

    tasks: tuple[Task, ...]
    rings: tuple[Ring, ...]
    consumers: int
    budget: int
    reserved: int = 0

    @property
    def by_name(self) -> Mapping[str, Task]:
        """Tasks by name."""
        return {t.name: t for t in self.tasks}

    @property
    def products(self) -> tuple[Task, ...]:
        """The tasks that are products."""
        return tuple(t for t in self.tasks if t.product)

    @property
    def least(self) -> int:
        """No interval of one consumer alone is shorter than any resource needs."""
        busy = sum(t.busy for t in self.tasks)
        matrix = sum(t.span for t in self.products)
        return max(1, busy, matrix, sum(r.busy for r in self.rings))

    @property
    def least_shared(self) -> int:
        """The same for all consumers, which share the units of a multiprocessor."""
        spans: dict[str, int] = {}
        for task in self.tasks:
            spans[task.unit] = spans.get(task.unit, 0) + task.span
        return max(self.least, *(self.consumers * s for s in spans.values()))

    @property
    def most(self) -> int:
        """An interval in which everything could be done in turn, copies included."""
        alone = sum(t.busy + (t.span if t.product else 0) for t in self.tasks)
        return alone + sum(r.busy + r.latency + 1 for r in self.rings) + 1

    def readers(self, name: str) -> tuple[tuple[Task, Use], ...]:
        """What reads the result of ``name``, and which."""
        return tuple((t, u) for t in self.tasks for u in t.uses if u.name == name)

    @property
    def anchors(self) -> tuple[str, ...]:
        """What tells classes of schedules apart: products, and the first instructions that read
        their results."""
        found = {t.name: None for t in self.products}
        for product in self.products:
            readers = {t.name: u.back for t, u in self.readers(product.name) if t is not product}
            for name, back in readers.items():
                after = (u.name for u in self.by_name[name].uses if not u.back)
                if not any(readers.get(n) == back for n in _above(self.by_name, after)):
                    found[name] = None
        return tuple(t.name for t in self.tasks if t.name in found)


def _above(tasks: Mapping[str, Task], names: Iterable[str]) -> set[str]:
    """``names``, and all that they need of the same iteration."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        if (name := todo.pop()) not in found:
            found.add(name)
            todo += [u.name for u in tasks[name].uses if not u.back]
    return found


def problem_of(graph: ThreadGraph, body: Body, dtype: str, rates: Rates) -> Problem:
    """The scheduling problem of ``body`` of ``graph``. ``dtype``: of the case."""
    products = Products(graph.block)
    for walk in graph.block.walks:  # makes the products known
        instructions(walk, products)
    costs = Costs(graph, body, products, dtype, rates)
    tasks = tuple(_task(body, i, costs) for i in body.instrs)
    rings = tuple(
        Ring(
            pipe.name,
            pipe.capacity,
            _units(costs.copy(pipe)),
            _units(rates.latency),
            tuple(i.name for i in body.instrs if set(pipe.tensors) & set(body.tensors(i))),
        )
        for pipe in graph.pipes
        if pipe.walk == body.axis
    )
    small = sum(t.size for t in tasks if t.size <= SMALL)
    budget = graph.registers[0] - RESERVE - small
    together = 1 if graph.pingpong else graph.consumers  # that are in this walk at once
    return Problem(tasks, rings, together, budget, small)


def _task(body: Body, instr: Instr, costs: Costs) -> Task:
    cost, uses = costs.of(instr), body.uses(instr)
    product, operand = instr.op is Op.PRODUCT, instr.op is Op.OPERAND
    users = [i.name for i in body.instrs if any(u.name == instr.name for u in body.uses(i))]
    own = (Use(instr.name, 1),)
    return Task(
        instr.name,
        product,
        _units(cost.busy),
        cost.unit,
        _units(cost.span) if product else cost.span // UNIT,
        costs.size(instr),
        uses,
        tuple(users) if operand else (),
        product and uses == own and instr.onto == own[0] and users == [instr.name],
    )


def _units(cycles: int) -> int:
    return max(1, ceil(cycles / UNIT))
