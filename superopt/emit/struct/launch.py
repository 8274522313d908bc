"""Kernels with roles in a file: which launches have them, and how the host starts one.

A launch whose Config has consumers is printed as roles beside its plain function. The launcher
takes the roles where the device and the tensors allow them, and else the plain function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from superopt.emit.kernel import Kernel
from superopt.emit.kernel import StructKernel
from superopt.emit.kernel import TensorArgument
from superopt.emit.struct.kernel import print_threads
from superopt.emit.writer import tuple_text
from superopt.errors import NotEmittable
from superopt.threads.build import build
from superopt.threads.check import check
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.threads import ThreadGraph

WARPS = 4  # of one consumer, and of the launch
SUFFIX = "_roles"  # of the function, before the number of consumers
SLOTS_LEAST, SLOTS_MOST = 2, 8

HOST = '''

def _shared_descriptors(launch, case, least, *boxes):
    """Descriptors of (tensor, positions of one tile along each axis, tiles in shared memory) for
    a kernel with roles, or nothing.

    There are none if the launch asks for no roles, on other devices than sm_90, for operands that
    are not 16 bits wide, if the tiles are too large or have fewer slots than ``least``, and if a
    tensor lies otherwise than descriptors can say.
    """
    device = boxes[0][0].device
    if not launch.consumers or case.itemsize != 2 or launch.stages < least or _room(device) == 0:
        return ()
    if sum(math.prod(b) * t.element_size() * n for t, b, n in boxes) > _room(device) - 1024:
        return ()
    found = []
    for tensor, box, _ in boxes:
        unit = 16 // tensor.element_size()
        shape, steps = list(tensor.shape), [*tensor.stride()[:-1], 1]
        for axis, step in enumerate(steps[:-1]):
            if shape[axis] == 1:  # the step is never taken, so any that is aligned will do
                steps[axis] = unit
            elif step % unit or not 0 < step < 2**36 * unit:
                return ()
        if 0 in shape or tensor.data_ptr() % 16 or max(box) > 256 or box[-1] < unit:
            return ()
        layout = gl.NVMMASharedLayout.get_default_for(list(box), GLUON_DTYPES[tensor.dtype])
        found.append(SharedDescriptor(tensor, shape, steps, list(box), layout))
    return found


GLUON_DTYPES = {torch.float16: gl.float16, torch.bfloat16: gl.bfloat16, torch.float32: gl.float32}


@functools.lru_cache(maxsize=64)
def _room(device):
    """Bytes of shared memory of a device that runs kernels with roles; 0 for others."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) != (9, 0):
        return 0
    return torch.cuda.get_device_properties(device).shared_memory_per_block_optin

'''


def with_roles(block: BlockGraph, name: str, config: Config, dtype: str) -> StructKernel:
    """The roles of a launch that is called ``name``.

    Raises:
        NotEmittable: the block has no thread graph under ``config``; the message says why.
    """
    slots = max(config.stages, SLOTS_LEAST)
    graph = build(block, config, dtype, config.consumers, slots)
    printed = print_threads(graph, f"{name}{SUFFIX}{config.consumers}")
    return replace(printed, least=_least(graph))


def _least(graph: ThreadGraph) -> int:
    """The fewest slots with which no role of ``graph`` waits for ever."""
    for slots in range(SLOTS_LEAST, SLOTS_MOST + 1):
        pipes = tuple(replace(p, capacity=slots) if p.walk else p for p in graph.pipes)
        if not check(replace(graph, pipes=pipes)):
            return slots
    raise NotEmittable(f"the schedule needs more than {SLOTS_MOST} slots")


def joined(known: tuple[StructKernel, ...], more: StructKernel) -> tuple[StructKernel, ...]:
    """``known`` with ``more``, once.

    Raises:
        NotEmittable: there is another function of that name.
    """
    for one in known:
        if one.kernel.name == more.kernel.name:
            if one.kernel.text != more.kernel.text:
                raise NotEmittable(f"two kernels are called {one.kernel.name!r}")
            return known
    return (*known, more)


def boxes(roles: StructKernel, memory: Mapping[str, str], tiles: Mapping[str, str]) -> list[str]:
    """(tensor, positions per axis of a copy, tiles in shared memory) of every described tensor,
    as text. ``memory``, ``tiles``: the host's variables by tensor and by axis."""
    found = []
    for tensor in roles.kernel.described:
        box = tuple_text(tiles.get(a, "1") for a in tensor.order)
        counts = ["launch.stages"] if tensor.name in roles.moving else []
        counts += ["launch.consumers"] if roles.rows in tensor.order else []
        found.append(tuple_text((memory[tensor.name], box, " * ".join(counts) or "1")))
    return found


def described_type(tensor: TensorArgument, box: list[int], dtype: str) -> str:
    """What Triton calls the type of a descriptor of tiles in shared memory; the layout is its
    default one, which the host takes as well."""
    kind = tensor.dtype or dtype
    bits = {"fp16": 16, "bf16": 16, "fp32": 32}[kind]
    wide = box[-1] * bits // 8
    swizzle = next((w for w in (128, 64, 32) if wide % w == 0), 0)
    if len(box) < 2 or prod(box[:-1]) < 8:
        swizzle = 0
    layout = (
        f"NVMMASharedLayout(swizzle_byte_width={swizzle}, element_bitwidth={bits}, "
        f"rank={len(box)}, transposed=False, fp4_padded=False, cga_layout=[])"
    )
    return f"tensordesc<{kind}{box},{layout}>"


def functions(kernel: Kernel) -> tuple[Kernel, ...]:
    """All functions of a launch: the plain one and its twins."""
    twin = () if kernel.twin is None else (kernel.twin,)
    return (kernel, *twin, *(r.kernel for r in kernel.roles))
