"""Modulo scheduling as linear integer arithmetic, for one interval at a time.

With the interval ``I`` a constant, everything is linear. What happens for an iteration at ``t`` is
``I`` times its stage, which is the step of the loop it is in, and an offset within the step. A
task has its issue; a product also the time at which the matrix unit begins with it, and that at
which it is awaited; a ring the time at which the copy of a tile is issued. (The formulation is
that of Twill, arXiv 2512.18134, with first-in first-out units and registers counted at places of
the text, where a compiler counts them.)

A step begins with a product: it could be turned so that it does. Of two tasks one comes first in
a step, which a Boolean says; so units need no disjunctions, and a unit serves in the order of
issue.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from itertools import product
from typing import Any

import z3

from superopt.threads.schedule.problem import SMALL
from superopt.threads.schedule.problem import Problem
from superopt.threads.schedule.problem import Task

STAGES = 3
RLIMIT = 3_000_000  # of one query: a second or two


@dataclass(frozen=True)
class Solution:
    """When everything is, in units of time; ``stage`` and ``offset`` within its step of each task,
    ``wait``: offset of the wait for each product within the step of its issue (beyond the
    interval: one step later), ``load``: absolute times of copies. ``registers``: the most that any
    place of the text has. ``phase``: between neighbouring consumers. ``flies``: chains of products
    are in flight at the end of a step."""

    interval: int
    stage: Mapping[str, int]
    offset: Mapping[str, int]
    wait: Mapping[str, int]
    load: Mapping[str, int]
    registers: int
    phase: int = 0
    flies: bool = False

    def within(self, product: Task) -> int:
        """The offset of the wait for a product within the step that it is in."""
        late = self.flies and product.chain
        return self.wait[product.name] - (self.interval if late else 0)


class Model:
    """``problem`` at one interval, as constraints on integers: for one consumer alone, or, when
    ``shared``, for all of them on one multiprocessor."""

    def __init__(self, problem: Problem, interval: int, shared: bool = False) -> None:
        self.problem, self.interval = problem, interval
        self._known: set[str] = set()  # values whose lives are constrained
        self.context = z3.Context()  # its own, so that no earlier query matters
        self.solver = z3.SolverFor("QF_LIA", ctx=self.context)
        self.solver.set("ctrl_c", False)  # an interrupt must not become an Unknown
        self.solver.set(rlimit=RLIMIT)
        names = [t.name for t in problem.tasks]
        self.stage = {n: self._integer(f"s.{n}", 0, STAGES - 1) for n in names}
        self.offset = {n: self._integer(f"c.{n}", 0, interval - 1) for n in names}
        self.unit = {t.name: self._integer(f"x.{t.name}") for t in problem.products}
        self.wait = {t.name: self._integer(f"w.{t.name}") for t in problem.products}
        self.load = {r.name: self._integer(f"l.{r.name}") for r in problem.rings}
        self.first = {p: self._boolean(f"b.{' '.join(p)}") for p in combinations(names, 2)}
        self.chains = [t for t in problem.tasks if t.chain]
        self.flies = self._boolean("flies")
        if not self.chains:
            self._add(z3.Not(self.flies))
        self.phase = self._integer("phase", 0, interval - 1)
        self.registers = self._integer("registers", 0, problem.budget)
        self._cut()
        self._issue()
        self._products()
        self._values()
        self._rings((problem.consumers - 1) * self.phase if shared else 0)
        if shared:  # the text is given, and with it the registers
            self._together()
        else:
            self._pressure()

    def before(self, one: str, other: str) -> Any:
        """Whether ``one`` comes before ``other`` in the text of a step."""
        known = self.first.get((one, other))
        return z3.Not(self.first[other, one]) if known is None else known

    def solve(self, *extra: Any) -> Solution | None:
        """A solution with ``extra``, or None: there is none, or none was found within the limit."""
        if self.solver.check(*extra) != z3.sat:
            return None
        self._found = self.solver.model()

        def values(of: Mapping[str, Any]) -> dict[str, int]:
            return {n: self.value(v) for n, v in of.items()}

        places = values(self.stage), values(self.offset), values(self.wait), values(self.load)
        rest = self.value(self.registers), self.value(self.phase)
        flies = self._found.eval(self.flies, model_completion=True)
        return Solution(self.interval, *places, *rest, z3.is_true(flies))

    def value(self, of: Any) -> int:
        """What ``of`` is in the solution that was found last."""
        return int(self._found.eval(of, model_completion=True).as_long())

    def spent(self) -> int:
        """What z3 has done so far, in its own count."""
        return sum(int(n) for key, n in self.solver.statistics() if key == "rlimit count")

    def begins(self, name: str, back: int = 0) -> Any:
        """The time of issue of ``name``, ``back`` iterations later."""
        return self.interval * (self.stage[name] + back) + self.offset[name]

    def ends(self, task: Task) -> Any:
        """When the result of ``task`` may be read, and its operands overwritten."""
        if task.product:
            return self.interval * self.stage[task.name] + self.wait[task.name]
        return self.begins(task.name) + task.busy

    def spread(self) -> list[Any]:
        """What to make small so that the producer copies tiles of one iteration together: the
        time from the first copy to the last, then the times themselves."""
        loads = list(self.load.values())
        first, last = (self._integer(f"l.{end}") for end in ("first", "last"))
        for load in loads:
            self._add(first <= load, load <= last)
        return [last - first, *loads]

    # Constraints.

    def _cut(self) -> None:
        products = self.problem.products
        self._add(z3.Or([self.offset[t.name] == 0 for t in products]))
        self._add(z3.Or([s == 0 for s in self.stage.values()]))

    def _issue(self) -> None:
        """A consumer does one thing after the other, all of it within a step; waits are between."""
        tasks = self.problem.by_name
        for task in tasks.values():
            self._add(self.offset[task.name] + task.busy <= self.interval)
        for (one, other), first in self.first.items():
            self._add(z3.Implies(first, self._after(one, other, tasks[one].busy)))
            self._add(z3.Implies(z3.Not(first), self._after(other, one, tasks[other].busy)))

        for product_, task in product(self.problem.products, self.problem.tasks):
            wait, offset = self.within(product_), self.offset[task.name]
            self._add(z3.Or(wait <= offset, wait >= offset + task.busy))

    def within(self, task: Task) -> Any:
        """As ``Solution.within``."""
        wait = self.wait[task.name]
        return wait - z3.If(self.flies, self.interval, 0) if task.chain else wait

    def _after(self, one: str, other: str, gap: int) -> Any:
        return self.offset[other] - self.offset[one] >= gap

    def _products(self) -> None:
        """The matrix unit serves in the order of issue. What others read is awaited within the
        step; a chain may be awaited when the next one of it has been issued."""
        products = self.problem.products
        for task in products:
            name = task.name
            unit, wait = self.unit[name], self.wait[name]
            within = [wait >= unit + task.span, wait <= self.interval]
            self._add(unit >= self.offset[name], task.span <= self.interval)
            if not task.chain:
                self._add(*within)
                continue
            self._add(z3.Implies(z3.Not(self.flies), z3.And(within)))
            self._add(z3.Implies(self.flies, z3.And(self._late(task))))
        for one, other in combinations(products, 2):
            for first, then in ((one, other), (other, one)):
                gap = self.unit[then.name] - self.unit[first.name]
                inside = z3.And(gap >= first.span, gap <= self.interval - then.span)
                order = self.before(first.name, then.name)
                self._add(z3.Implies(order, inside))
                if one.chain == other.chain:  # what is done first is awaited first
                    awaited = self.wait[first.name] <= self.wait[then.name]
                    self._add(z3.Implies(order, awaited))

    def _late(self, task: Task) -> list[Any]:
        """Where a chain in flight is awaited: in the next step, behind all chains of it."""
        wait, later = self.wait[task.name], self.interval
        found = [wait >= self.unit[task.name] + task.span, wait <= 2 * self.interval]
        return found + [wait >= self.offset[t.name] + later + t.busy for t in self.chains]

    def _values(self) -> None:
        """Nothing is read before it is there; no result of a product needs a copy."""
        tasks = self.problem.by_name
        for task in tasks.values():
            for use in task.uses:
                source, time = tasks[use.name], self.begins(task.name, use.back)
                there = time >= self.ends(source)
                if task is source and task.chain:
                    there = z3.Or(self.flies, there)
                self._add(there)
                if source.product:
                    self._add(time <= self.begins(use.name, 1))

    def _rings(self, last: Any) -> None:
        """Copies begin when a slot is free, one after the other; data come in time. ``last``: how
        much later than the first consumer the last one is."""
        tasks, interval = self.problem.by_name, self.interval
        for ring in self.problem.rings:
            load = self.load[ring.name]
            for reader in (tasks[n] for n in ring.readers):
                self._add(self.begins(reader.name) >= load + ring.busy + ring.latency)
                self._add(load >= self.ends(reader) + last - ring.capacity * interval)
        for one, other in combinations(self.problem.rings, 2):
            turns = self._integer(f"k.{one.name} {other.name}", -2 * STAGES, 2 * STAGES)
            gap = self.load[other.name] - self.load[one.name] + turns * interval
            self._add(gap >= one.busy, gap <= interval - other.busy)

    def _pressure(self) -> None:
        """Registers where values come into being. In a step, the value of an earlier or later
        iteration is as old as the time since its last definition."""
        wide = [t for t in self.problem.tasks if t.size > SMALL]
        for task in wide:
            alive = [(task.size, self.yes())]
            for other in wide:
                alive += [(other.size, b) for b in self._alive(other, task)]
            total = z3.Sum([z3.If(b, size, 0) for size, b in alive])
            self._add(total <= self.registers)

    def _alive(self, value: Task, where: Task) -> list[Any]:
        """For each copy of ``value`` that there may be behind the definition ``where``: whether
        it is still read (at least if it is)."""
        life = self._life(value)
        begun = self.offset[where.name] - self.offset[value.name]
        found = []
        for old in range(2) if value is not where else range(1, 2):
            alive = self._boolean(f"a.{value.name} {where.name} {old}")
            found.append(alive)
            age = old * self.interval
            if value is where:
                self._add(z3.Implies(z3.Not(alive), life <= age))
                continue
            for first, extra in (
                (self.before(value.name, where.name), age),
                (self.before(where.name, value.name), age + self.interval),
            ):
                self._add(z3.Implies(z3.And(first, z3.Not(alive)), begun + extra >= life))
        return found

    def _life(self, value: Task) -> Any:
        """How long the registers of a result are needed; at most two intervals."""
        name = f"r.{value.name}"
        life = z3.Int(name, self.context)
        if name not in self._known:
            self._known.add(name)
            for task, use in self.problem.readers(value.name):
                end = self.ends(task) if task.name in value.held else self.begins(task.name)
                length = end + use.back * self.interval - self.begins(value.name)
                self._add(life >= length)
            self._add(life <= 2 * self.interval)
        return life

    def _together(self) -> None:
        """Consumers ``phase`` apart take turns at the units that are slow, so that one computes
        while another multiplies."""
        tasks = [t for t in self.problem.tasks if t.unit != "plain" and t.span]
        for one, other in product(tasks, repeat=2):
            for apart in range(1, self.problem.consumers) if one.unit == other.unit else ():
                name = f"k.{one.name} {other.name} {apart}"
                turns = self._integer(name, -self.problem.consumers, self.problem.consumers)
                gap = self._start(other) + apart * self.phase - self._start(one)
                gap += turns * self.interval
                self._add(gap >= one.span, gap <= self.interval - other.span)

    def _start(self, task: Task) -> Any:
        """When in its step ``task`` begins to use its unit."""
        return self.unit[task.name] if task.product else self.offset[task.name]

    # Small helpers.

    def _add(self, *constraints: Any) -> None:
        self.solver.add(*constraints)

    def _integer(self, name: str, least: int | None = None, most: int | None = None) -> Any:
        found = z3.Int(name, self.context)
        if least is not None:
            self._add(found >= least, found <= most)
        return found

    def _boolean(self, name: str) -> Any:
        return z3.Bool(name, self.context)

    def yes(self) -> Any:
        """What is true, as an expression."""
        return z3.BoolVal(True, self.context)
