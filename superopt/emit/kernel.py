"""What one printed launch is: its text and the parameters that a caller must pass, in order."""

from __future__ import annotations

from dataclasses import dataclass

from superopt.emit.dependent import ALONE
from superopt.emit.dependent import Neighbours
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.node import Node

TRITON_DTYPES = {
    "fp16": "tl.float16",
    "bf16": "tl.bfloat16",
    "fp32": "tl.float32",
    "int8": "tl.int8",
    "int16": "tl.int16",
    "int32": "tl.int32",
    "int64": "tl.int64",
    "bool": "tl.int1",
}


@dataclass(frozen=True)
class TensorArgument:
    """A tensor that a launch reads or writes. ``strides``: (axis, parameter), without the
    innermost axis, whose stride is 1. ``dtype`` None: that of the case. ``described``: it is
    passed as a tensor descriptor, which knows the strides."""

    name: str
    pointer: str
    order: tuple[str, ...]
    dtype: str | None
    strides: tuple[tuple[str, str], ...]
    written: bool
    described: bool = False


@dataclass(frozen=True)
class ScalarArgument:
    """A number that the launcher computes from ``value`` (a node without axes and tensors)."""

    parameter: str
    type: str  # fp32 or i32
    value: Node


@dataclass(frozen=True)
class TileArgument:
    """The constexprs of a tile dimension. ``least``: the fewest positions that may be passed.

    ``even`` says that the tile divides the size, so that no lane is ever masked. ``whole``: the
    tile holds the entire axis. ``guests``: axes that are packed into it; the tile counts joint
    positions.
    """

    axis: str
    tile: str
    even: str
    least: int
    whole: bool
    guests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """One printed ``@triton.jit`` function.

    Parameters in order: pointers, strides, ``sizes`` (axis, parameter), ``scalars``, then the
    constexprs ``tiles`` and, if ``grouped``, ``GROUP`` and, if ``precise``, ``PRECISION`` and, by
    its ``neighbours``, ``DEPENDENT`` and ``LEADS``.
    ``helpers``: the functions and constants of the file that the text uses. ``twin``: the same
    launch with tensor descriptors for some of the pointers, if there is such a function.
    ``roles``: the same launch with roles, one for each number of consumers that is asked for.
    """

    name: str
    text: str
    block: BlockGraph
    tensors: tuple[TensorArgument, ...]
    sizes: tuple[tuple[str, str], ...]
    scalars: tuple[ScalarArgument, ...]
    tiles: tuple[TileArgument, ...]
    precise: bool
    helpers: tuple[str, ...]
    grouped: bool = False
    neighbours: Neighbours = ALONE
    twin: Kernel | None = None
    roles: tuple[StructKernel, ...] = ()

    @property
    def described(self) -> tuple[TensorArgument, ...]:
        """The tensors that are passed as descriptors."""
        return tuple(t for t in self.tensors if t.described)


@dataclass(frozen=True)
class StructKernel:
    """A printed kernel with roles.

    ``kernel``: the entry, with its text and that of the roles. ``slots``: the constexprs of rings
    with their capacity. ``rows``, ``consumers``: the grid axis that consumers split; a program has
    ``consumers`` tiles of it (empty: none is split, consumers take tiles in turn). ``moving``: the
    tensors that come through rings. ``least``: with fewer slots its roles would wait for ever.
    ``kind``: what tells it from others with as many consumers (``Config.kind``). ``persistent``:
    its programs take several tiles, with so many slots for what comes once a tile (0: a program for
    each tile), and ``each`` at most (0: all).
    """

    kernel: Kernel
    slots: tuple[tuple[str, int], ...]
    rows: str
    consumers: int
    moving: tuple[str, ...] = ()
    least: int = 2
    kind: str = ""
    persistent: int = 0
    each: int = 0
