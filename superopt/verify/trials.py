"""At which sizes, tiles and parts two graphs are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.node import Input
from superopt.ugraph.node import Size
from superopt.ugraph.split import launches
from superopt.ugraph.walk import topo


@dataclass(frozen=True)
class Trial:
    """One choice of sizes, with a Config for every launch; ``label`` says what it is for."""

    label: str
    sizes: tuple[tuple[str, int], ...]
    configs: tuple[Config, ...]

    @property
    def size(self) -> dict[str, int]:
        """The sizes by axis."""
        return dict(self.sizes)


def axes_of(program: Program) -> tuple[str, ...]:
    """The axes whose sizes a caller chooses, in order of first appearance."""
    found: dict[str, None] = {}
    for param in program.params:
        if isinstance(param, Input):
            found.update(dict.fromkeys(param.order))
    for store in program.outputs:
        found.update(dict.fromkeys(store.order))
        for node in topo([store.value]):
            found.update(dict.fromkeys(node.axes))
            if isinstance(node, Size):
                found[node.axis] = None
    return tuple(found)


def walked_axes(graph: KernelGraph) -> tuple[str, ...]:
    """The axes that some kernel cuts into tiles that follow one another."""
    found: dict[str, None] = {}
    for block in graph.kernels:
        found.update({a: None for a, p in block.places if isinstance(p, Loop | Split)})
    return tuple(found)


def trials(program: Program, graph: KernelGraph) -> Iterator[Trial]:
    """The choices, those first that refute most wrong graphs.

    Walked axes get several tiles with a remainder, exactly full tiles, one position and none;
    parts of a split are full, short and empty. Other axes get pairwise different small sizes.
    """
    axes = axes_of(program)
    walked = [a for a in axes if a in walked_axes(graph)]
    others = [a for a in axes if a not in walked]
    mixed = {a: (2, 3, 1)[i % 3] for i, a in enumerate(others)}
    # Many tensors have two leading batch axes: one position is enough where there are many axes.
    if len(others) > 3:
        mixed |= {others[0]: 1}
    longer = {a: 5 - i % 3 for i, a in enumerate(walked)}
    yield _trial("remainder", graph, mixed | longer, 2, 2)
    if walked:
        shifted = {a: (3, 2, 2)[i % 3] for i, a in enumerate(others)}
        if len(others) > 3:
            shifted |= dict.fromkeys(others[:2], 1)
        yield _trial("wide", graph, shifted | {a: 3 + i % 2 for i, a in enumerate(walked)}, 1, 4)
        yield _trial("one tile", graph, mixed | dict.fromkeys(walked, 4), 4, 3)
    yield _trial("single", graph, dict.fromkeys(axes, 1), 2, 2)
    for axis in walked:
        yield _trial(f"no {axis}", graph, dict.fromkeys(axes, 2) | {axis: 0}, 2, 2)


def _trial(label: str, graph: KernelGraph, sizes: dict[str, int], tile: int, parts: int) -> Trial:
    configs = []
    for block in launches(graph):
        tiles: dict[str, int] = {}
        for axis, place in block.places:
            if place == Grid(tiled=False):
                continue
            if isinstance(place, Loop | Split):
                tiles[axis] = tile
            elif isinstance(place, Grid):
                tiles[axis] = 2
            else:
                size = sizes.get(axis, parts)
                tiles[axis] = 1 << max(0, size - 1).bit_length()
        split = any(isinstance(place, Split) for _, place in block.places)
        configs.append(Config(tuple(tiles.items()), parts if split else 1))
    return Trial(label, tuple(sizes.items()), tuple(configs))
