"""Small sizes and small tiles that show what large ones hide: remainders, empty tiles and parts.

All tiles are 16, the least side of a matrix instruction, so that every tiled axis needs several
of them at sizes that an interpreter manages.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from math import prod

from superopt.ugraph.best import listed
from superopt.ugraph.described import inner_axes
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Input
from superopt.ugraph.pack import guests
from superopt.ugraph.pack import tile_dimensions
from superopt.ugraph.split import launches
from superopt.ugraph.split import part_axis
from superopt.verify.field.trials import stepped_axes

TILE = 16
PARTS = 3
ROW = 8  # positions that are a multiple of 16 bytes, in 16 bits and in 32

Sizes = dict[str, int]

# Pairwise different sizes for the axes of each kind of place, in the order of need. Walked axes
# have three tiles with a remainder, tiled grid axes two; whole axes are no powers of two, and what
# is packed into another axis's tiles divides none. Those walked position by position have few.
_WALKED = (35, 41, 45, 37, 43, 39, 47, 33)
_TILED = (19, 21, 25, 29, 31, 27, 23, 17)
_WHOLE = (20, 12, 24, 28, 22, 26, 10, 14)
_PACKED = (3, 5, 7, 9, 6, 11, 13, 10)
_SINGLE = (2, 3, 4, 5, 6, 7, 8, 9)
_STEPPED = (8, 6, 9, 7, 5, 11, 10, 12)
_POOLS = (_WALKED, _TILED, _WHOLE, _PACKED, _SINGLE, _STEPPED)


def axes_of(graph: KernelGraph) -> list[str]:
    """The axes that have a size, in order of the signature, then of the outputs."""
    orders = [p.order for p in graph.params if isinstance(p, Input)]
    orders += [s.order for k in graph.kernels for s in k.all_stores]
    fixed = (a for a, _ in graph.fixed)
    return list(dict.fromkeys([*(axis for order in orders for axis in order), *fixed]))


def walked(graph: KernelGraph) -> list[str]:
    """The axes that some kernel walks or splits."""
    return [
        a for a in axes_of(graph) if any(isinstance(p, Loop | Split) for p in _places(graph, a))
    ]


def stepped(graph: KernelGraph) -> list[str]:
    """Those of which every kernel that walks them takes one position after the other."""
    return [a for a in walked(graph) if a in stepped_axes(graph)]


def tiled(graph: KernelGraph) -> list[str]:
    """The axes that are tiled over the grid of some kernel, and walked by none."""
    return [
        a
        for a in axes_of(graph)
        if a not in walked(graph) and Grid(tiled=True) in _places(graph, a)
    ]


def packed(graph: KernelGraph) -> list[str]:
    """The axes that some kernel packs into the tiles of another one."""
    return [a for a in axes_of(graph) if any(isinstance(p, Pack) for p in _places(graph, a))]


def single(graph: KernelGraph) -> list[str]:
    """The axes of which every kernel has one position a program."""
    return [a for a in axes_of(graph) if all(p == Grid(tiled=False) for p in _places(graph, a))]


def small_sizes(graph: KernelGraph) -> Sizes:
    """Pairwise different sizes, each with a remainder where it is cut into tiles."""
    return {axis: size for axis, (size, _) in _drawn(graph).items()}


def lean_sizes(graph: KernelGraph) -> Sizes:
    """As ``small_sizes``, but with few programs: axes that have one program per position (whose
    positions cannot influence each other) have one position, the last such axis two."""
    drawn = _drawn(graph)
    lone = [axis for axis, (_, pool) in drawn.items() if pool is _SINGLE]
    lone = [axis for axis in lone if axis not in dict(graph.fixed)]
    few = {axis: 2 if axis == lone[-1] else 1 for axis in lone}
    return {axis: few.get(axis, size) for axis, (size, _) in drawn.items()}


def _drawn(graph: KernelGraph) -> dict[str, tuple[int, tuple[int, ...]]]:
    """The small size of each axis, and the pool it is from."""
    sizes: dict[str, tuple[int, tuple[int, ...]]] = {}
    pools = {pool: iter(pool) for pool in _POOLS}
    for axis in axes_of(graph):
        if axis in stepped(graph):
            pool = _STEPPED
        elif axis in walked(graph):
            pool = _WALKED
        elif axis in tiled(graph):
            pool = _TILED
        elif any(isinstance(p, Whole) for p in _places(graph, axis)):
            pool = _WHOLE
        elif any(isinstance(p, Pack) for p in _places(graph, axis)):
            pool = _PACKED
        else:
            pool = _SINGLE
        sizes[axis] = next(pools[pool]), pool
    return _settled(graph, sizes)


def _settled(
    graph: KernelGraph, sizes: dict[str, tuple[int, tuple[int, ...]]]
) -> dict[str, tuple[int, tuple[int, ...]]]:
    """``sizes`` with those that the spec gives, and with more positions than are listed."""
    fixed = dict(graph.fixed)
    carries = [(w, c) for k in graph.kernels for w in k.nest for c in w.carries]
    lists = [c.listing(w.axis, w.components) for w, c in carries if c.listed is not None]
    more = listed([*lists, *(r for k in graph.kernels for r in k.roots())], graph.fixed)
    return {a: (fixed.get(a, n + more.get(a, 0)), pool) for a, (n, pool) in sizes.items()}


def edge_sizes(graph: KernelGraph) -> Iterator[Sizes]:
    """Sizes at which tiles or parts are empty, single, exactly full, or just exceeded."""
    usual = lean_sizes(graph)
    for axis in walked(graph):
        edges = (2,) if axis in stepped(graph) else (TILE - 1, TILE, TILE + 1)
        for size in (0, 1, *edges):
            yield {**usual, axis: size}
    for axis in tiled(graph)[:1]:
        for size in (0, 1, TILE):
            yield {**usual, axis: size}
    for axis in packed(graph):
        for size in (0, 1, TILE + 1):
            yield {**usual, axis: size}
    yield dict.fromkeys(usual, 1) | dict(graph.fixed)


def beyond(graph: KernelGraph, distances: Mapping[str, int]) -> Sizes:
    """Lean sizes, but past ``distances`` on the axes that have one (pairwise different)."""
    sizes = lean_sizes(graph)
    for number, (axis, distance) in enumerate(distances.items()):
        sizes[axis] = max(sizes[axis], distance + TILE + 5 + 8 * number)
    return sizes


def small_configs(
    graph: KernelGraph, sizes: Mapping[str, int], tile: int = TILE
) -> tuple[Config, ...]:
    """One Config per launch, all tiles small; three parts."""
    lengths = dict(sizes)
    for block in graph.kernels:
        lengths |= {part_axis(a): PARTS for a, p in block.places if isinstance(p, Split)}
    return tuple(
        Config(
            tuple(
                (a, _tile(block.place[a], lengths[a], tile)) for a in tile_dimensions(block.places)
            ),
            parts=PARTS if any(a in lengths and a not in sizes for a, _ in block.places) else 1,
        )
        for block in launches(graph)
    )


def aligned_sizes(graph: KernelGraph, sizes: Mapping[str, int]) -> Sizes:
    """``sizes``, but with rows that tensor descriptors can bring in every dtype: of multiples of
    8 positions, different from all others, and with a remainder where that needs no larger tile."""
    found = dict(sizes)
    for axis in inner_axes(graph):
        taken = {n for a, n in found.items() if a != axis}
        least = -(-found[axis] // ROW) * ROW
        choices = [n for n in range(least, least + ROW * len(found) + 1, ROW) if n not in taken]
        full = 1 << max(0, least - 1).bit_length()
        found[axis] = next((n for n in choices if n % TILE and n <= full), choices[0])
    return found


def sizes_for(graph: KernelGraph, configs: Sequence[Config]) -> Sizes:
    """Sizes at which ``configs``, the tuned ones, have two tiles with a remainder."""
    sizes = dict.fromkeys(axes_of(graph), 2) | dict(graph.fixed)
    for block, config in zip(launches(graph), configs, strict=True):
        for axis, place in block.places:
            if place == Loop(tiled=False) and axis in sizes:
                sizes[axis] = max(sizes[axis], _STEPPED[0])
            if axis not in sizes or axis not in config.tile or axis in dict(graph.fixed):
                continue
            tile = config.tile[axis]
            if isinstance(place, Whole):
                sizes[axis] = max(sizes[axis], tile - tile // 8)  # still needs the whole tile
            else:
                inside = guests(axis, block.places)
                sizes |= {a: max(sizes[a], _PACKED[0]) for a in inside}
                joint = prod(sizes[a] for a in inside)
                sizes[axis] = max(sizes[axis], -(-(tile + tile // 2 + 1) // joint))
    return sizes


def _tile(place: Place, size: int, tile: int) -> int:
    if not isinstance(place, Whole):
        return tile
    return max(TILE, 1 << max(0, size - 1).bit_length())


def _places(graph: KernelGraph, axis: str) -> list[Place]:
    return [place for block in graph.kernels for a, place in block.places if a == axis]
