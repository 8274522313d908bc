"""Sizes, tiles and numbers of programs at which kernels with roles are read: small ones, at which
every slot and every end of an axis is met."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from superopt.threads.layouts import WIDEST
from superopt.threads.parts import wide_axes
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.split import launches
from superopt.verify.field.trials import Trial
from superopt.verify.field.trials import axes_of
from superopt.verify.field.trials import positions
from superopt.verify.field.trials import walked_axes

UNIT = 8  # elements of 16 bits in the 16 bytes that a row of a tile has at least
TILE = 2  # positions in a tile of any other axis
LANES = 4  # in a wide tile of a walk: one of two lanes looks like twice its number
# Multiprocessors, and tiles that a persistent launch has at least, where values are float64. One
# program has tiles in four waves: slots of what comes once a tile, at most two, have both parities.
# Two numbers, for with one a number of a tile may stand where a number of waves should.
PROGRAMS = (2, 3)
TILES = (7, 10)


def enough(configs: Sequence[Config], ragged: bool) -> int:
    """Tiles that persistent launches have at least, where values are float64: as many as ``TILES``
    says; where consumers take them in turn, two for each, so that its turn has both parities."""
    turns = max((2 * c.consumers for c in configs if c.pingpong), default=0)
    return max(TILES[ragged], PROGRAMS[ragged] * (turns - 1) + 1)


def roles_trial(
    program: Program,
    graph: KernelGraph,
    configs: Sequence[Config],
    blocks: int,
    ragged: bool,
    wide: bool = False,
    several: int = TILES[0],
    whole: bool = False,
) -> Trial:
    """Small sizes and tiles, as descriptors allow them: rows of 16 bytes at least. ``wide``: where
    results leave in parts by ``configs``, their tiles are so wide that they do, and those of walks
    have ``LANES``.

    ``blocks``: tiles in each walk; ``ragged``: the last tile of every axis has lanes past its end,
    and there are several programs. Where positions are compared there are as many rows as walked.
    ``several``: tiles that a persistent launch has at least. ``whole``: the tiles of the grid have
    no lanes past an end, and where positions are compared there are more rows than walked.
    """
    sizes = _Sizes(program, graph, configs, blocks, ragged, wide, whole)
    found = []
    for block, config in zip(launches(graph), configs, strict=True):
        chosen = sizes.settle(block, config)
        if config.persistent:
            sizes.lengthen(block, chosen, several)
        found.append(replace(chosen, descriptors=False))
    known = {a: sizes.of.get(a, 1) for a in axes_of(program)} | dict(program.fixed)
    return Trial(f"{blocks} tiles", tuple(known.items()), tuple(found))


class _Sizes:
    """Sizes by axis: walked axes have theirs at once, others as launches settle them in order.

    ``rows``: the innermost axes of tensors. ``even``: axes that are multiples of their tiles.
    ``others``: if not 0, so is every size of this number that is no walked one.
    """

    def __init__(
        self,
        program: Program,
        graph: KernelGraph,
        configs: Sequence[Config],
        blocks: int,
        ragged: bool,
        wide: bool,
        whole: bool,
    ) -> None:
        self.ragged, self.wide, self.whole = ragged, wide, whole
        self.compared = positions(program)
        orders = [p.order for p in program.params if isinstance(p, Input)]
        orders += [s.order for s in program.outputs]
        self.rows = {order[-1] for order in orders if order}
        self.walked = walked_axes(graph)
        # Workspaces have no gaps, so their rows are whole tiles: descriptors know no others.
        stores = (s for k in graph.kernels for s in k.all_stores if s.name not in graph.outputs)
        self.even = {s.order[-1] for s in stores if s.order}
        runs = zip(launches(graph), configs, strict=True)
        self.in_parts = {a for block, config in runs for a in wide_axes(block, config)}
        axes = axes_of(program)
        self.tile_of = {a: UNIT if a in self.rows else TILE for a in axes}
        self.tile_of |= {a: LANES for a in self.walked if wide and a not in self.rows}
        self.of: dict[str, int] = {}
        for axis in (a for a in axes if a in self.walked):
            short = ragged and blocks > 0 and axis not in self.even
            self.of[axis] = max(0, self.tile_of[axis] * blocks - short)
        # Where walks alone have ends within a tile, all other sizes are multiples of their tiles:
        # what is said of a walked axis is not true of another one then.
        alone = whole and wide and ragged
        self.others = max((self.tile_of[a] for a in self.walked), default=0) if alone else 0
        self.untiled = self.kept = 0  # axes so far without tiles, and those kept whole or split

    def settle(self, block: BlockGraph, config: Config) -> Config:
        """``config`` with the tiles of a launch, the axes of which have sizes from here on."""
        tiles: dict[str, int] = {}
        for axis, place in block.places:
            if place == Grid(tiled=False) or isinstance(place, Pack):
                first = self.ragged and not self.untiled
                self.of.setdefault(axis, self.others or 1 + first)
                self.untiled += 1
                continue
            tiles[axis] = self._tile(axis, place, block, config)
            if place == Grid():
                self.of.setdefault(axis, self._grid(axis, tiles[axis], config.sharers))
            elif not isinstance(place, Loop):
                self.kept += 1
                uneven = self.ragged and not (self.whole and self.wide) and axis not in self.even
                self.of.setdefault(axis, 1 + self.kept if uneven else tiles[axis])
        return replace(config, tiles=tuple(tiles.items()))

    def _tile(self, axis: str, place: Place, block: BlockGraph, config: Config) -> int:
        if not self.wide or place != Grid() or axis not in self.in_parts:
            return self.tile_of[axis]
        # In whole tiles half as wide, where other launches have it in parts: there are few.
        return WIDEST if axis in wide_axes(block, config) else WIDEST // 2

    def _grid(self, axis: str, tile: int, sharers: int) -> int:
        """Positions of a tiled axis of the grid: a tile for each of ``sharers`` consumers."""
        uneven = self.ragged and not self.whole and axis not in self.even
        many = tile * (1 if axis in self.rows else sharers + self.ragged) - uneven
        if self.compared and axis not in self.rows:
            most = max((n for a, n in self.of.items() if a in self.walked), default=0)
            many = max(many, most + tile * self.whole)  # behind the last key, too, if whole
            many += -many % tile if self.whole else 0
        return many + (-many % self.others if self.others else 0)

    def lengthen(self, block: BlockGraph, config: Config, least: int) -> None:
        """Lengthens a grid axis, one whose positions are programs or else no innermost one, until
        a launch has ``least`` tiles."""
        grid = [a for a, p in block.places if isinstance(p, Grid)]
        step = {a: config.tile.get(a, 0) * config.sharers or 1 for a in grid}
        longer = min(grid, key=lambda a: (step[a] > 1, a in self.rows))
        while math.prod(-(-self.of[a] // step[a]) for a in grid) < least:
            self.of[longer] += math.lcm(step[longer], self.others or 1)
