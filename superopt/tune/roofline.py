"""The least time of a case on a device: its bytes over memory bandwidth, or its matrix work.

The roofline model (Williams, Waterman and Patterson, 2009) for the operator *as written*: every
input that is needed read once, every output written once, two operations for each multiply-add of
a fold of products, masked positions left out. A form of the algebra with less work can beat it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from superopt.device import Device
from superopt.tune.needed import Array
from superopt.tune.needed import needed
from superopt.tune.needed import share
from superopt.ugraph.contraction import factors
from superopt.ugraph.cost import BYTES
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn

MEMORY = "memory"
MATRIX = "matrix"


@dataclass(frozen=True)
class Work:
    """What a case needs: ``flop`` of folds of products, ``read`` and ``written`` bytes."""

    flop: float
    read: float
    written: float

    @property
    def bytes(self) -> float:
        """Bytes that go through device memory at least."""
        return self.read + self.written


@dataclass(frozen=True)
class Roofline:
    """The least time in microseconds, and which of the two limits it is."""

    us: float
    bound: str
    work: Work

    @property
    def unit(self) -> str:
        """In what a rate of this case is told."""
        return "TFLOP/s" if self.bound == MATRIX else "GB/s"

    def rate(self, us: float) -> float:
        """The rate of a call of ``us`` microseconds, in ``unit``."""
        return self.work.flop / us / 1e6 if self.bound == MATRIX else self.work.bytes / us / 1e3

    def share(self, us: float) -> float:
        """The least time over ``us``."""
        return self.us / us


def work(
    program: Program,
    sizes: Mapping[str, int],
    dtype: str,
    values: Mapping[str, Array | float] | None = None,
) -> Work:
    """What ``program`` needs at ``sizes``.

    ``values``: its integer and boolean tensors and scalars, by name. A mask on one that is
    not given counts as no mask.
    """
    given = values or {}
    found = needed(program)
    flop = read = 0.0
    for node, condition in found.items():
        match node:
            case Reduce(fn=Fn.ADD, axis=axis, arg=arg) if _product(axis, arg):
                part = share(found[arg], arg.axes, sizes, given)
                part = min(part, share(condition, node.axes, sizes, given))
                flop += 2.0 * prod(sizes[a] for a in arg.axes) * part
            case Input(order=order, dtype=own):
                elements = prod(sizes[a] for a in order)
                read += BYTES[own or dtype] * elements * share(condition, order, sizes, given)
            case _:
                continue
    written = sum(
        float(prod(sizes[a] for a in s.order) * BYTES[s.dtype or dtype]) for s in program.outputs
    )
    return Work(flop, read, written)


def roofline(found: Work, device: Device, dtype: str, tf32: bool = False) -> Roofline:
    """The least time of ``found`` at the sustained rates of ``device``."""
    memory = 1e6 * found.bytes / device.dram
    matrix = 1e6 * found.flop / device.matrix_rate("tf32" if tf32 and dtype == "fp32" else dtype)
    return Roofline(max(memory, matrix), MATRIX if matrix > memory else MEMORY, found)


def _product(axis: str, arg: Node) -> bool:
    """Whether a sum of ``arg`` over ``axis`` is one of products."""
    return sum(axis in f.axes for f in factors(arg)) > 1
