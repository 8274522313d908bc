"""One program with roles, executed under one schedule, with vector clocks.

Copies land as late as anything else can happen. The first fault is kept and the execution goes on
without waiting, so that what every role does at barriers is known to its end in any case.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from collections.abc import Generator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from superopt.ugraph.domain import Domain
from superopt.verify.source.concurrent.barriers import Arrive
from superopt.verify.source.concurrent.barriers import Barrier
from superopt.verify.source.concurrent.barriers import Copy
from superopt.verify.source.concurrent.barriers import Event
from superopt.verify.source.concurrent.barriers import Fork
from superopt.verify.source.concurrent.barriers import History
from superopt.verify.source.concurrent.barriers import Join
from superopt.verify.source.concurrent.barriers import Wait
from superopt.verify.source.concurrent.barriers import fresh
from superopt.verify.source.concurrent.clocks import Agent
from superopt.verify.source.concurrent.clocks import Moment
from superopt.verify.source.concurrent.clocks import merge
from superopt.verify.source.faults import FaultError
from superopt.verify.source.memory import Clock

Steps = Generator[None, None, Any]  # a role; it stops where it has to wait
MOST_TURNS = 100_000  # of roles that look whether they can go on


@dataclass
class Meeting:
    """A barrier with what is known at its phases.

    ``gathered``: what was known at the arrivals of the present phase; ``ended``: of those before.
    """

    name: str
    barrier: Barrier
    gathered: dict[int, int]
    ended: list[dict[int, int]]

    def settle(self, agent: Agent, barrier: Barrier) -> None:
        """``agent`` has arrived, and the barrier is now ``barrier``."""
        merge(self.gathered, agent.seen)
        if barrier.phase > self.barrier.phase:
            self.ended.append(self.gathered)
            self.gathered = {}
        self.barrier = barrier


@dataclass(frozen=True)
class Landing:
    """A copy under way: at which barrier its bytes are counted, and what puts them there."""

    agent: Agent
    barrier: int
    bytes: int
    put: Callable[[], None]


class Run:
    """The state of one program.

    ``role``: the agent that runs; ``fault``: the first one, and the line where it was seen.
    ``products``, ``stores``: by role, operations that it has issued and not waited for. ``few``:
    by the name of a role, its warps, where they are too few for a matrix product.
    """

    def __init__(self, cells: Domain[Any], clock: Clock, file: str) -> None:
        self.cells = cells
        self.clock = clock
        self.file = file
        self.fault: tuple[str, int] | None = None
        self.agents = 0
        self.role = self.agent("the entry")
        self.names = ["the entry"]
        self.events: list[list[Event]] = [[]]
        self.numbers = {self.role.number: 0}  # agents that are roles
        self.meetings: list[Meeting] = []
        self.flying: list[Landing] = []
        self.copied: list[Moment] = []
        self.products: dict[int, list[Agent]] = {}
        self.stores: dict[int, list[Agent]] = {}
        self.few: dict[str, int] = {}
        self.fences: list[tuple[Moment, dict[int, int]]] = []

    # Agents.

    def agent(self, name: str, knows: Agent | None = None) -> Agent:
        """A new agent that knows what ``knows`` does."""
        self.agents += 1
        return Agent(self.agents, name, dict(knows.seen) if knows else {})

    def issued(self, what: str) -> Agent:
        """An asynchronous operation of the role that runs."""
        self.role.step()
        return self.agent(f"{what} of {self.role.name}", self.role)

    def fence(self) -> None:
        """What the role that runs has done to shared memory itself comes before what engines do
        that are told of it from now on."""
        self.fences.append((self.role.step(), dict(self.role.seen)))

    def report(self, what: str) -> None:
        """Keeps the first fault."""
        if self.fault is None:
            self.fault = what, self._line()

    def _line(self) -> int:
        """The line of the text that runs."""
        frame = sys._getframe()
        while frame.f_back is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        return frame.f_lineno

    def _record(self, event: Event) -> None:
        self.events[self.numbers[self.role.number]].append(event)

    @property
    def history(self) -> History:
        """What every role has done at barriers."""
        barriers = tuple((m.name, m.barrier.arrivals) for m in self.meetings)
        return History(tuple(self.names), tuple(map(tuple, self.events)), barriers)

    # Roles.

    def program(self, entry: Steps) -> None:
        """Executes a program to its end."""
        self._go([(self.role, entry)])
        for moment in self.copied:
            if not self.role.knows(moment):
                self.report("the program ends while a copy may be under way")

    def fork(self, roles: Sequence[tuple[str, Steps]]) -> None:
        """Executes roles side by side; behind it, all have ended."""
        caller, made = self.role, []
        self.role.step()
        for name, steps in roles:
            agent = self.agent(name, caller)
            self.numbers[agent.number] = len(self.names)
            self.names.append(name)
            self.events.append([])
            made.append((agent, steps))
        numbers = tuple(self.numbers[a.number] for a, _ in made)
        self._record(Fork(numbers))
        self._go(made)
        self.role = caller
        self._record(Join(numbers))
        for agent, _ in made:
            self.role.learn(agent.seen)

    def _go(self, roles: list[tuple[Agent, Steps]]) -> None:
        left, turns = roles, 0
        while left:
            waiting = []
            before = self._progress()
            for agent, steps in left:
                self.role = agent
                try:
                    next(steps)
                    waiting.append((agent, steps))
                except StopIteration:
                    self._leave(agent)
            turns += 1
            if turns > MOST_TURNS:
                raise FaultError("roles wait for one another without end")
            moved = len(waiting) < len(left) or self._progress() != before
            left = waiting
            if left and not moved:
                if self.flying:
                    self._land()
                else:
                    names = ", ".join(a.name for a, _ in left)
                    self.report(f"deadlock: waiting for ever are {names}")

    def _progress(self) -> int:
        return sum(map(len, self.events)) + self.agents

    def _leave(self, role: Agent) -> None:
        """A role ends."""
        if self.products.get(role.number):
            self.report(f"{role.name} ends with matrix products under way")
        if self.stores.get(role.number):
            self.report(f"{role.name} ends with stores under way")

    # Barriers.

    def barrier(self, name: str, count: int) -> int:
        """A new barrier; its number."""
        self.meetings.append(Meeting(name, fresh(count), {}, []))
        return len(self.meetings) - 1

    def arrive(self, number: int, count: int = 1, expected: int = 0) -> None:
        """The role arrives, and may say how many bytes will come."""
        meeting = self.meetings[number]
        self._record(Arrive(number, count, expected))
        self.role.step()
        if count > meeting.barrier.pending:
            self.report(f"{self.role.name} arrives at {meeting.name} once too often")
            return
        meeting.settle(self.role, meeting.barrier.arrived(count, expected))

    def wait(self, number: int, parity: int) -> Steps:
        """The role waits; what was known at the arrivals is known to it then."""
        meeting = self.meetings[number]
        self._record(Wait(number, parity))
        while not meeting.barrier.passes(parity):
            if self.fault is not None:
                return
            yield
        if meeting.ended:
            self.role.learn(meeting.ended[-1])

    # Copies.

    def copy(self, landing: Landing, begun: Moment) -> None:
        """The role has issued a copy, which began to write at ``begun``."""
        self._record(Copy(landing.barrier, landing.bytes))
        self.copied.append(begun)
        self.flying.append(landing)
        if self.fault is not None:
            self._land()

    def _land(self) -> None:
        """The oldest copy arrives."""
        landing = self.flying.pop(0)
        meeting = self.meetings[landing.barrier]
        landing.put()
        meeting.settle(landing.agent, meeting.barrier.landed(landing.bytes))
