"""Kernels with roles in a file: which launches have them, and how the host starts one.

A launch whose Config has consumers is printed as roles beside its plain function. The launcher
takes the roles where the device and the tensors allow them, and else the plain function.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from superopt.emit.kernel import Kernel
from superopt.emit.kernel import StructKernel
from superopt.emit.kernel import TensorArgument
from superopt.emit.struct.kernel import print_threads
from superopt.emit.writer import tuple_text
from superopt.errors import NotEmittable
from superopt.threads.build import SLOTS_LEAST
from superopt.threads.build import of_config
from superopt.threads.check import check
from superopt.threads.parts import parted
from superopt.threads.parts import parts
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.threads import ThreadGraph

SUFFIX = "_roles"  # of the function, before the number of consumers
SLOTS_MOST = 8

_DESCRIPTORS = '''def _shared_descriptors(boxes):
    """Descriptors of tensors whose tiles are copied into shared memory."""
    found = []
    for tensor, box, _ in boxes:
        unit = 16 // tensor.element_size()
        # The step of one position is never taken, so any that is aligned will do.
        steps = [unit if n == 1 else s for s, n in zip(tensor.stride(), tensor.shape)]
        steps[-1] = 1
'''
# Gluon's say how a tile lies in shared memory, where results may lie in parts.
_WITH_LAYOUTS = '''\
        layout = gl.NVMMASharedLayout.get_default_for(list(box), GLUON_DTYPES[tensor.dtype])
        found.append(SharedDescriptor(tensor, list(tensor.shape), steps, list(box), layout))
    return found


def _part(columns):
    """How many columns of a tile leave at a time, on the way from shared memory."""
    return columns // (1 + columns // 256)


GLUON_DTYPES = {torch.float16: gl.float16, torch.bfloat16: gl.bfloat16, torch.float32: gl.float32}
'''
_WITHOUT = """        found.append(TensorDescriptor(tensor, list(tensor.shape), steps, list(box)))
    return found
"""

_TAKING = '''

TAKEN = {}  # by plain function: why its last launch took no roles; empty if it did


def _without_roles(launch, case, tiles, fewest, boxes):
    """Why a launch takes its plain function; empty if it takes roles.

    ``tiles``: as many as there are, or more. ``fewest``: by consumers and kind, with how many slots
    roles do not wait for ever. ``boxes``: (tensor, positions of one tile along each axis, tiles in
    shared memory) of all descriptors.
    """
    if not launch.consumers:
        return "the plan asks for none"
    if launch.stages < fewest.get((launch.consumers, launch.roles), math.inf):
        return f"{launch.consumers} {launch.roles} with {launch.stages} slots: not in this file"
    if tiles >= LARGEST // 2:
        return f"{tiles} tiles: roles count them in 32 bits"
    room = _room(boxes[0][0].device)
    if room == 0:
        return "the device is no sm_90"
    if case.itemsize != 2:
        return f"operands are {case}, not 16 bits wide"
    size = sum(math.prod(b) * t.element_size() * n for t, b, n in boxes)
    if size > room - 1024:
        return f"tiles take {size} bytes of {room - 1024} of shared memory"
    for tensor, box, _ in boxes:
        unit = 16 // tensor.element_size()
        steps = [(s, n) for s, n in zip(tensor.stride()[:-1], tensor.shape[:-1]) if n != 1]
        if 0 in tensor.shape:
            return "a tensor is empty"
        if tensor.data_ptr() % 16 or any(s % unit or not 0 < s < 2**36 * unit for s, _ in steps):
            return "a tensor's address or a stride is no multiple of 16 bytes"
        if max(box) > 256 or box[-1] < unit:
            return f"a tile of {tuple(box)} positions is no box of a copy"
    return ""


def _instead(plan, index):
    """A launch for the plain function: of the plan, or of one like it that asks for no roles."""
    if not plan.launches[index].consumers:
        return plan.launches[index]
    alike = (p for p in PLANS if p[3:] == plan[3:] and p.graph == plan.graph)
    launches = (p.launches[index] for p in alike if not p.launches[index].consumers)
    return next(launches, plan.launches[index])


'''
_ROOM = '''

@functools.lru_cache(maxsize=64)
def _room(device):
    """Bytes of shared memory of a device that runs kernels with roles; 0 for others."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) != (9, 0):
        return 0
    return torch.cuda.get_device_properties(device).shared_memory_per_block_optin

