"""Runs printed roles as Python threads on numpy tiles, where barriers block and copies come late.

A copy poisons its slot and lands after a while; a product reads its operands only when it is
awaited. So a slot that is given back or read too early shows in the result, a deadlock as an error.
"""

from __future__ import annotations

import random
import threading
import time
from typing import Any

import numpy as np

LIMIT = 4.0  # seconds that anything may wait


class Tile(np.ndarray):  # type: ignore[type-arg]
    def to(self, dtype, bitcast=False):
        return tile(np.asarray(self).astype(dtype))

    def load(self, layout=None):
        return tile(np.array(self))

    def store(self, value):
        assert value.shape == self.shape, (value.shape, self.shape)
        self[...] = value

    def index(self, at):
        return self[int(at)]

    def permute(self, order):
        return self.transpose(order)


def tile(value):
    return np.asarray(value).view(Tile)


class Number(int):
    def to(self, dtype):
        return dtype(self)


class Barrier:
    def __init__(self):
        self.count = self.pending = 0
        self.bytes, self.phase = 0, 0
        self.change = threading.Condition()

    def settle(self):
        if self.pending == 0 and self.bytes == 0:
            self.phase, self.pending = self.phase + 1, self.count
            self.change.notify_all()
        assert self.pending >= 0, "one arrival too many"


class Barriers(list):  # type: ignore[type-arg]
    def index(self, at):
        return self[int(at)]


class MBarrier:
    MBarrierLayout = staticmethod(lambda: None)

    @staticmethod
    def init(barrier, count):
        barrier.count = barrier.pending = count

    @staticmethod
    def arrive(barrier):
        with barrier.change:
            barrier.pending -= 1
            barrier.settle()

    @staticmethod
    def expect(barrier, count):
        with barrier.change:
            barrier.pending -= 1
            barrier.bytes += count
            barrier.settle()

    @staticmethod
    def wait(barrier, parity):
        with barrier.change:
            done = barrier.change.wait_for(lambda: barrier.phase & 1 != parity & 1, LIMIT)
        if not done:
            raise AssertionError("deadlock: a barrier was never completed")


class Described:
    """A tensor descriptor: an array with the box that a copy moves."""

    def __init__(self, array, box):
        self.array, self.box, self.dtype, self.layout = array, box, np.float32, None
        self.block_type = self
        self.nbytes = int(np.prod(box)) * 2

    def cut(self, at):
        """Slices of the array and of the box, for what exists."""
        pairs = [
            (max(a, 0), min(a + b, n), a)
            for a, b, n in zip(at, self.box, self.array.shape, strict=True)
        ]
        here = tuple(slice(lo, max(lo, hi)) for lo, hi, _ in pairs)
        there = tuple(slice(lo - a, max(lo, hi) - a) for lo, hi, a in pairs)
        return here, there


class Copies:
    def __init__(self, seed):
        self.random, self.failed = random.Random(seed), []

    def async_copy_global_to_shared(self, described, at, barrier, slot):
        assert list(slot.shape) == list(described.box), (slot.shape, described.box)
        slot[...] = np.nan
        delay = self.random.random() * 2e-3

        def land():
            time.sleep(delay)
            here, there = described.cut([int(a) for a in at])
            slot[...] = 0
            slot[there] = described.array[here]
            with barrier.change:
                barrier.bytes -= described.nbytes
                barrier.settle()

        threading.Thread(target=land).start()

    def async_copy_shared_to_global(self, described, at, slot):
        here, there = described.cut([int(a) for a in at])
        described.array[here] = slot[there]

    def store_wait(self, pendings):
        assert pendings == 0


class Flight:
    """A product that has been issued; ``value`` once it is over."""

    def __init__(self, a, b, acc, use):
        self.operands, self.acc, self.use, self.value = (a, b), acc, use, None

    def finish(self):
        if self.value is None:
            acc = self.acc.value if isinstance(self.acc, Flight) else self.acc
            a, b = (np.asarray(x, np.float32) for x in self.operands)
            self.value = tile(a @ b + (np.asarray(acc) if self.use else 0))
        return self.value


