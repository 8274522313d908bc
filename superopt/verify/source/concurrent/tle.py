"""The part of TLE-Struct that kernels with roles are printed in, with its meaning for one program.

A ``tle.pipe`` is what it is compiled to: for each slot a barrier that says that it is full, at
which its writer arrives once and the bytes of copies are counted, and one that says that it is
empty, at which every reader arrives. Number i has slot ``i % capacity`` in round
``i // capacity``. So the engines that read barriers read pipes as well. A copy may be under way
until its slot is full: it is synchronous for those who wait for the slot, and for nobody else.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from math import prod
from typing import Any

from superopt.verify.source import tle
from superopt.verify.source.concurrent.run import Run
from superopt.verify.source.concurrent.shared import Allocation
from superopt.verify.source.concurrent.shared import View
from superopt.verify.source.concurrent.vocabulary import Roles
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.host import Descriptor
from superopt.verify.source.tiles import FP32
from superopt.verify.source.tiles import DType
from superopt.verify.source.tiles import Tile
from superopt.verify.source.vocabulary import Strict

SHARED = "shared memory"


@dataclass(frozen=True)
class LocalPointer:
    """The addresses of a whole tile in shared memory."""

    view: View


@dataclass(frozen=True, eq=False)
class Target(View):
    """A tile that a writer has acquired: copies to it count their bytes at its slot."""

    slot: Slot


class Slot:
    """A slot in one round; its tiles are its attributes. ``bytes``: of copies to it, which end with
    its commit (of a writer's slot)."""

    def __init__(self, pipe: Pipe, stage: int, writing: bool) -> None:
        self.pipe, self.stage, self._writing = pipe, stage, writing
        self.bytes, self.committed = 0, False

    def __getattr__(self, name: str) -> View:
        if name not in self.pipe.fields:
            raise FaultError(f"{self.pipe.name} has no field {name!r}")
        view = self.pipe.fields[name].index(self.stage)
        return Target(view.allocation, view.places, self) if self._writing else view


@dataclass(frozen=True)
class Ready:
    """What a wait gives."""

    slot: Slot


class Pipe:
    """``tle.pipe``: its barriers are made with it."""

    def __init__(self, run: Run, capacity: int, readers: tuple[str, ...], fields: Any) -> None:
        self.run, self.capacity, self.readers = run, capacity, readers
        self.fields: dict[str, View] = fields
        self.name = f"pipe {'_'.join(fields)}"
        for name, view in self.fields.items():
            if len(view.shape) < 2 or view.shape[0] != capacity:
                raise FaultError(f"field {name!r} has shape {view.shape} for {capacity} slots")
        slots = range(capacity)
        self.full = [run.barrier(f"{self.name}, full[{i}]", 1) for i in slots]
        self.empty = [run.barrier(f"{self.name}, empty[{i}]", max(1, len(readers))) for i in slots]
        self.taken: list[str] = []

    def writer(self) -> Writer:
        """The end of the one role that fills slots."""
        return Writer(self._end("the writer"))

    def reader(self, name: Any = None) -> Reader:
        """The end of a role that reads them: of ``name``, where there are several."""
        if (name is None) != (not self.readers) or (name is not None and name not in self.readers):
            raise FaultError(f"{self.name} has the readers {self.readers}, and not {name!r}")
        return Reader(self._end(f"reader {name or ''}"))

    def _end(self, which: str) -> Pipe:
        if which in self.taken:
            raise FaultError(f"{which} of {self.name} is taken twice")
        self.taken.append(which)
        return self

    def place(self, number: Any) -> tuple[int, int]:
        """The stage of a number, and the parity of its round."""
        at = int(number)
        if at < 0:
            raise FaultError(f"number {at} of {self.name}")
        return at % self.capacity, at // self.capacity & 1


class Writer:
    """Acquires slots, in which copies put tiles, and commits them."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe
        self.slots: dict[int, Slot] = {}

    def acquire(self, number: Any) -> Generator[None, None, Slot]:
        """Waits until all readers have released the round before."""
        stage, parity = self.pipe.place(number)
        yield from self.pipe.run.wait(self.pipe.empty[stage], parity ^ 1)
        self.slots[int(number)] = Slot(self.pipe, stage, writing=True)
        return self.slots[int(number)]

    def commit(self, number: Any) -> None:
        """Says that all copies of the slot are issued."""
        slot = self.slots.pop(int(number), None)
        if slot is None:
            raise FaultError(f"{self.pipe.name} commits {int(number)}, which is not acquired")
        slot.committed = True
        self.pipe.run.arrive(self.pipe.full[slot.stage], 1, slot.bytes)


class Reader:
    """Waits for slots and gives them back."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe

    def wait(self, number: Any) -> Generator[None, None, Ready]:
        """Waits until the slot is full."""
        stage, parity = self.pipe.place(number)
        yield from self.pipe.run.wait(self.pipe.full[stage], parity)
        return Ready(Slot(self.pipe, stage, writing=False))

    def release(self, number: Any) -> None:
        """Gives it back, behind what this role has read of it in whatever way."""
        stage, _ = self.pipe.place(number)
        self.pipe.run.fence()
        self.pipe.run.arrive(self.pipe.empty[stage])


class TleRoles(Roles):
    """The functions, in place of Gluon's. ``inside``: a program with roles is executed."""

    inside = False

    def begin(self, run: Run) -> None:
        """The next program."""
        super().begin(run)
        self.inside = True

    def end(self) -> None:
        """No program with roles is executed any more."""
        self.inside = False

    def namespace(self) -> dict[str, Any]:
        """``tle``, and ``tl`` with loads and stores of shared memory."""
        plain = {k: v for k, v in vars(self.language.namespace()).items() if k != "_name"}
        gpu = Strict(
            "tle.gpu",
            alloc=self.alloc,
            copy=self.copy,
            local_ptr=LocalPointer,
            smem=SHARED,
            warp_specialize=self.warp_specialize,
            wgmma=self.wgmma,
            wgmma_wait=lambda pendings, acc: self.products.wait(self.run, pendings, [acc]),
        )
        words = Strict("tle", load=tle.hinted(self.language), pipe=self.pipe, gpu=gpu)
        plain |= {"load": self.load, "store": self.put, "static_range": self.range}
        return {"tl": Strict("tl", **plain), "tle": words, "range": self.range}

    def alloc(self, shape: Any, dtype: DType, scope: Any = SHARED) -> View:
        """Tiles in shared memory."""
        if scope is not SHARED:
            raise OutsideVocabularyError(f"tle.gpu.alloc in {scope}")
        self.allocated += 1
        name = f"allocation {self.allocated}"
        made = Allocation(self.run, name, dtype, tuple(map(int, shape)))
        return View(made, made.places)

    def pipe(self, capacity: Any, readers: Any = (), **fields: Any) -> Pipe:
        """A pipe whose fields are tiles in shared memory."""
        for name, view in fields.items():
            if not isinstance(view, View):
                raise OutsideVocabularyError(f"tle.pipe with {name}")
        return Pipe(self.run, int(capacity), tuple(readers), fields)

    def copy(self, source: Any, target: Any, shape: Any, offsets: Any = None) -> None:
        """A tile of a tensor, 0 past its ends, into a slot that is acquired."""
        if not isinstance(source, Descriptor) or not isinstance(target, Target):
            raise OutsideVocabularyError("tle.gpu.copy but from a descriptor to an acquired slot")
        box = tuple(map(int, shape))
        if not box == target.shape == source.box or target.dtype is not source.dtype:
            raise FaultError(
                f"a copy of {source.dtype}{list(source.box)} as {list(box)} with "
                f"{target.dtype}{list(target.shape)}"
            )
        count = prod(box) * source.tensor.element_size()
        if target.slot.committed:
            raise FaultError(f"a copy to a slot of {target.slot.pipe.name} that is committed")
        target.slot.bytes += count
        barrier = target.slot.pipe.full[target.slot.stage]
        target.copy_in(barrier, count, source.load(offsets))

    def wgmma(
        self, a: Any, b: Any, acc: Any = None, trans_a: Any = False, trans_b: Any = False
    ) -> Any:
        """a b, added to ``acc`` if there is one; under way until it is waited for."""
        left, right = (_turned(a) if trans_a else a), (_turned(b) if trans_b else b)
        if not isinstance(right, View):
            raise FaultError("the right operand of a product is not in shared memory")
        onto = acc
        if acc is None:
            onto = self.language.full((left.shape[0], right.shape[1]), 0, FP32)
        return self.products.multiply(self.run, left, right, onto, acc is not None, is_async=True)

    def load(self, address: Any, mask: Any = None, other: Any = None, **hints: Any) -> Tile:
        """A load from either memory."""
        if isinstance(address, LocalPointer):
            if mask is not None or other is not None or hints:
                raise OutsideVocabularyError("a load of a part of a tile in shared memory")
            return address.view.load()
        return self.language.load(address, mask, other, **hints)

    def put(self, address: Any, value: Any, mask: Any = None, **hints: Any) -> None:
        """A store; a program with roles stores no element twice."""
        if self.inside:
            self.store(address, value, mask, **hints)
        else:
            self.language.store(address, value, mask, **hints)


def _turned(value: Any) -> Any:
    """A tile with its two dimensions the other way round."""
    return value.permute((1, 0)) if isinstance(value, View) else value.transposed((1, 0))
