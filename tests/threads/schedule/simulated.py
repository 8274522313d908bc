"""A multiprocessor, event by event: what a schedule does with the costs of its problem.

The producer and the consumers execute the text of a schedule as fast as they can. Slots, the
matrix unit and the special function unit serve who comes first. Nothing here knows how schedules
are found.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from dataclasses import field

from superopt.threads.schedule.problem import SMALL
from superopt.threads.schedule.problem import Problem
from superopt.ugraph.threads import Schedule

Event = tuple[int, str, bool, int]  # stage, name, whether it is a wait, order


def text(schedule: Schedule) -> list[Event]:
    """What happens in a step, in order."""
    found = [(p.stage, n, False, p.order) for n, p in schedule.places]
    found += [(p.stage, n, True, p.order) for n, p in schedule.waits]
    return sorted(found, key=lambda e: e[3])


def executed(schedule: Schedule, count: int) -> list[tuple[str, bool, int]]:
    """(name, whether it is a wait, iteration) of all that a consumer does in ``count``
    iterations."""
    steps = range(count + schedule.stages - 1)
    events = [(n, w, j - s) for j in steps for s, n, w, _ in text(schedule)]
    return [e for e in events if 0 <= e[2] < count]


@dataclass
class Machine:
    """Runs ``schedule``; ``ends``: when each consumer has done everything of each iteration.

    Raises:
        AssertionError: something is read before it is there, or all roles wait for ever.
    """

    problem: Problem
    schedule: Schedule
    count: int
    start: tuple[int, ...]  # of each consumer
    filled: dict[tuple[str, int], int] = field(default_factory=dict)
    freed: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    free: Counter[str] = field(default_factory=Counter)  # from when on a unit is idle
    ends: list[dict[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        tasks, waits = self.problem.by_name, self.schedule.wait
        places = self.schedule.place
        self.first: dict[str, tuple[str, bool]] = {}
        self.last: dict[str, tuple[str, bool]] = {}
        for ring in self.problem.rings:
            begin = min(ring.readers, key=lambda n: (places[n].stage, places[n].order))
            ends = [(waits[n] if tasks[n].product else places[n], n) for n in ring.readers]
            _, end = max(ends, key=lambda e: (e[0].stage, e[0].order))
            self.first[ring.name] = begin, False
            self.last[ring.name] = end, tasks[end].product
        loads = sorted(self.schedule.loads, key=lambda load: load[1].order)
        depth = max((p.stage for _, p in loads), default=0)
        steps = range(self.count + depth)
        copies = [(n, j - p.stage) for j in steps for n, p in loads]
        self.copies = [c for c in copies if 0 <= c[1] < self.count]
        self.work = [executed(self.schedule, self.count) for _ in self.start]
        self.clock = list(self.start)
        self.known: list[dict[tuple[str, int], int]] = [{} for _ in self.start]
        self.flying: list[dict[tuple[str, int], int]] = [{} for _ in self.start]
        self.ends = [{} for _ in self.start]
        self.copied = 0  # the producer's clock

    def run(self) -> Machine:
        """Lets all roles run to their ends."""
        while self.copies or any(self.work):
            ready = [(when, who) for who in range(-1, len(self.work)) if (when := self.next(who))]
            assert ready, "all roles wait for ever"
            (_, who) = min(ready)
            self.copy() if who < 0 else self.step(who)
        return self

    def next(self, who: int) -> tuple[int, int] | None:
        """When a role can do what comes next, if that is known; -1 is the producer."""
        if who < 0:
            if not self.copies:
                return None
            when = self.slot_free(*self.copies[0])
            return None if when is None else (max(when, self.copied, self.free["copy"]), who)
        if not self.work[who]:
            return None
        name, wait, iteration = self.work[who][0]
        when = self.clock[who]
        for ring, event in self.first.items():
            if event == (name, wait):
                if (ring, iteration) not in self.filled:
                    return None
                when = max(when, self.filled[ring, iteration])
        return when, who

    def slot_free(self, ring: str, iteration: int) -> int | None:
        capacity = {r.name: r.capacity for r in self.problem.rings}[ring]
        if iteration < capacity:
            return 0
        freed = self.freed.get((ring, iteration - capacity), [])
        return max(freed) if len(freed) == len(self.work) else None

    def copy(self) -> None:
        found = self.next(-1)
        assert found
        name, iteration = self.copies.pop(0)
        ring = {r.name: r for r in self.problem.rings}[name]
        self.copied = found[0]
        self.free["copy"] = found[0] + ring.busy
        self.filled[name, iteration] = found[0] + ring.busy + ring.latency

    def step(self, who: int) -> None:
        found = self.next(who)
        assert found
        name, wait, iteration = self.work[who].pop(0)
        task, now = self.problem.by_name[name], found[0]
        if wait:
            now = max(now, self.flying[who].pop((name, iteration)))
            self.known[who][name, iteration] = now
        else:
            for use in task.uses:
                key = use.name, iteration - use.back
                own = task.chain and key in self.flying[who]
                assert key[1] < 0 or own or key in self.known[who], (name, key)
            if task.product:
                begin = max(now, self.free["matrix"])
                self.free["matrix"] = begin + task.span
                self.flying[who][name, iteration] = begin + task.span
                now += task.busy
            else:
                if task.unit != "plain" and task.span:
                    now = max(now, self.free[task.unit])
                    self.free[task.unit] = now + task.span
                now += task.busy
                self.known[who][name, iteration] = now
        self.clock[who] = now
        self.ends[who][iteration] = now
        for ring, event in self.last.items():
            if event == (name, wait):
                self.freed.setdefault((ring, iteration), []).append(now)

    @property
    def interval(self) -> float:
        """Time between iterations once the pipeline is full."""
        begin, end = self.count // 3, self.count * 2 // 3
        ends = [max(e[n] for e in self.ends) for n in (begin, end)]
        return (ends[1] - ends[0]) / (end - begin)


def pressure(problem: Problem, schedule: Schedule) -> int:
    """Registers that wide values take at the worst place of the text, counted by executing it."""
    tasks, count = problem.by_name, 4 * schedule.stages
    done = executed(schedule, count)
    at = {event: n for n, event in enumerate(done)}
    wide = [t for t in problem.tasks if t.size > SMALL]
    lives: list[tuple[int, int, int]] = []
    for task in wide:
        for iteration in range(count):
            ends = [at[task.name, False, iteration]]
            for reader, use in problem.readers(task.name):
                held = reader.name in task.held
                ends.append(at.get((reader.name, held, iteration + use.back), len(done)))
            lives.append((ends[0], max(ends), task.size))
    begin, end = len(done) // 2, len(done) * 3 // 4
    places = [n for n, (name, wait, _) in enumerate(done) if not wait and tasks[name] in wide]
    steady = [n for n in places if begin <= n < end]
    return max((sum(s for a, b, s in lives if a == n or a < n < b) for n in steady), default=0)
