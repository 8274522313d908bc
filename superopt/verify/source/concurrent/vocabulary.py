"""The part of Gluon that kernels with roles are printed in, with its meaning for one program.

Layouts are kept by name and mean nothing: which thread has an element changes no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from types import GeneratorType
from typing import Any

import numpy as np

from superopt.verify.source.cells import Plain
from superopt.verify.source.cells import taken
from superopt.verify.source.concurrent.products import WARPGROUP
from superopt.verify.source.concurrent.products import Flight
from superopt.verify.source.concurrent.products import Products
from superopt.verify.source.concurrent.run import Run
from superopt.verify.source.concurrent.run import Steps
from superopt.verify.source.concurrent.shared import Allocation
from superopt.verify.source.concurrent.shared import View
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.host import Descriptor
from superopt.verify.source.memory import Buffer
from superopt.verify.source.memory import Pointer
from superopt.verify.source.tiles import INT64
from superopt.verify.source.tiles import DType
from superopt.verify.source.tiles import Tile
from superopt.verify.source.tiles import as_tile
from superopt.verify.source.vocabulary import Strict
from superopt.verify.source.vocabulary import Vocabulary

WARPS = (1, 2, 4, 8, 16)  # of a role
REGISTERS = range(24, 257, 8)  # of a thread of a role: PTX ISA, setmaxnreg


@dataclass(frozen=True)
class Layout:
    """A layout, as the text names it."""

    kind: str
    said: tuple[Any, ...] = ()


class Described(Descriptor):
    """A tensor descriptor for tiles in shared memory."""

    def __init__(self, tensor: Any, shape: Any, strides: Any, box: Any, layout: Layout) -> None:
        super().__init__(tensor, shape, strides, box)
        self.layout = layout
        self.nbytes = prod(self.box) * tensor.element_size()

    @property
    def block_type(self) -> Described:
        """The type of a tile, which knows its ``nbytes``."""
        return self


@dataclass(frozen=True)
class Barriers:
    """Barriers in shared memory: their places, which get a barrier by ``init``."""

    name: str
    numbers: list[int | None]
    first: int = 0
    count: int = -1

    def index(self, at: Any) -> Barriers:
        """One of them."""
        number, length = int(at), self.count if self.count >= 0 else len(self.numbers)
        if not 0 <= number < length:
            raise FaultError(f"{self.name} has {length} barriers and none is number {number}")
        return Barriers(self.name, self.numbers, self.first + number, 1)

    @property
    def number(self) -> int:
        """Of the barrier that it is. Raises FaultError."""
        if self.count != 1 and len(self.numbers) != 1:
            raise FaultError(f"{self.name} is {len(self.numbers)} barriers and no single one")
        if (found := self.numbers[self.first]) is None:
            raise FaultError(f"{self.name}[{self.first}] is used before it is made")
        return found


class Roles:
    """The functions; ``run``: the program that is executed."""

    def __init__(self, language: Vocabulary) -> None:
        self.language = language
        self.products = Products(language)
        self.run: Run
        self.allocated = 0

    def begin(self, run: Run) -> None:
        """The next program."""
        self.run, self.allocated = run, 0

    def end(self) -> None:
        """The program has ended, or failed."""

    def namespace(self) -> dict[str, Any]:
        """What a text imports from Gluon."""
        plain = {k: v for k, v in vars(self.language.namespace()).items() if k != "_name"}
        shared = Strict("gl.NVMMASharedLayout", get_default_for=_layout("NVMMASharedLayout"))
        kinds = ("NVMMADistributedLayout", "SliceLayout", "DotOperandLayout", "BlockedLayout")
        plain |= {kind: _layout(kind) for kind in kinds}
        plain |= {
            "NVMMASharedLayout": shared,
            "arange": lambda first, stop, layout=None: self.language.arange(first, stop),
            "full": lambda shape, value, dtype, layout=None: self.language.full(
                shape, value, dtype
            ),
            "zeros": lambda shape, dtype, layout=None: self.language.full(shape, 0, dtype),
            "convert_layout": lambda value, layout, assert_trivial=False: _tile(value),
            "split": lambda value: halves(_tile(value)),
            "cast": lambda value, dtype: as_tile(self.language.cells, value).to(dtype),
            "allocate_shared_memory": self.allocate,
            "range": self.range,
            "static_range": self.range,
            "store": self.store,
            "warp_specialize": self.warp_specialize,
        }
        barrier = Strict(
            "mbarrier",
            MBarrierLayout=_layout("MBarrierLayout"),
            init=self.init,
            expect=self.expect,
            arrive=self.arrive,
            wait=self.wait,
        )
        tma = Strict(
            "tma",
            async_copy_global_to_shared=self.copy_in,
            async_copy_shared_to_global=self.copy_out,
            store_wait=self.store_wait,
        )
        return {
            "gl": Strict("gl", **plain),
            "mbarrier": barrier,
            "tma": tma,
            "fence_async_shared": self.fence,
            "warpgroup_mma": lambda *of, **how: self.products.multiply(self.run, *of, **how),
            "warpgroup_mma_wait": self.products_wait,
            "range": self.range,
        }

    def range(self, *limits: Any, **how: Any) -> list[Tile]:
        """A loop."""
        return list(self.language.range(*limits, **how))

    def warp_specialize(self, roles: Any, warps: Any, registers: Any) -> None:
        """Executes roles side by side; the first one by the warps that are there already."""
        if not len(warps) == len(registers) == len(roles) - 1:
            raise FaultError(f"{len(roles)} roles with {len(warps)} numbers of warps")
        if any(int(w) not in WARPS for w in warps):
            raise FaultError(f"roles of {list(warps)} warps")
        if any(int(r) not in REGISTERS for r in registers):
            raise FaultError(f"roles of {list(registers)} registers")
        made = []
        for number, (kernel, arguments) in enumerate(roles):
            made.append((f"role {number} ({kernel.name})", steps_of(kernel(*arguments))))
            if number and int(warps[number - 1]) % WARPGROUP:
                self.run.few[made[-1][0]] = int(warps[number - 1])
        self.run.fork(made)

    # Shared memory.

    def allocate(self, dtype: DType, shape: Any, layout: Any, value: Any = None) -> Any:
        """Tiles, or barriers, by the layout."""
        if value is not None:
            raise OutsideVocabularyError("shared memory with a first value")
        lengths = tuple(map(int, shape))
        self.allocated += 1
        if isinstance(layout, Layout) and layout.kind == "MBarrierLayout":
            if dtype is not INT64 or lengths[-1] != 1 or len(lengths) > 2:
                raise FaultError(f"barriers of {dtype} in shape {lengths}")
            return Barriers(f"barriers {self.allocated}", [None] * prod(lengths))
        return View(
            made := Allocation(self.run, f"allocation {self.allocated}", dtype, lengths),
            made.places,
        )

    def named(self, value: Any, name: str) -> Any:
        """Calls what was allocated what the text calls it."""
        match value:
            case View(allocation=allocation) if allocation.buffer.name.startswith("allocation "):
                allocation.buffer.name = name
            case Barriers(name=old, numbers=numbers) if old.startswith("barriers "):
                return Barriers(name, numbers)
        return value

    def fence(self) -> None:
        """What was written so far can be seen by the copy engine and by matrix products."""
        self.run.fence()

    # Barriers.

    def init(self, barrier: Barriers, count: Any) -> None:
        """Makes a barrier."""
        place = barrier.first
        if barrier.numbers[place] is not None:
            raise FaultError(f"{barrier.name}[{place}] is made twice")
        if int(count) < 1:
            raise FaultError(f"{barrier.name}[{place}] is made for {int(count)} arrivals")
        barrier.numbers[place] = self.run.barrier(f"{barrier.name}[{place}]", int(count))

    def expect(self, barrier: Barriers, bytes_per_cta: Any, pred: Any = True) -> None:
        """An arrival that says how many bytes will come."""
        if self._holds(pred):
            self.run.arrive(barrier.number, 1, int(bytes_per_cta))

    def arrive(self, barrier: Barriers, count: Any = 1, pred: Any = True) -> None:
        """Arrivals."""
        if self._holds(pred):
            self.run.arrive(barrier.number, int(count))

    def wait(self, barrier: Barriers, phase: Any, pred: Any = True, deps: Any = ()) -> Steps:
        """A wait for a phase of this parity. PTX defines 0 and 1 alone."""
        if self._holds(pred):
            if (parity := int(phase)) not in (0, 1):
                raise FaultError(f"{barrier.name} is awaited for the parity {parity}")
            yield from self.run.wait(barrier.number, parity)

    def _holds(self, pred: Any) -> bool:
        return bool(as_tile(self.run.cells, pred))

    # Copies.

    def copy_in(
        self, tensor: Described, at: Sequence[Any], barrier: Barriers, view: View, pred: Any = True
    ) -> None:
        """A tile of a tensor, 0 past its ends, into shared memory."""
        if not self._holds(pred):
            return
        self._fits(tensor, view)
        view.copy_in(barrier.number, tensor.nbytes, tensor.load(at))

    def copy_out(self, tensor: Described, at: Sequence[Any], view: View) -> None:
        """A tile from shared memory into a tensor, as far as that exists."""
        run = self.run
        self._fits(tensor, view)
        agent = run.issued(f"a store to {tensor.tensor.buffer.name}")
        value = view.read(agent, plain=False)
        run.stores.setdefault(run.role.number, []).append(agent)
        offsets, inside = tensor.places(at)
        self._once(tensor.tensor.buffer, offsets[inside])
        tensor.tensor.buffer.store(offsets, value, inside)

    def _fits(self, tensor: Described, view: View) -> None:
        if view.shape != tensor.box or view.dtype is not tensor.dtype:
            raise FaultError(
                f"a copy of {tensor.dtype}{list(tensor.box)} with {view.dtype}{list(view.shape)}"
            )

    def store_wait(self, pendings: Any) -> None:
        """Until no more than so many stores of this role read shared memory."""
        run = self.run
        under_way = run.stores.setdefault(run.role.number, [])
        while len(under_way) > int(pendings):
            run.role.learn(under_way.pop(0).seen)

    # Products and memory.

    def products_wait(self, num_outstanding: Any = 0, deps: Any = ()) -> Any:
        """A wait for products of this role."""
        return self.products.wait(self.run, num_outstanding, deps)

    def store(self, address: Any, value: Any, mask: Any = None, **hints: Any) -> None:
        """A store by address."""
        tile = _tile(value)
        if isinstance(address, Pointer):
            masks = () if mask is None else (mask.plain,)
            shape = np.broadcast_shapes(address.offsets.shape, tile.shape, *map(np.shape, masks))
            offsets = np.broadcast_to(address.offsets, shape)
            inside = np.broadcast_to(np.asarray(True if mask is None else mask.plain), shape)
            self._once(address.buffer, offsets[inside])
        self.language.store(address, tile, mask, **hints)

    def _once(self, buffer: Buffer, at: Plain) -> None:
        """No element is stored twice by one program."""
        clock = self.run.clock
        if not at.size or at.min() < 0 or at.max() >= buffer.writer.shape[1]:
            return  # the store itself says so
        mine = np.array([[clock.launch], [clock.program]])
        if (buffer.writer[:, at] == mine).all(0).any():
            self.run.report(f"{self.run.role.name} stores an element of {buffer.name} again")


def _layout(kind: str) -> Any:
    return lambda *of, **how: Layout(kind, (*of, *how.items()))


def _tile(value: Any) -> Any:
    """What is in registers; of an accumulator under way its use is a fault."""
    if not isinstance(value, Flight):
        return value
    return Tile(value.cells, value.dtype, value.plain, value.data)


def halves(value: Tile) -> tuple[Tile, Tile]:
    """The elements at both positions of the last dimension (``gl.split``)."""
    if value.shape[-1] != 2:
        raise FaultError(f"a tile of shape {value.shape} is split in two")
    places = np.arange(prod(value.shape)).reshape(value.shape)
    flat = value.reshape((prod(value.shape),))
    first, second = (_taken(flat, places[..., n]) for n in (0, 1))
    return first, second


def _taken(flat: Tile, places: Plain) -> Tile:
    if flat.plain is not None:
        return Tile(flat.cells, flat.dtype, flat.plain[places])
    return Tile(flat.cells, flat.dtype, None, taken(flat.cells, flat.data, places))


def steps_of(found: Any) -> Steps:
    """A role as a generator, also if it waits for nothing."""
    if isinstance(found, GeneratorType):
        yield from found
