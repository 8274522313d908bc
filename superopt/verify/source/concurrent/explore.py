"""Every order in which roles and copies can meet at barriers, by exhaustive search of states.

Two things are asked of all orders: nothing waits for ever, and every wait passes at one absolute
phase, every arrival and every byte counts for one. Then all orders synchronise alike, and what
vector clocks say of one of them holds for all.
"""

from __future__ import annotations

from dataclasses import dataclass

from superopt.verify.source.concurrent.barriers import Arrive
from superopt.verify.source.concurrent.barriers import Barrier
from superopt.verify.source.concurrent.barriers import Copy
from superopt.verify.source.concurrent.barriers import Fork
from superopt.verify.source.concurrent.barriers import History
from superopt.verify.source.concurrent.barriers import Join
from superopt.verify.source.concurrent.barriers import Wait
from superopt.verify.source.concurrent.barriers import fresh
from superopt.verify.source.concurrent.ordered import ordered
from superopt.verify.source.faults import OutsideVocabularyError

MOST_STATES = 5_000
MOST_EVENTS = 110  # at barriers, of all roles; longer histories have more states than are searched
ASLEEP = -1  # the position of a role that has not begun

Site = tuple[int, int]  # a role and a position in it
At = tuple[int, ...]  # positions
State = tuple[At, frozenset[Site]]  # positions, and copies under way
Barriers = tuple[Barrier, ...]


class _WrongError(Exception):
    """An order in which something is not as it must be."""


@dataclass(frozen=True)
class Explored:
    """All orders of one history: ``wrong`` says what one of them does ("": none does).

    ``states``: how many were searched; 0: they are too many, and one order decides (``ordered``).
    """

    states: int
    wrong: str = ""


def explore(history: History, limit: int = MOST_STATES) -> Explored:
    """All orders of ``history``.

    Raises:
        OutsideVocabularyError: there are more than ``limit`` states.
    """
    search = _Search(history)
    try:
        search.run(limit)
    except _WrongError as wrong:
        return Explored(len(search.seen), str(wrong))
    return Explored(len(search.seen))


def every_order(history: History) -> Explored:
    """All orders of a history of any length."""
    if sum(map(len, history.events)) > MOST_EVENTS:
        return Explored(0, ordered(history))
    try:
        return explore(history)
    except OutsideVocabularyError:
        return Explored(0, ordered(history))


class _Search:
    def __init__(self, history: History) -> None:
        self.history = history
        self.phases: dict[Site, int] = {}  # at which a wait passes, an arrival or a copy counts
        self.seen: dict[State, Barriers] = {}
        self.todo: list[State] = []

    def run(self, limit: int) -> None:
        at = tuple(0 if role == 0 else ASLEEP for role in range(len(self.history.roles)))
        barriers = tuple(fresh(count) for _, count in self.history.barriers)
        self._reach(at, frozenset(), barriers)
        while self.todo:
            if len(self.seen) > limit:
                raise OutsideVocabularyError(f"more than {limit} states of barriers")
            self._leave(self.todo.pop())

    def _reach(self, at: At, flying: frozenset[Site], barriers: Barriers) -> None:
        """A state, behind what delays nobody: issuing a copy, and beginning a role."""
        events = self.history.events
        moved = True
        while moved:
            moved = False
            for role, place in enumerate(at):
                if not 0 <= place < len(events[role]):
                    continue
                match events[role][place]:
                    case Copy():
                        flying |= {(role, place)}
                    case Fork(roles=roles):
                        at = tuple(0 if r in roles else p for r, p in enumerate(at))
                    case Join(roles=roles) if all(at[r] == len(events[r]) for r in roles):
                        pass
                    case _:
                        continue
                at = _next(at, role)
                moved = True
        key = at, flying
        if (known := self.seen.get(key)) is None:
            self.seen[key] = barriers
            self.todo.append(key)
        elif known != barriers:
            raise _WrongError("which phase an arrival counts for depends on the order")

    def _leave(self, state: State) -> None:
        """All that can happen next."""
        at, flying = state
        barriers, events = self.seen[state], self.history.events
        stuck = True
        for site in sorted(flying):
            stuck = False
            copy = events[site[0]][site[1]]
            assert isinstance(copy, Copy)
            self._at(site, barriers[copy.barrier].phase)
            after = barriers[copy.barrier].landed(copy.bytes)
            self._reach(at, flying - {site}, _with(barriers, copy.barrier, after))
        for role, place in enumerate(at):
            if not 0 <= place < len(events[role]):
                continue
            match events[role][place]:
                case Arrive(barrier=number, count=count, expected=expected):
                    barrier = barriers[number]
                    if count > barrier.pending:
                        raise _WrongError(f"{self._said(role, number)}: one arrival too many")
                    self._at((role, place), barrier.phase)
                    after = barrier.arrived(count, expected)
                    self._reach(_next(at, role), flying, _with(barriers, number, after))
                    stuck = False
                case Wait(barrier=number, parity=parity) if barriers[number].passes(parity):
                    self._at((role, place), barriers[number].phase)
                    self._reach(_next(at, role), flying, barriers)
                    stuck = False
                case _:
                    continue
        if stuck and any(p < len(e) for p, e in zip(at, events, strict=True)):
            raise _WrongError(self._deadlock(at))

    def _at(self, site: Site, phase: int) -> None:
        if (known := self.phases.setdefault(site, phase)) == phase:
            return
        role, place = site
        event = self.history.events[role][place]
        assert isinstance(event, Arrive | Wait | Copy)
        what = {Wait: "passes at", Arrive: "counts for", Copy: "brings bytes for"}[type(event)]
        phases = " or ".join(map(str, sorted((known, phase))))
        raise _WrongError(f"{self._said(role, event.barrier)}: it {what} phase {phases}")

    def _said(self, role: int, barrier: int) -> str:
        return f"{self.history.roles[role]} at {self.history.barriers[barrier][0]}"

    def _deadlock(self, at: At) -> str:
        waiting = []
        for role, place in enumerate(at):
            events = self.history.events[role]
            if 0 <= place < len(events) and isinstance(event := events[place], Wait):
                waiting.append(self._said(role, event.barrier))
        return f"deadlock: waiting for ever are {', '.join(waiting)}"


def _next(at: At, role: int) -> At:
    return (*at[:role], at[role] + 1, *at[role + 1 :])


def _with(barriers: Barriers, number: int, barrier: Barrier) -> Barriers:
    return (*barriers[:number], barrier, *barriers[number + 1 :])
