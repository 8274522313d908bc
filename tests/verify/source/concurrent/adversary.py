"""Roles under schedules drawn at random, with every effect as early or as late as it may come.

No clocks and no rules: a copy lands at any time, a product reads its operands and a store its tile
at any time until it is waited for, warps' own writes reach the engines at the fence. What a text
leaves to chance shows as a wrong result or a deadlock in some schedule.
"""

from __future__ import annotations

import random

from superopt.verify.source.cells import broadcast
from superopt.verify.source.cells import undefined
from superopt.verify.source.concurrent.machine import RolesKernel
from superopt.verify.source.concurrent.machine import RolesMachine
from superopt.verify.source.concurrent.products import Flight
from superopt.verify.source.concurrent.products import Products
from superopt.verify.source.concurrent.run import Run
from superopt.verify.source.concurrent.shared import Allocation
from superopt.verify.source.concurrent.shared import View
from superopt.verify.source.concurrent.tle import TleRoles
from superopt.verify.source.concurrent.vocabulary import Roles
from superopt.verify.source.concurrent.vocabulary import steps_of
from superopt.verify.source.faults import FaultError
from superopt.verify.source.machine import file_of
from superopt.verify.source.tiles import FP32
from superopt.verify.source.tiles import Tile
from superopt.verify.source.tle import imported

PATIENCE = 100  # turns in which nothing happens


class Chance(Run):
    """Any role goes on, any copy lands; nothing is reported."""

    def __init__(self, cells, clock, file, draw):
        super().__init__(cells, clock, file)
        self.draw = draw
        self.unseen = []  # writes of warps that the engines do not see yet
        self.late = {}  # by agent: what it does when it is waited for

    def report(self, what):
        if what.startswith("deadlock") or "once too often" in what:
            raise FaultError(what)

    def copy(self, landing, begun):
        super().copy(landing, begun)
        self.draw.shuffle(self.flying)

    def wait(self, number, parity):
        meeting = self.meetings[number]
        for _ in range(self.draw.randrange(3)):
            yield
        while not meeting.barrier.passes(parity):
            yield

    def _go(self, roles):
        left, idle = list(roles), 0
        while left:
            before = self._state()
            self.role, steps = self.draw.choice(left)
            try:
                next(steps)
            except StopIteration:
                left = [one for one in left if one[1] is not steps]
                self._leave(self.role)
            idle = idle + 1 if self._state() == before else 0
            if self.flying and self.draw.random() < 0.2:
                self._land()
            if idle > PATIENCE and not self.flying:
                raise FaultError("deadlock")

    def _state(self):
        phases = sum(m.barrier.phase for m in self.meetings)
        return sum(map(len, self.events)), self.agents, phases, len(self.flying)

    def happen(self, agent):
        self.late.pop(agent.number, lambda: None)()

    def _leave(self, role):
        for agent in self.stores.get(role.number, []):
            self.late.pop(agent.number, None)  # the tile is gone before it is stored


class ChanceView(View):
    """Two memories: what warps see, and what the engines do."""

    def derived(self, view):
        return ChanceView(view.allocation, view.places)

    def index(self, at):
        return self.derived(super().index(at))

    def slice(self, *of, **how):
        return self.derived(super().slice(*of, **how))

    def permute(self, order):
        return self.derived(super().permute(order))

    def reshape(self, shape):
        return self.derived(super().reshape(shape))

    def read(self, agent, plain):
        buffer = self.allocation.plain if plain else self.allocation.buffer
        if (buffer.origin[self.places] < 0).any():
            return nothing(self.allocation.run.cells, self.dtype, self.shape)
        return buffer.load(self.places, None, None)

    def write(self, agent, value, plain):
        run = self.allocation.run
        self.allocation.plain.store(self.places, value, None)
        engines = self.allocation.buffer
        if plain and run.draw.random() < 0.9:
            run.unseen.append(lambda: engines.store(self.places, value, None))
        else:
            engines.store(self.places, value, None)

    def landed(self, value):
        super().landed(value)
        self.allocation.plain.store(self.places, value, None)


