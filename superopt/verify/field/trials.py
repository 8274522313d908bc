"""At which sizes, tiles and parts two graphs are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from superopt.ugraph.best import listed
from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.split import launches
from superopt.ugraph.walk import topo

RANKS, CANDIDATES = 2, 3  # of a list of the best: each order of candidates must come up
STEPS = 3  # positions of an axis that is walked one by one


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


def stepped_axes(graph: KernelGraph) -> frozenset[str]:
    """The axes that are walked one position at a time, wherever they are walked: without tiles they
    have no remainder, and every position may bring a root, an exponential or a choice."""
    places = [(a, p) for block in graph.kernels for a, p in block.places]
    cut = {a for a, p in places if isinstance(p, Loop | Split) and p != Loop(tiled=False)}
    return frozenset(a for a, p in places if p == Loop(tiled=False)) - cut


def trials(program: Program, graph: KernelGraph) -> Iterator[Trial]:
    """The choices, those first that refute most wrong graphs.

    Walked axes get several tiles with a remainder, exactly full tiles, one position and none;
    parts of a split are full, short and empty. Those walked one by one get a few. Axes whose
    positions are compared get sizes on both sides of one another. Other axes get pairwise
    different small sizes.
    """
    axes = axes_of(program)
    walked = [a for a in axes if a in walked_axes(graph)]
    places = [a for a in axes if a not in walked and a in positions(program)]
    others = [a for a in axes if a not in walked and a not in places]
    # Leading batch axes of large tensors: one position is enough where there are many axes.
    few = dict.fromkeys(others[: max(0, len(axes) - 4)], 1)
    ranked = listed((s.value for s in program.outputs), program.fixed)
    ranks = {a: min(n, RANKS) for a, n in program.fixed}
    few |= ranks
    most = dict.fromkeys(ranked, CANDIDATES) | dict.fromkeys(stepped_axes(graph), STEPS)

    def sizes(many: int, place: int, plain: int) -> dict[str, int]:
        found = {a: many - i % 2 for i, a in enumerate(walked)}
        found |= dict.fromkeys(places, place)
        found |= {a: min(found[a], n) for a, n in most.items() if a in found}
        return found | {a: 2 + (i + plain) % 2 for i, a in enumerate(others)} | few

    yield trial("remainder", graph, sizes(5, 3, 0), 2, 2)
    if walked or places:
        yield trial("short", graph, sizes(3, 4, 1), 1, 4)
        yield trial("one tile", graph, sizes(4, 2, 0), 4, 3)
    yield trial("single", graph, dict.fromkeys(axes, 1), 2, 2)
    for axis in walked:
        empty = dict.fromkeys(axes, 2) | {axis: 0} | ranks
        if not divides_by_nothing(program, empty):
            yield trial(f"no {axis}", graph, empty, 2, 2)


def past(program: Program, graph: KernelGraph, distance: int) -> Trial:
    """Sizes beyond ``distance`` on the axes whose positions are compared, others as few as can
    be; tiles of walked axes are not full at the end."""
    places = positions(program)
    sizes = {a: distance + 3 - i % 2 if a in places else 1 for i, a in enumerate(axes_of(program))}
    return trial("distances", graph, sizes, 2, 2)


def positions(program: Program) -> frozenset[str]:
    """The axes whose positions the program reads."""
    nodes = topo([s.value for s in program.outputs])
    return frozenset(n.axis for n in nodes if isinstance(n, Index))


def divides_by_nothing(program: Program, sizes: dict[str, int]) -> bool:
    """Whether the spec divides by a number that is made of sizes and is 0 (a mean of nothing).

    No value is meant there, although an empty fold around the quotient may hide it.
    """
    for node in topo([s.value for s in program.outputs]):
        match node:
            case Map(fn=Fn.DIV, args=(_, below)) | Map(fn=Fn.RSQRT, args=(below,)):
                leaves = [n for n in topo([below]) if not isinstance(n, Map)]
                if all(isinstance(n, Size | Const | Named) for n in leaves):
                    value = evaluate_node(below, FloatDomain(), {}, sizes)
                    if value == 0:
                        return True
            case _:
                pass
    return False


def trial(label: str, graph: KernelGraph, sizes: dict[str, int], tile: int, parts: int) -> Trial:
    """A choice of sizes, with walked axes in tiles of ``tile`` and split ones in ``parts``."""
    configs = []
    for block in launches(graph):
        tiles: dict[str, int] = {}
        for axis, place in block.places:
            if place in (Grid(tiled=False), Loop(tiled=False)) or isinstance(place, Pack):
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
