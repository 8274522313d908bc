"""Vector clocks: what each agent knows to have happened.

An agent is a role, or one asynchronous operation: a copy, a matrix product, a store by the copy
engine. An operation knows what its role knew when it was issued; a role knows of the operation
once it has waited for it. (Fidge 1988, Mattern 1989.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field


@dataclass(frozen=True)
class Moment:
    """The ``time``-th thing that an agent did."""

    agent: int
    time: int


@dataclass(eq=False)
class Agent:
    """``seen``: of each agent, up to which of its moments all have happened before now."""

    number: int
    name: str
    seen: dict[int, int] = field(default_factory=dict)

    def step(self) -> Moment:
        """The next thing that it does."""
        time = self.seen.get(self.number, 0) + 1
        self.seen[self.number] = time
        return Moment(self.number, time)

    def knows(self, moment: Moment) -> bool:
        """Whether ``moment`` happened before now, whatever the schedule."""
        return self.seen.get(moment.agent, 0) >= moment.time

    def learn(self, seen: Mapping[int, int]) -> None:
        """Everything that happened before some release is now known, too."""
        merge(self.seen, seen)


def merge(into: dict[int, int], seen: Mapping[int, int]) -> None:
    """The later of both, agent by agent."""
    for agent, time in seen.items():
        if into.get(agent, 0) < time:
            into[agent] = time
