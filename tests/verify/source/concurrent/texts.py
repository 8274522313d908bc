"""Small kernels with barriers, written by hand, and how to read them in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from superopt.errors import SuperoptError
from superopt.ugraph.floats import FloatDomain
from superopt.verify.source.concurrent.machine import RolesMachine
from superopt.verify.source.load import read_text
from superopt.verify.source.tiles import DTYPES
from superopt.verify.source.tiles import Tile

# Copies tiles of a vector of tiles, two under way, without roles.
COPY = """
@gluon.jit
def copy_kernel(x_desc, out_desc, COUNT: gl.constexpr, SLOTS: gl.constexpr):
    tiles = gl.allocate_shared_memory(x_desc.dtype, [SLOTS, 2, 8], x_desc.layout)
    ready = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(SLOTS):
        mbarrier.init(ready.index(slot), count=1)
    for first in gl.static_range(SLOTS - 1):
        mbarrier.expect(ready.index(first), x_desc.block_type.nbytes)
        tma.async_copy_global_to_shared(
            x_desc, [first * 2, 0], ready.index(first), tiles.index(first)
        )
    for step in range(COUNT):
        ahead = step + SLOTS - 1
        if ahead < COUNT:
            tma.store_wait(pendings=0)
            slot = ahead % SLOTS
            mbarrier.expect(ready.index(slot), x_desc.block_type.nbytes)
            tma.async_copy_global_to_shared(
                x_desc, [ahead * 2, 0], ready.index(slot), tiles.index(slot)
            )
        mbarrier.wait(ready.index(step % SLOTS), (step // SLOTS) & 1)
        tma.async_copy_shared_to_global(out_desc, [step * 2, 0], tiles.index(step % SLOTS))
    tma.store_wait(pendings=0)


def launch(x, out):
    layout = gl.NVMMASharedLayout.get_default_for([2, 8], gl.float16)
    x_desc = SharedDescriptor(x, [12, 8], [8, 1], [2, 8], layout)
    out_desc = SharedDescriptor(out, [12, 8], [8, 1], [2, 8], layout)
    copy_kernel[(1,)](x_desc, out_desc, COUNT=6, SLOTS=3, num_warps=4)
    return out
"""

# x [4, 48] by y [48, 8]: one producer, two consumers with two rows each.
MATMUL = """
@gluon.jit
def load(x_desc, y_desc, x_tiles, y_tiles, full, empty, COUNT: gl.constexpr, SLOTS: gl.constexpr):
    for step in range(COUNT):
        slot = step % SLOTS
        mbarrier.wait(empty.index(slot), ((step // SLOTS) & 1) ^ 1)
        mbarrier.expect(
            full.index(slot), 2 * x_desc.block_type.nbytes + y_desc.block_type.nbytes
        )
        for half in gl.static_range(2):
            tma.async_copy_global_to_shared(
                x_desc, [half * 2, step * 8], full.index(slot), x_tiles.index(slot * 2 + half)
            )
        tma.async_copy_global_to_shared(
            y_desc, [step * 8, 0], full.index(slot), y_tiles.index(slot)
        )


@gluon.jit
def multiply(
    out_desc, x_tiles, y_tiles, out_tiles, full, empty, COUNT: gl.constexpr, SLOTS: gl.constexpr,
    HALF: gl.constexpr,
):
    acc = gl.full([2, 8], 0.0, gl.float32, layout=gl.NVMMADistributedLayout([3, 0], [4, 1]))
    mbarrier.wait(full.index(0), 0)
    acc = warpgroup_mma(x_tiles.index(HALF), y_tiles.index(0), acc, is_async=True)
    for step in range(1, COUNT):
        slot = step % SLOTS
        mbarrier.wait(full.index(slot), (step // SLOTS) & 1)
        acc = warpgroup_mma(
            x_tiles.index(slot * 2 + HALF), y_tiles.index(slot), acc, is_async=True
        )
        acc = warpgroup_mma_wait(num_outstanding=1, deps=[acc])
        mbarrier.arrive(empty.index((step - 1) % SLOTS), count=1)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=[acc])
    out_tiles.index(HALF).store(acc.to(out_desc.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(out_desc, [HALF * 2, 0], out_tiles.index(HALF))
    tma.store_wait(pendings=0)


@gluon.jit
def matmul_kernel(x_desc, y_desc, out_desc, COUNT: gl.constexpr, SLOTS: gl.constexpr):
    x_tiles = gl.allocate_shared_memory(x_desc.dtype, [SLOTS * 2, 2, 8], x_desc.layout)
    y_tiles = gl.allocate_shared_memory(y_desc.dtype, [SLOTS, 8, 8], y_desc.layout)
    out_tiles = gl.allocate_shared_memory(out_desc.dtype, [2, 2, 8], out_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(SLOTS):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=2)
    gl.warp_specialize(
        [
            (multiply, (out_desc, x_tiles, y_tiles, out_tiles, full, empty, COUNT, SLOTS, 0)),
            (multiply, (out_desc, x_tiles, y_tiles, out_tiles, full, empty, COUNT, SLOTS, 1)),
            (load, (x_desc, y_desc, x_tiles, y_tiles, full, empty, COUNT, SLOTS)),
        ],
        [4, 1],
        [240, 24],
    )


def launch(x, y, out):
    layout = gl.NVMMASharedLayout.get_default_for([2, 8], gl.float16)
    x_desc = SharedDescriptor(x, [4, 48], [48, 1], [2, 8], layout)
    y_desc = SharedDescriptor(y, [48, 8], [8, 1], [8, 8], layout)
    out_desc = SharedDescriptor(out, [4, 8], [8, 1], [2, 8], layout)
    matmul_kernel[(1,)](x_desc, y_desc, out_desc, COUNT=6, SLOTS=3, num_warps=4)
    return out
"""


@dataclass(frozen=True)
class Seen:
    """``engines``: what each says against the text; ``said``: how the reading ended ("": well)."""

    engines: dict[str, str]
    said: str


Machines = Callable[..., RolesMachine]
DIFFERS = "the result differs"


def run(
    text: str, arrays: list[np.ndarray], wanted: np.ndarray, machines: Machines = RolesMachine
) -> Seen:
    """Reads a text; its launcher takes float16 tensors, the last one for the result."""
    try:
        machine = machines(read_text(text), FloatDomain())
    except SuperoptError as error:
        return Seen({}, str(error))
    tensors = []
    for number, array in enumerate([*arrays, wanted]):
        strides = [s // array.itemsize for s in array.strides]
        tensor = machine.host.tensor(f"t{number}", array.shape, strides, DTYPES["fp16"])
        if array is not wanted:
            tensor.buffer.fill(Tile(machine.cells, DTYPES["fp16"], None, array))
        tensors.append(tensor)
    try:
        machine.call("launch", tuple(tensors))
        found = tensors[-1].buffer.whole().lifted()
    except SuperoptError as error:
        return Seen(machine.engines, str(error))
    same = np.allclose(found.reshape(wanted.shape), wanted)
    return Seen(machine.engines, "" if same else DIFFERS)


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape) + shape[0]).standard_normal(shape)


def copied(text: str = COPY, machines: Machines = RolesMachine) -> Seen:
    x = numbers(12, 8)
    return run(text, [x], x.copy(), machines)


def multiplied(text: str = MATMUL, machines: Machines = RolesMachine, length: int = 48) -> Seen:
    x, y = numbers(4, length), numbers(length, 8)
    return run(text, [x, y], x @ y, machines)
