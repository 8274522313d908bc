"""The least part of every axis that a walk has to cover, given the program's affine masks."""

from __future__ import annotations

from collections.abc import Mapping

from superopt.errors import NoFusion
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.extent import extent
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Index
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.ranges import narrow
from superopt.ugraph.walk import topo


def shares(program: Program, sizes: Mapping[str, int], axes: tuple[str, ...]) -> dict[str, float]:
    """For each masked axis: positions that a walk with the finest tiles covers, over all.

    Axes that no mask can cut are left out (their share is 1). When the walks of an axis
    cannot be told, its share is 0, which keeps bounds sound. ``axes``: all of the program's.
    """
    nodes = topo([s.value for s in program.outputs])
    folded = {n.axis for n in nodes if isinstance(n, Reduce | Scan | Recur)}
    masked = [a for a in axes if a in folded and any(n == Index(a) for n in nodes)]
    return {a: _share(program, sizes, axes, a, folded) for a in masked if sizes[a]}


def _share(
    program: Program, sizes: Mapping[str, int], axes: tuple[str, ...], axis: str, folded: set[str]
) -> float:
    """Of all walks of ``axis`` with one fold each, the share of the shortest."""

    def place(a: str) -> Place:
        return Loop() if a == axis else Whole() if a in folded else Grid()

    places = tuple((a, place(a)) for a in axes)
    order = tuple(Turn(a) for a, p in places if isinstance(p, Grid))
    try:
        passes = groupings(program.outputs, [axis])[-1]  # the most walks: each fold its own
        walks = narrow(fuse(program.outputs, places, order, passes)).walks
    except (NoFusion, IndexError):
        return 0.0
    return min((_covered(w, places, order, sizes) for w in walks if not w.stores), default=1.0)


def _covered(
    walk: Walk,
    places: tuple[tuple[str, Place], ...],
    order: tuple[Turn, ...],
    sizes: Mapping[str, int],
) -> float:
    block = BlockGraph(places, (walk,), (), order)
    found = extent(walk, block, Config(tuple((a, 1) for a, _ in places)), sizes)
    return found.positions / (max(1, found.choices) * sizes[walk.axis])