'''


def host(layouts: bool) -> str:
    """What a launcher asks before it takes roles, and how it makes their descriptors. ``layouts``:
    these say how tiles lie in shared memory; else the compiler chooses."""
    return _TAKING + _DESCRIPTORS + (_WITH_LAYOUTS if layouts else _WITHOUT) + _ROOM


def with_roles(
    block: BlockGraph,
    name: str,
    config: Config,
    dtype: str,
    printer: Callable[[ThreadGraph, str], StructKernel] = print_threads,
) -> StructKernel:
    """The roles of a launch that is called ``name``. ``printer``: of the dialect.

    Raises:
        NotEmittable: the block has no thread graph under ``config``; the message says why.
    """
    graph = of_config(block, config, dtype)
    kind = f"_{config.kind}" if config.kind else ""
    printed = printer(graph, f"{name}{SUFFIX}{config.consumers}{kind}")
    printed = replace(printed, persistent=config.persistent, each=config.each)
    return replace(printed, kind=config.kind, least=_least(graph))


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


def boxes(
    kinds: Sequence[StructKernel], memory: Mapping[str, str], tiles: Mapping[str, str]
) -> list[str]:
    """(tensor, positions per axis of a copy, tiles in shared memory) of every described tensor,
    as text. ``kinds``: all roles of the launch, which may differ in the last. ``memory``,
    ``tiles``: the host's variables by tensor and by axis."""
    kernel = kinds[0].kernel
    found = []
    for tensor in kernel.described:
        halved = leaves_in_parts(kernel, tensor)
        box = tuple_text(
            f"_part({tiles[a]})" if a == halved else tiles.get(a, "1") for a in tensor.order
        )
        by: dict[str, list[str]] = {}
        for one in kinds:
            by.setdefault(_tiles_of(one, tensor), []).append(one.kind)
        *others, count = by
        asked = (f"{text} if launch.roles in {_listed(by[text])} else " for text in others)
        found.append(tuple_text((memory[tensor.name], box, "".join(asked) + count)))
    return found


def _tiles_of(roles: StructKernel, tensor: TensorArgument) -> str:
    """How many tiles of a tensor are in shared memory at once, as text."""
    moving, kept = tensor.name in roles.moving, roles.persistent
    counts = ["launch.stages"] if moving else []
    counts += [str(kept)] if kept > 1 and not moving and not tensor.written else []
    # A consumer that takes whole tiles has a buffer of its own for each of its results.
    apart = roles.rows in tensor.order or (tensor.written and not roles.rows)
    counts += ["launch.consumers"] if apart else []
    return " * ".join(counts) or "1"


def _listed(kinds: Sequence[str]) -> str:
    return tuple_text(f'"{kind}"' for kind in dict.fromkeys(kinds))


def leaves_in_parts(kernel: Kernel, tensor: TensorArgument) -> str:
    """The axis along which ``tensor`` leaves in parts; empty if it is read, or leaves whole."""
    stores = (s for s in kernel.block.stores if tensor.written and s.name == tensor.name)
    return next((parted(kernel.block, s) for s in stores), "")


def box_of(kernel: Kernel, tensor: TensorArgument, tiles: Mapping[str, int]) -> list[int]:
    """Positions per axis of a copy of a described tensor."""
    halved = leaves_in_parts(kernel, tensor)
    lengths = ((a, tiles.get(a, 1)) for a in tensor.order)
    return [n // parts(n) if a == halved else n for a, n in lengths]


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
