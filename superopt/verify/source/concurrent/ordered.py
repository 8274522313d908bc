"""Whether all orders at barriers synchronise alike, from one of them: for histories of any length.

In one order, with vector clocks, it is asked that

* what counts for a phase has happened after all that counts for the phase before;
* a wait that passes when n phases have ended begins after the (n-1)-th one is known to have ended,
  or it could pass two phases early;
* something that counts for the phase after those n happens after the wait has passed, or the wait
  could find that phase ended and block, or pass two phases late.

Then no order differs. Take one, and its first event that does not go as here; all that happened
before that event here has happened there. An arrival cannot count for a later phase, for those of
later phases come after it, nor for an earlier one, for that has ended; a wait cannot pass early or
late by the other two conditions; and of the events that are left over in a deadlock, a first one
would be a wait that passes. Conversely, where a condition fails, some order differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field

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

Seen = dict[int, int]


@dataclass
class _Phases:
    """A barrier, and for each of its phases what counts for it, with what was known then."""

    name: str
    barrier: Barrier
    counted: list[list[tuple[Moment, Seen]]] = field(default_factory=lambda: [[]])


@dataclass(frozen=True)
class _Passed:
    """A wait: its role, its barrier, and how many phases had ended."""

    role: str
    phases: _Phases
    ended: int
    moment: Moment


def ordered(history: History) -> str:
    """What differs between orders, or "" if nothing does."""
    return _Order(history).run()


class _Order:
    def __init__(self, history: History) -> None:
        self.events = history.events
        self.agents = [Agent(i, name) for i, name in enumerate(history.roles)]
        self.at = [0 if i == 0 else -1 for i in range(len(self.agents))]
        self.made = len(self.agents)
        self.phases = [_Phases(name, fresh(count)) for name, count in history.barriers]
        self.flying: list[tuple[Agent, Copy]] = []
        self.passed: list[_Passed] = []

    def run(self) -> str:
        while any(p < len(e) for p, e in zip(self.at, self.events, strict=True)):
            moved = False
            for role in range(len(self.agents)):
                while (wrong := self._step(role)) is None:
                    moved = True
                if wrong:
                    return wrong
            if moved:
                continue
            if not self.flying:
                return "deadlock"
            if wrong := self._land():
                return wrong
        while self.flying:
            if wrong := self._land():
                return wrong
        return self._late()

    def _step(self, role: int) -> str | None:
        """The next event of a role. "": there is none that can happen; else what is wrong."""
        at, agent = self.at[role], self.agents[role]
        if not 0 <= at < len(self.events[role]):
            return ""
        wrong: str | None = self._happens(agent, self.events[role][at])
        if wrong is None:
            self.at[role] += 1
        return wrong

    def _happens(self, agent: Agent, event: Event) -> str | None:
        match event:
            case Arrive(barrier=number, count=count, expected=expected):
                phases = self.phases[number]
                if count > phases.barrier.pending:
                    return f"{agent.name} at {phases.name}: one arrival too many"
                wrong = self._count(agent, phases)
                phases.barrier = phases.barrier.arrived(count, expected)
                return wrong
            case Wait(barrier=number, parity=parity):
                phases = self.phases[number]
                if not phases.barrier.passes(parity):
                    return ""
                return self._pass(agent, phases)
            case Copy():
                agent.step()
                self.flying.append(
                    (Agent(self.made, f"a copy of {agent.name}", {**agent.seen}), event)
                )
                self.made += 1
            case Fork(roles=roles):
                agent.step()
                for role in roles:
                    self.at[role] = 0
                    self.agents[role].learn(agent.seen)
            case Join(roles=roles):
                if any(self.at[r] < len(self.events[r]) for r in roles):
                    return ""
                for role in roles:
                    agent.learn(self.agents[role].seen)
        return None

    def _count(self, agent: Agent, phases: _Phases) -> str | None:
        """``agent`` counts for the present phase of a barrier."""
        phase = phases.barrier.phase
        while len(phases.counted) <= phase + 1:
            phases.counted.append([])
        if phase and not all(agent.knows(m) for m, _ in phases.counted[phase - 1]):
            return f"{agent.name} at {phases.name}: it counts for phase {phase} or {phase - 1}"
        moment = agent.step()
        phases.counted[phase].append((moment, dict(agent.seen)))
        return None

    def _pass(self, agent: Agent, phases: _Phases) -> str | None:
        ended = phases.barrier.phase
        if ended >= 2 and not all(agent.knows(m) for m, _ in phases.counted[ended - 2]):
            return f"{agent.name} at {phases.name}: it passes at phase {ended - 2} or {ended}"
        if ended:
            for _, seen in phases.counted[ended - 1]:
                merge(agent.seen, seen)
        self.passed.append(_Passed(agent.name, phases, ended, agent.step()))
        return None

    def _land(self) -> str:
        agent, copy = self.flying.pop(0)
        phases = self.phases[copy.barrier]
        wrong = self._count(agent, phases)
        phases.barrier = phases.barrier.landed(copy.bytes)
        return wrong or ""

    def _late(self) -> str:
        """Waits that could come too late."""
        for wait in self.passed:
            counted = wait.phases.counted
            if wait.phases.barrier.phase <= wait.ended:
                continue  # the phase after has never ended
            moment = wait.moment
            if not any(s.get(moment.agent, 0) >= moment.time for _, s in counted[wait.ended]):
                return (
                    f"{wait.role} at {wait.phases.name}: it passes at phase {wait.ended} or later"
                )
        return ""
