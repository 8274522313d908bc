"""What the instructions of a body cost one warpgroup on one multiprocessor, in cycles.

A small table, good enough to tell schedules apart; which of them is fastest, a clock has to say.
A tile with R rows and C columns takes R * C / 128 registers of each of the 128 threads, one row
R / 32 (four threads share a row), one column C / 4. One operation on all of them takes as many
cycles, for 128 lanes work at once; exponentials and the like are 8 times slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from math import prod

from superopt.device import Device
from superopt.errors import NotEmittable
from superopt.threads.body import Products
from superopt.ugraph.cost import BYTES
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import ThreadGraph
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

THREADS = 128  # of a warpgroup
SHUFFLES = 2  # exchanges that complete the fold of a row, which four threads share
SPECIAL = 16  # results of the special function unit a cycle, by which rows of devices are made

# Multiply-adds of 16-bit operands that the matrix unit does in a cycle (989 TFLOP/s of 132
# multiprocessors at 1.83 GHz: m64nNk16 takes N / 2 cycles).
MATRIX = {"sm_90": 2048}


@dataclass(frozen=True)
class Rates:
    """What one multiprocessor does in a cycle, and how long some things take, in cycles.

    ``matrix``: multiply-adds. ``special``, ``plain``, ``convert``: results. ``shared``,
    ``copied``: bytes out of shared memory, and into it by the copy engine. ``latency``: of a copy
    or a load, ``exchange``: of a shuffle between threads, ``issue``: of a matrix product.
    """

    matrix: int = 2048
    special: int = SPECIAL
    plain: int = 128
    convert: int = 128
    shared: int = 128
    copied: int = 60
    latency: int = 800
    exchange: int = 24
    issue: int = 32


def rates_of(device: Device) -> Rates:
    """The rates of a row of the table of devices.

    Raises:
        NotEmittable: the matrix unit of such a device is not known.
    """
    if device.arch not in MATRIX:
        raise NotEmittable(f"no rates of the matrix unit of {device.arch}")
    clock = device.special / (SPECIAL * device.sms)
    return Rates(
        matrix=MATRIX[device.arch],
        plain=round(device.plain / (device.sms * clock)),
        copied=round(device.l2 / (device.sms * clock)),
        latency=round(device.l2_latency_us * 1e-6 * clock),
    )


@dataclass(frozen=True)
class Cost:
    """Of one instruction: ``busy``, cycles during which its warpgroup does nothing else;
    ``unit``, the unit that it keeps busy for ``span`` cycles (``matrix``, ``special`` or
    ``plain``)."""

    busy: int
    unit: str
    span: int


class Costs:
    """Costs and sizes of the instructions of ``body``. ``products``: of its block."""

    def __init__(
        self, graph: ThreadGraph, body: Body, products: Products, dtype: str, rates: Rates
    ) -> None:
        self.graph, self.body, self.products = graph, body, products
        self.dtype, self.rates, self.tiles = dtype, rates, graph.config.tile
        self.named = {i.value for i in body.instrs if i.op is not Op.OPERAND}

    def registers(self, node: Node) -> int:
        """Of a thread, for the tile of ``node`` in 32-bit registers."""
        dims = self.products.dims(node)
        size = prod(self.tiles[d] for d in dims)
        match dims:
            case ():
                return 1
            case (axis,):
                return max(1, size // (32 if axis == self.graph.rows else 4))
            case _:
                return max(1, size // THREADS)

    def size(self, instr: Instr) -> int:
        """Registers that the result of ``instr`` takes; two elements of an operand share one."""
        found = self.registers(instr.value)
        return ceil(found / 2) if instr.op is Op.OPERAND else found

    def of(self, instr: Instr) -> Cost:
        """What ``instr`` costs."""
        rates = self.rates
        if instr.op is Op.PRODUCT:
            assert isinstance(instr.value, Reduce)
            count = prod(self.tiles[d] for d in self.products.dims(instr.value))
            count *= self.tiles[instr.value.axis]
            return Cost(rates.issue, "matrix", ceil(count / rates.matrix))
        own = self._own(instr)
        plain = sum(self._plain(n) for n in own) / rates.plain
        special = sum(self._special(n) for n in own) / rates.special
        waits = sum(rates.exchange * SHUFFLES for n in own if self._across(n))
        if instr.op is Op.OPERAND:
            plain += THREADS * self.registers(instr.value) / rates.convert
        for tensor in (n for n in own if isinstance(n, Input)):
            read = THREADS * self.registers(tensor) * BYTES[tensor.dtype or self.dtype]
            plain += read / rates.shared
            waits += 0 if tensor in self.graph.by_tensor else rates.latency
        unit, span = ("special", special) if special > plain else ("plain", plain)
        return Cost(max(1, ceil(max(plain, special)) + waits), unit, ceil(span))

    def copy(self, pipe: Pipe) -> int:
        """Cycles that a copy into one slot of ``pipe`` keeps the copy engine busy."""
        count = 0
        for tensor in pipe.tensors:
            tile = prod(self.tiles.get(a, 1) for a in tensor.order)
            parts = self.graph.consumers if self.graph.split in tensor.order else 1
            count += parts * tile * BYTES[tensor.dtype or self.dtype]
        return ceil(count / self.rates.copied)

    def _own(self, instr: Instr) -> Sequence[Node]:
        """The nodes that ``instr`` itself computes or loads."""
        if instr.op is Op.OPERAND and instr.value in self.named:
            return ()
        below = topo(
            [instr.value],
            lambda n: () if n in self.named and n is not instr.value else children(n),
        )
        return [n for n in below if n is instr.value or n not in self.named]

    def _plain(self, node: Node) -> float:
        match node:
            case Map(fn=fn):
                return THREADS * fn.value.plain * self._lanes(node)
            case Reduce(arg=arg):
                return THREADS * self._lanes(arg)
            case _:
                return 0

    def _special(self, node: Node) -> float:
        return THREADS * node.fn.value.special * self._lanes(node) if isinstance(node, Map) else 0

    def _lanes(self, node: Node) -> int:
        """Operations of a thread; scalars are computed by the host, or once for a tile."""
        return self.registers(node) if self.products.dims(node) else 0

    def _across(self, node: Node) -> bool:
        """Whether threads exchange values to compute ``node``."""
        return isinstance(node, Reduce)