def nothing(cells, dtype, shape):
    return Tile(cells, dtype, None, broadcast(cells, undefined(cells), shape))


class ChanceProducts(Products):
    def multiply(self, run, a, b, acc, use_acc=True, is_async=False):
        agent = run.issued("a product")
        shape = (a.shape[0], b.shape[1])
        flight = Flight(run, agent, nothing(run.cells, FP32, shape))

        def operands():
            left = a.read(agent, plain=False) if isinstance(a, View) else a
            return left, b.read(agent, plain=False)

        early = operands() if run.draw.random() < 0.3 else None

        def compute():
            found = self.language.dot(*(operands() if early is None else early))
            before = acc.value if isinstance(acc, Flight) else acc
            flight.value = before + found if use_acc else found

        run.late[agent.number] = compute
        run.products.setdefault(run.role.number, []).append(agent)
        return flight if is_async else self.wait(run, 0, [flight])

    def wait(self, run, outstanding=0, deps=()):
        under_way = run.products.get(run.role.number, [])
        for agent in under_way[: max(0, len(under_way) - int(outstanding))]:
            run.happen(agent)
        return super().wait(run, outstanding, deps)


class ChanceRoles(Roles):
    def __init__(self, language):
        super().__init__(language)
        self.products = ChanceProducts(language)

    def allocate(self, dtype, shape, layout, value=None):
        found = super().allocate(dtype, shape, layout, value)
        if not isinstance(found, View):
            return found
        other = Allocation(self.run, "", dtype, found.places.shape)
        found.allocation.plain = other.buffer
        found.allocation.meet = lambda agent, *_, **__: agent.step()
        return ChanceView(found.allocation, found.places)

    def fence(self):
        for seen in self.run.unseen:
            seen()
        self.run.unseen.clear()

    def copy_in(self, tensor, at, barrier, view, pred=True):
        super().copy_in(tensor, at, barrier, view, pred)
        view.allocation.plain.origin[view.places.ravel()] = -1

    def copy_out(self, tensor, at, view):
        self._fits(tensor, view)
        run = self.run
        agent = run.issued("a store")
        offsets, inside = tensor.places(at)
        early = view.read(agent, plain=False) if run.draw.random() < 0.3 else None

        def store():
            value = view.read(agent, plain=False) if early is None else early
            tensor.tensor.buffer.store(offsets, value, inside)

        run.late[agent.number] = store
        run.stores.setdefault(run.role.number, []).append(agent)

    def store_wait(self, pendings):
        under_way = self.run.stores.get(self.run.role.number, [])
        for agent in under_way[: max(0, len(under_way) - int(pendings))]:
            self.run.happen(agent)
        super().store_wait(pendings)

    def _once(self, buffer, at):
        pass


class ChanceTle(TleRoles):
    """In the words of TLE, in which warps write no shared memory themselves."""

    def __init__(self, language):
        super().__init__(language)
        self.products = ChanceProducts(language)

    def alloc(self, shape, dtype, **how):
        found = super().alloc(shape, dtype, **how)
        found.allocation.meet = lambda agent, *_, **__: agent.step()
        return found

    def _once(self, buffer, at):
        pass


class ChanceKernel(RolesKernel):
    def _program(self, arguments):
        machine = self.machine
        run = Chance(machine.cells, machine.clock, file_of(machine.text), machine.draw)
        machine.roles.begin(run)
        machine.explored[id(run)] = None
        run.program(steps_of(self.function(**arguments)))


class ChanceMachine(RolesMachine):
    """``draw``: what decides."""

    def __init__(self, text, cells, seed=0):
        self.draw = random.Random(seed)
        super().__init__(text, cells)

    def _roles(self):
        return (ChanceTle if imported(self.text) else ChanceRoles)(self.language)

    def _kernel(self, function):
        return ChanceKernel(self, function)