class Machine:
    """What a printed text calls, for one run."""

    def __init__(self, seed=0):
        self.local, self.seed, self.errors = threading.local(), seed, []

    def names(self) -> dict[str, Any]:
        gl = self
        found = {"gl": gl, "tl": gl, "gluon": gl, "triton": gl, "mbarrier": MBarrier}
        found |= {"tma": Copies(self.seed), "fence_async_shared": lambda: None}
        return found | {"warpgroup_mma": self.multiply, "warpgroup_mma_wait": self.finish}

    class PropagateNan:
        ALL = "all"

    float32, float16, int32, int64, int1 = np.float32, np.float32, np.int32, np.int64, np.bool_
    bfloat16 = np.float32
    constexpr = staticmethod(lambda x: x)
    jit = staticmethod(lambda f: f)
    static_range = range
    layout = staticmethod(lambda *a, **k: None)
    NVMMADistributedLayout = SliceLayout = DotOperandLayout = BlockedLayout = layout

    @staticmethod
    def convert_layout(x, layout, assert_trivial=False):
        return x

    @staticmethod
    def split(x):
        assert x.shape[-1] == 2, x.shape
        return x[..., 0], x[..., 1]

    def program_id(self, axis):
        return Number(self.local.pid)

    def num_programs(self, axis):
        return Number(self.programs)

    @staticmethod
    def cdiv(a, b):
        return Number(-(-a // b))

    @staticmethod
    def cast(x, dtype):
        return x.to(dtype) if isinstance(x, Tile) else dtype(x)

    @staticmethod
    def swizzle2d(i, j, rows, columns, group):
        at = i * columns + j
        first = at // (group * columns) * group
        size = min(rows - first, group)
        at = at % (group * columns)
        return Number(first + at % size), Number(at // size)

    @staticmethod
    def arange(begin, end, layout=None):
        return tile(np.arange(begin, end))

    @staticmethod
    def full(shape, value, dtype, layout=None):
        return tile(np.full(shape, value, dtype))

    @staticmethod
    def where(c, a, b):
        found = np.where(c, a, b)
        return Number(found) if found.ndim == 0 and found.dtype.kind == "i" else tile(found)

    @staticmethod
    def _pair(f, a, b):
        if isinstance(a, int) and isinstance(b, int):
            return Number(f(a, b))
        return tile(f(a, b))

    def maximum(self, a, b, propagate_nan=None):
        return self._pair(np.maximum, a, b)

    def minimum(self, a, b, propagate_nan=None):
        return self._pair(np.minimum, a, b)

    def reduce(self, x, axis, f):
        parts = np.moveaxis(np.asarray(x), axis, 0)
        found = tile(parts[0])
        for part in parts[1:]:
            found = f(found, tile(part))
        return found

    @staticmethod
    def min(x, axis):
        return Number(np.asarray(x).min(axis))

    @staticmethod
    def max(x, axis):
        return Number(np.asarray(x).max(axis))

    @staticmethod
    def sum(x, axis):
        return tile(np.asarray(x).sum(axis, dtype=x.dtype))

    def __getattr__(self, name):
        plain = {"exp2": np.exp2, "log2": np.log2, "sqrt": np.sqrt, "abs": np.abs}
        if name == "rsqrt":
            return lambda x: 1 / np.sqrt(x)
        return plain[name]

    @staticmethod
    def load(at, mask=True, other=0):
        return at.read(mask, other)

    @staticmethod
    def store(at, value, mask=True):
        at.write(value, mask)

    def allocate_shared_memory(self, dtype, shape, layout):
        if dtype is np.int64:
            return Barriers(Barrier() for _ in range(shape[0]))
        return tile(np.full(shape, np.nan, np.float32))

    # Products.

    def multiply(self, a, b, acc, use_acc=True, is_async=False):
        assert is_async
        assert not isinstance(a, Flight), "an operand is in flight"
        flight = Flight(a, b, acc, use_acc)
        self.local.flights = [*getattr(self.local, "flights", []), flight]
        return flight

    def finish(self, num_outstanding, deps):
        flights = self.local.flights if hasattr(self.local, "flights") else []
        done = flights[: max(len(flights) - num_outstanding, 0)]
        for flight in done:
            flight.finish()
        self.local.flights = flights[len(done) :]
        (dep,) = deps
        return dep if not isinstance(dep, Flight) or dep.value is None else dep.value

    def warp_specialize(self, roles, warps, registers):
        assert len(warps) == len(registers) == len(roles) - 1
        pid = self.local.pid

        def role(function, arguments):
            self.local.pid = pid
            try:
                with np.errstate(all="ignore"):  # lanes that do not exist
                    function(*arguments)
                if getattr(self.local, "flights", []):
                    raise AssertionError("a role ends with products in flight")
            except BaseException as error:
                self.errors.append(error)

        threads = [threading.Thread(target=role, args=r) for r in roles]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.errors:
            raise self.errors[0]


class Pointer:
    def __init__(self, array, at=0):
        self.array, self.at = array.reshape(-1), at

    def __add__(self, by):
        return Pointer(self.array, self.at + by)

    @property
    def dtype(self):
        return self

    element_ty = np.float32

    def read(self, mask, other):
        at = np.asarray(self.at)
        inside = np.broadcast_to(np.asarray(mask), at.shape)
        found = self.array[np.where(inside, at, 0)]
        return tile(np.where(inside, found, other))

    def write(self, value, mask):
        at = np.asarray(self.at)
        inside = np.broadcast_to(np.asarray(mask), at.shape)
        self.array[at[inside]] = np.broadcast_to(value, at.shape)[inside]


def run(
    text: str,
    name: str,
    programs: int,
    arguments: dict[str, Any],
    seed: int = 0,
    kind: type[Machine] = Machine,
) -> None:
    machine = kind(seed)
    scope = machine.names()
    exec(compile(text, name, "exec", dont_inherit=True), scope)
    machine.programs = programs
    for pid in range(programs):
        machine.local.pid = pid
        scope[name](**arguments)
