"""What to compile ahead of time: the printed functions of a graph at one case's Configs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from types import MappingProxyType

from superopt.emit.kernel import Kernel
from superopt.emit.kernel import StructKernel
from superopt.emit.kernel import TensorArgument
from superopt.emit.kernel import TileArgument
from superopt.emit.module import print_graph
from superopt.emit.struct import launch as struct
from superopt.errors import NotEmittable
from superopt.source import LaunchSpec
from superopt.threads.build import WARPS
from superopt.ugraph.described import aligned
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Split
from superopt.ugraph.node import Input
from superopt.ugraph.pack import hosts
from superopt.ugraph.split import part_axis

POINTERS = {"fp16": "*fp16", "bf16": "*bf16", "fp32": "*fp32", "int8": "*i8", "int16": "*i16"}
POINTERS |= {"int32": "*i32", "int64": "*i64", "bool": "*i1"}


def launch_specs(
    graph: KernelGraph,
    configs: tuple[Config, ...],
    sizes: Mapping[str, int],
    dtype: str,
    tf32: bool = False,
    index: int = 0,
) -> tuple[LaunchSpec, ...]:
    """One specification for each launch, as the launcher would call it on contiguous tensors.

    ``index``: the graph's number in its file, which is part of the functions' names.

    Raises:
        NotEmittable: the graph cannot be printed, or a size or a tile is missing.
    """
    kernels = print_graph(graph, index, [(configs, dtype)])
    if len(kernels) != len(configs):
        raise NotEmittable(f"{len(kernels)} launches got {len(configs)} configs")
    known = dict(sizes)
    found = []
    leads = (*(c.dependent for c in configs[1:]), False)
    for kernel, config, leading in zip(kernels, configs, leads, strict=True):
        for axis, place in kernel.block.places:
            if isinstance(place, Split):
                known[part_axis(axis)] = config.parts
        if kernel.roles:
            found.append(_roles(kernel.roles[0], config, known, dtype))
            continue
        taken = _taken(kernel, config, known, dtype)
        found.append(_spec(taken, config, known, dtype, tf32, leading))
    return tuple(found)


def _taken(kernel: Kernel, config: Config, sizes: Mapping[str, int], dtype: str) -> Kernel:
    """The function that the launcher would call: ``kernel`` or its twin."""
    if not config.descriptors or kernel.twin is None:
        return kernel
    read = [Input(t.name, t.order, t.dtype) for t in kernel.twin.described]
    return kernel.twin if all(aligned(t, sizes, dtype) for t in read) else kernel


def _passed(tensor: TensorArgument, tiles: Mapping[str, int], dtype: str) -> str:
    """The type of what is passed for a tensor: a pointer, or a descriptor with its box."""
    pointer = POINTERS[tensor.dtype or dtype]
    if not tensor.described:
        return pointer
    box = ", ".join(str(tiles.get(a, 1)) for a in tensor.order)
    return f"tensordesc<{pointer.removeprefix('*')}[{box}]>"


def _roles(roles: StructKernel, config: Config, sizes: Mapping[str, int], dtype: str) -> LaunchSpec:
    """The launch of a kernel with roles."""
    tiles = {t.axis: tile_size(t, config, sizes) for t in roles.kernel.tiles}
    described = {
        t.pointer: struct.described_type(t, struct.box_of(roles.kernel, t, tiles), dtype)
        for t in roles.kernel.described
    }
    whole = tiles | {a: n * roles.consumers for a, n in tiles.items() if a == roles.rows}
    spec = _spec(roles.kernel, config, sizes, dtype, False, False, described, whole)
    slots = tuple((name, config.stages) for name, _ in roles.slots)
    return replace(
        spec,
        signature=(*spec.signature, *((name, "constexpr") for name, _ in slots)),
        constexprs=(*spec.constexprs, *slots),
        warps=WARPS,  # of the launch, as of each consumer
    )


def _spec(
    kernel: Kernel,
    config: Config,
    sizes: Mapping[str, int],
    dtype: str,
    tf32: bool,
    leading: bool,
    described: Mapping[str, str] = MappingProxyType({}),
    whole: Mapping[str, int] = MappingProxyType({}),
) -> LaunchSpec:
    """``leading``: the next launch is dependent. ``described``: types of descriptors that are not
    the plain ones. ``whole``: tiles of a program, where those of one call are smaller."""
    call = _Call()
    tiles = {t.axis: tile_size(t, config, sizes) for t in kernel.tiles}
    for tensor in kernel.tensors:
        passed = described.get(tensor.pointer) or _passed(tensor, tiles, dtype)
        call.signature.append((tensor.pointer, passed))
    for tensor in kernel.tensors:
        stride = 1
        strides = {}
        for axis in reversed(tensor.order):
            strides[axis] = stride
            stride *= max(_size(axis, sizes), 1)
        for axis, name in tensor.strides:
            call.integer(name, strides[axis], "i64")
    packed = hosts(kernel.block.places)
    for axis, name in kernel.sizes:
        if axis in packed:
            call.constant(name, _size(axis, sizes))
        else:
            call.integer(name, _size(axis, sizes), "i32")
    for scalar in kernel.scalars:
        call.signature.append((scalar.parameter, scalar.type))
    for tile in kernel.tiles:
        call.constant(tile.tile, tiles[tile.axis])
    for tile in kernel.tiles:
        size = prod(_size(a, sizes) for a in (tile.axis, *tile.guests))
        entire = whole.get(tile.axis, tiles[tile.axis])
        call.constant(tile.even, size > 0 and size % entire == 0)
    _options(call, kernel, config, tf32, leading)
    return LaunchSpec(
        kernel.name,
        tuple(call.signature),
        tuple(call.constexprs),
        config.warps,
        config.stages,
        tuple(call.divisible),
        config.dependent,
    )


def _options(call: _Call, kernel: Kernel, config: Config, tf32: bool, leading: bool) -> None:
    """The constants that a function may have beside its tiles."""
    if kernel.grouped:
        call.constant("GROUP", config.group)
    if kernel.precise:
        call.constant("PRECISION", "tf32" if tf32 else "ieee")
    if kernel.neighbours.before:
        call.constant("DEPENDENT", config.dependent)
    if kernel.neighbours.after:
        call.constant("LEADS", leading)


class _Call:
    """The arguments of a launch, as Triton specialises on them at run time."""

    def __init__(self) -> None:
        self.signature: list[tuple[str, str]] = []
        self.constexprs: list[tuple[str, int | bool | str]] = []
        self.divisible: list[str] = []

    def constant(self, name: str, value: int | bool | str) -> None:
        self.signature.append((name, "constexpr"))
        self.constexprs.append((name, value))

    def integer(self, name: str, value: int, type_: str) -> None:
        """1 becomes a constant, and multiples of 16 are known to be such."""
        if value == 1:
            self.constant(name, 1)
            return
        self.signature.append((name, type_))
        if value % 16 == 0:
            self.divisible.append(name)


def tile_size(tile: TileArgument, config: Config, sizes: Mapping[str, int]) -> int:
    """The tile that the launcher would pass: from the Config, or the entire axis.

    Raises:
        NotEmittable: the Config has none, or one that is too small.
    """
    if tile.whole:
        return max(tile.least, 1 << max(_size(tile.axis, sizes) - 1, 0).bit_length())
    size = config.tile.get(tile.axis, 0)
    if size < tile.least or size & (size - 1):
        raise NotEmittable(
            f"the tile of {tile.axis!r} must be a power of two, at least {tile.least}; got {size}"
        )
    return size


def _size(axis: str, sizes: Mapping[str, int]) -> int:
    if axis not in sizes:
        raise NotEmittable(f"the size of axis {axis!r} is unknown")
    return sizes[axis]
