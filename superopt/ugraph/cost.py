"""Exact counts of what one launch moves and computes; no hardware in it.

Bytes are those of elements that exist (masked lanes read nothing). Operations are those of
whole tiles, because a tile's padding is computed like the rest of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from superopt.ugraph.alive import peaks
from superopt.ugraph.alive import shapes
from superopt.ugraph.counts import Cost
from superopt.ugraph.counts import Fold
from superopt.ugraph.counts import Product
from superopt.ugraph.counts import Read
from superopt.ugraph.extent import Extent
from superopt.ugraph.extent import extent
from superopt.ugraph.extent import tiles_of
from superopt.ugraph.layout import beside
from superopt.ugraph.layout import foldings
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Walk
from superopt.ugraph.numbering import grouped
from superopt.ugraph.pack import guests
from superopt.ugraph.pack import hosts
from superopt.ugraph.profile import Profile
from superopt.ugraph.profile import profile
from superopt.ugraph.split import part_axis
from superopt.ugraph.steps import Region
from superopt.ugraph.steps import Step
from superopt.ugraph.steps import What

BYTES = {
    "fp32": 4,
    "fp16": 2,
    "bf16": 2,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "bool": 1,
}

SECTOR = 32  # bytes that device memory and caches move at once


def launch_cost(
    launch: BlockGraph | Profile, config: Config, sizes: Mapping[str, int], dtype: str
) -> Cost:
    """The counts of one of ``split.launches`` (or of its profile) under ``config``.

    ``sizes``: of every axis of the spec; a part axis has ``config.parts``.
    """
    return Counter(launch, sizes, dtype).cost(config)


class Counter:
    """Counts one launch under any number of Configs; what they share is worked out once."""

    def __init__(self, launch: BlockGraph | Profile, sizes: Mapping[str, int], dtype: str) -> None:
        self.profile = launch if isinstance(launch, Profile) else profile(launch)
        self.block, self.dtype, self.given = self.profile.block, dtype, sizes
        self.unsized = [a for a, _ in self.block.places if a not in sizes]
        self.unsized += [part_axis(a) for a, p in self.block.places if isinstance(p, Split)]
        self.host = host = hosts(self.block.places)
        self.guests = {t.axis: guests(t.axis, self.block.places) for t in self.block.order}
        # Axes to the tile dimensions along which they lie, each once.
        self.grouped = grouped(self.block) or ()
        self.shapes = {
            s: tuple(dict.fromkeys(host.get(a, a) for a in s)) for s in shapes(self.profile)
        }
        self.nest = self.block.nest
        self.back = _going_back(self.block)
        self.peaks = [peaks(r) for r in self.profile.regions]
        self.foldings = foldings(self.profile, host)
        self.beside = [
            beside(r, s) for r in self.profile.regions for s in r.steps if s.what is What.PRODUCT
        ]
        self.orders = {s.name: s.order for s in self.block.all_stores}
        self._extents: dict[tuple[object, ...], Extent] = {}

    def cost(self, config: Config) -> Cost:
        """The counts under ``config``."""
        return _Count(self, config).cost()

    def bytes_of(self, dtype: str | None) -> int:
        """Of one element."""
        return BYTES[dtype or self.dtype]

    def extent(self, walk: Walk, config: Config, sizes: Mapping[str, int]) -> Extent:
        """The extent of a walk, once for all Configs with the same tiles along it."""
        limits = [a for b in walk.limits for a, _ in b.terms]
        tile = config.tile
        steps = tuple(tile.get(a, 1) for a in (walk.axis, *limits))
        key = (walk.axis, walk.start, walk.stop, walk.clear, steps, config.parts)
        if key not in self._extents:
            self._extents[key] = extent(walk, self.block, config, sizes)
        return self._extents[key]


def _going_back(block: BlockGraph) -> frozenset[int]:
    """The walks (numbers in ``nest``) against the direction of the one of their axis before."""
    before: dict[str, bool] = {}
    found = set()
    for walk in block.walks:
        if before.get(walk.axis, walk.reverse) != walk.reverse:
            found.add(block.nest.index(walk))
        before[walk.axis] = walk.reverse
    return frozenset(found)


class _Count:
    """One launch under one Config."""

    def __init__(self, of: Counter, config: Config) -> None:
        self.of, self.block, self.config = of, of.block, config
        self.tile = tile = config.tile
        self.sizes = {**of.given, **dict.fromkeys(of.unsized, config.parts)}
        self.volume = {s: prod([tile.get(a, 1) for a in along]) for s, along in of.shapes.items()}
        self.grid = {
            t.axis: tiles_of(t.axis, self.block, config, self.sizes) for t in self.block.order
        }
        self.programs = prod(self.grid.values())
        self.extents = [of.extent(w, config, self.sizes) for w in of.nest]
        self.around = [r.around for r in of.profile.regions if r.walk is not None]

    def times(self, region: Region) -> int:
        """How often the region runs, over all programs."""
        if region.walk is None:
            return self.programs
        e = self.extents[region.walk]
        return e.tiles * self._begun(region.walk) // max(1, e.choices)

    def masked(self, region: Region) -> int:
        """How often what the region does for masks alone runs, over all programs."""
        if region.walk is None:
            return self.programs
        e = self.extents[region.walk]
        return (e.tiles - e.clear) * self._begun(region.walk) // max(1, e.choices)

    def _begun(self, walk: int) -> int:
        """How often a walk begins, over all programs: an inner one for each tile around it."""
        around = self.around[walk]
        if around is None:
            return self.programs
        e = self.extents[around]
        return e.tiles * self.programs // max(1, e.choices)

    def _walks(self) -> list[tuple[int, float]]:
        """For each walk without others inside: its tiles in the longest program, and in the mean
        one."""
        found = []
        for region in self.of.profile.regions:
            if region.walk is None or region.outer:
                continue
            e = self.extents[region.walk]
            longest, mean = e.longest, e.tiles / max(1, e.choices)
            if region.around is not None:
                around = self.extents[region.around]
                longest, mean = (
                    longest * around.longest,
                    mean * around.tiles / max(1, around.choices),
                )
            found.append((longest, mean))
        return found

    def cost(self) -> Cost:
        special = plain = wasted = 0
        outside = [0, 0]
        volume, bytes_of = self.volume, self.of.bytes_of
        reads: list[Read] = []
        products: list[Product] = []
        written: dict[str, int] = {}
        for region in self.of.profile.regions:
            times = self.times(region)
            for step in region.steps:
                if step.what is What.LOAD:
                    reads.append(self._read(step, region))
                elif step.what is What.STORE:
                    # Programs write disjoint elements, each one once.
                    elements = prod(self.sizes[a] for a in self.of.orders[step.tensor])
                    written[step.tensor] = elements * bytes_of(step.dtype)
                    order = self.of.orders[step.tensor]
                    touched = self._sectors(written[step.tensor], order, step.dtype)
                    wasted += touched - written[step.tensor]
                elif step.what is What.PRODUCT:
                    rows, columns, depth = (self.tile[a] for a in step.work)
                    flop = 2 * volume[step.work] * times
                    dtype = step.dtype or self.of.dtype
                    moves = step.computed, step.across, self.of.beside[len(products)]
                    products.append(Product(flop, rows, columns, depth, dtype, *moves))
                elif step.plain or step.special:
                    work = volume[step.work] * (self.masked(region) if step.masks else times)
                    plain += step.plain * work
                    special += step.special * work
                    if region.walk is None:
                        outside[0] += step.special * work
                        outside[1] += step.plain * work
        fixed, stage = self._shared()
        regions = zip(self.of.profile.regions, self.of.peaks, strict=True)
        return Cost(
            grid=tuple(self.grid.items()),
            reads=tuple(reads),
            written=written,
            products=tuple(products),
            special=special,
            plain=plain,
            wasted=wasted + sum(r.sectors - r.total for r in reads),
            longest=self._longest(),
            walks=len(self._walks()),
            steps=sum(longest for longest, _ in self._walks()),
            folds=self._folds(),
            live=4
            * max(
                sum(volume[a] for a in region.held) + max(sum(volume[a] for a in s) for s in peaks)
                for region, peaks in regions
            ),
            shared_fixed=fixed,
            shared_stage=stage,
            grouped=self.of.grouped,
            outside=(outside[0], outside[1]),
        )

    def _read(self, step: Step, region: Region) -> Read:
        size = self.of.bytes_of(step.dtype)
        walks = [w for w in (region.walk, region.around) if w is not None]
        axes = [self.of.nest[w].axis for w in walks]
        others = prod([self.sizes[a] for a in step.work if a not in axes]) * size
        again = prod([self._again(a, n, step.work) for a, n in self.grid.items()])
        total, unique = int(others * again), others
        for walk, axis in zip(walks, axes, strict=True):
            e = self.extents[walk]
            if axis in step.work:
                total = total * e.positions // max(1, e.choices)
                unique *= e.hull
            elif walk != region.walk:  # read again for each tile around the walk
                total = total * e.tiles // max(1, e.choices)
        tile = self.volume[step.work] * size
        sectors = self._sectors(total, step.work, step.dtype)
        back = region.walk in self.of.back
        row = self._row(step.work) * size
        dimensions = dict.fromkeys(self.of.host.get(a, a) for a in step.work)
        matrix = sum(self.tile.get(a, 1) > 1 for a in dimensions) > 1
        moved = (total, unique, tile, sectors)
        return Read(step.tensor, step.work, region.walk, *moved, back, row, size, matrix)

    def _row(self, order: tuple[str, ...]) -> int:
        """Elements of a tile that lie together in memory: those along the last axis."""
        return self.tile.get(self.of.host.get(order[-1], order[-1]), 1) if order else 1

    def _sectors(self, size: int, order: tuple[str, ...], dtype: str | None) -> int:
        """Bytes of the sectors that hold ``size`` bytes of a tensor: of each a tile has at least
        what lies in a row along the last axis."""
        return size * max(1, SECTOR // (self._row(order) * self.of.bytes_of(dtype)))

    def _folds(self) -> tuple[Fold, ...]:
        """Folds other than products; those of a walk around others run once for each tile of it."""
        found: list[Fold] = []
        for f in self.of.foldings:
            walk, outer = f.region.walk, f.region.outer
            times = self.extents[walk].longest if outer and walk is not None else 1
            rows, length = (
                prod([self.tile.get(a, 1) for a in axes]) for axes in (f.kept, f.folded)
            )
            inside = walk is not None and not outer
            found.append(Fold(inside, times, rows, length, f.lanes, f.product))
        return tuple(found)

    def _again(self, axis: str, programs: int, read: tuple[str, ...]) -> float:
        """How often what is ``read`` is read by the programs along one grid axis together.

        Of axes that share a tile dimension it may have some: a tile then has each of their
        positions once for all joint positions inside of it that differ in the others only. That
        is right up to one position a program (the tile may begin between two of them).
        """
        inside = self.of.guests[axis]
        present = [a for a in (axis, *inside) if a in read]
        if not present or len(present) == 1 + len(inside):
            return 1 if present else programs
        behind = inside if present[0] == axis else inside[inside.index(present[0]) + 1 :]
        same = prod([self.sizes[a] for a in behind if a not in read])
        distinct = prod([self.sizes[a] for a in present])
        last = prod([self.sizes[a] for a in (axis, *inside)]) - (programs - 1) * self.tile[axis]
        each, end = (min(distinct, -(-n // max(1, same))) for n in (self.tile[axis], last))
        return max(1.0, ((programs - 1) * each + end) / max(1, distinct))

    def _longest(self) -> float:
        """The longest program over the mean one, by tiles walked."""
        walks = self._walks()
        mean = sum(m for _, m in walks)
        return max(1.0, sum(longest for longest, _ in walks) / mean) if mean else 1.0

    def _shared(self) -> tuple[int, int]:
        """Bytes of shared memory: in any case, and for each stage."""
        fixed = stage = 0
        volume, bytes_of = self.volume, self.of.bytes_of
        for region in self.of.profile.regions:
            loaded = sum(volume[a] * bytes_of(d) for a, d in region.operands)
            computed = sum(volume[a] * bytes_of(None) for a in region.computed)
            if region.walk is not None and any(s.what is What.PRODUCT for s in region.steps):
                loads = [s for s in region.steps if s.what is What.LOAD]
                buffers = sum(volume[s.work] * bytes_of(s.dtype) for s in loads)
                if region.outer:  # only innermost loops have stages
                    loaded += buffers
                else:
                    stage = max(stage, buffers)
            fixed = max(fixed, loaded + computed)
        return fixed, stage
