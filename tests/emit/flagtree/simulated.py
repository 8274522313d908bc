"""Runs roles in the words of TLE as Python threads, by the pipes of TLE's own description."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.emit.struct.simulated import Barrier
from tests.emit.struct.simulated import Copies
from tests.emit.struct.simulated import Flight
from tests.emit.struct.simulated import Machine
from tests.emit.struct.simulated import MBarrier
from tests.emit.struct.simulated import Tile
from tests.emit.struct.simulated import tile


class Pipe:
    """stage = i % capacity, phase = (i // capacity) & 1; a slot is free when all have released."""

    def __init__(self, capacity, readers=(None,), **fields):
        self.capacity, self.fields = capacity, fields
        self.full, self.empty = ([Barrier() for _ in range(capacity)] for _ in range(2))
        for full, empty in zip(self.full, self.empty, strict=True):
            MBarrier.init(full, 1)
            MBarrier.init(empty, len(readers))

    def at(self, number):
        return int(number) % self.capacity, int(number) // self.capacity & 1

    def slot(self, stage):
        tiles = {name: buffer[stage].view(Slotted) for name, buffer in self.fields.items()}
        for one in tiles.values():
            one.barrier = self.full[stage]
        return SimpleNamespace(**tiles)

    def writer(self):
        return self

    def reader(self, name=None):
        return self

    def acquire(self, number):
        stage, phase = self.at(number)
        MBarrier.wait(self.empty[stage], phase ^ 1)
        return self.slot(stage)

    def commit(self, number):
        MBarrier.arrive(self.full[self.at(number)[0]])

    def wait(self, number):
        stage, phase = self.at(number)
        MBarrier.wait(self.full[stage], phase)
        return SimpleNamespace(slot=self.slot(stage))

    def release(self, number):
        MBarrier.arrive(self.empty[self.at(number)[0]])


class Slotted(Tile):
    barrier: Barrier


class Local:
    """The addresses of a tile in shared memory."""

    def __init__(self, view):
        self.view = view

    def read(self, mask, other):
        return tile(self.view.copy())


class TleMachine(Machine):
    """What a printed text calls."""

    smem = "smem"

    def names(self) -> dict[str, Any]:
        self.copies = Copies(self.seed)
        gpu = SimpleNamespace(
            alloc=lambda shape, dtype, scope: self.allocate_shared_memory(dtype, shape, None),
            smem=self.smem,
            copy=self.copy,
            local_ptr=Local,
            warp_specialize=self.warp_specialize,
            wgmma=self.wgmma,
            wgmma_wait=lambda pendings, acc: self.finish(pendings, [acc]),
        )
        tle = SimpleNamespace(gpu=gpu, pipe=Pipe, load=self.load)
        return {"tl": self, "triton": self, "tle": tle}

    def copy(self, described, slot, shape, at):
        assert list(shape) == list(described.box)
        with slot.barrier.change:
            slot.barrier.bytes += described.nbytes
        self.copies.async_copy_global_to_shared(described, at, slot.barrier, slot)

    def wgmma(self, a, b, acc=None, trans_a=False, trans_b=False):
        assert not isinstance(a, Flight), "an operand is in flight"
        first, second = (x.T if t else x for x, t in ((a, trans_a), (b, trans_b)))
        flight = Flight(first, second, acc, acc is not None)
        self.local.flights = [*getattr(self.local, "flights", []), flight]
        return flight

    @staticmethod
    def trans(value):
        return value.T
