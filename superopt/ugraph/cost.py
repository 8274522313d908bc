"""Exact counts of what one launch moves and computes; no hardware in it.

Bytes are those of elements that exist (masked lanes read nothing). Operations are those of
whole tiles, because a tile's padding is computed like the rest of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

from superopt.ugraph.extent import Extent
from superopt.ugraph.extent import extent
from superopt.ugraph.extent import tiles_of
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Walk
from superopt.ugraph.numbering import grouped
from superopt.ugraph.pack import guests
from superopt.ugraph.pack import hosts
from superopt.ugraph.profile import Profile
from superopt.ugraph.profile import Region
from superopt.ugraph.profile import Step
from superopt.ugraph.profile import What
from superopt.ugraph.profile import profile
from superopt.ugraph.split import part_axis

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


@dataclass(frozen=True)
class Read:
    """One tensor read in one region. ``total``: bytes that all programs read, together.
    ``unique``: bytes of the elements read at all. ``axes``: the tensor's. ``walk``: its region.
    ``in_flight``: bytes of one tile of it. ``sectors``: bytes of the memory sectors that are
    touched for ``total``."""

    tensor: str
    axes: tuple[str, ...]
    walk: int | None
    total: int
    unique: int
    in_flight: int
    sectors: int


@dataclass(frozen=True)
class Product:
    """A matrix product: FLOP of all programs (two per multiply-add), how many rows, columns and
    positions of the folded axis one tile has, the dtype of its operands, and whether the left
    one is computed from loaded values, and so has to be moved between registers."""

    flop: int
    rows: int
    columns: int
    depth: int
    dtype: str
    computed: bool


@dataclass(frozen=True)
class Cost:
    """The counts of one launch.

    ``grid``: programs along each grid axis, slowest first. ``written``: bytes by tensor.
    ``products``: matrix products; ``special``, ``plain``: operations, all programs together.
    ``wasted``: bytes of memory sectors that are read or written beside what is asked for.
    ``longest``: work of the longest program over the mean. ``steps``: tiles that the longest
    program walks, in all its walks. ``folds``: folds other than products per tile of the walks,
    and once a program. ``live``: bytes of tile values that are alive at once
    in a program. ``shared_fixed``, ``shared_stage``: bytes of shared memory that a program
    needs in any case and once more for each stage (walks without a product have no stages).
    ``grouped``: the grid axes, if any, whose programs ``Config.group`` numbers in groups.
    """

    grid: tuple[tuple[str, int], ...]
    reads: tuple[Read, ...]
    written: dict[str, int]
    products: tuple[Product, ...]
    special: int
    plain: int
    wasted: int
    longest: float
    steps: int
    folds: tuple[int, int]
    live: int
    shared_fixed: int
    shared_stage: int
    grouped: tuple[str, ...] = ()

    @cached_property
    def programs(self) -> int:
        """Programs of the launch."""
        return prod(n for _, n in self.grid)

    @property
    def matrix(self) -> int:
        """FLOP of all matrix products."""
        return sum(p.flop for p in self.products)

    @cached_property
    def read(self) -> int:
        """Bytes that all programs read, together."""
        return sum(r.total for r in self.reads)

    @cached_property
    def unique(self) -> dict[str, int]:
        """Bytes of distinct elements read, by tensor."""
        most: dict[str, int] = {}
        for r in self.reads:
            most[r.tensor] = max(r.unique, most.get(r.tensor, 0))
        return most


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
            s: tuple(dict.fromkeys(host.get(a, a) for a in s)) for s in _shapes(self.profile)
        }
        self.peaks = [_peaks(r) for r in self.profile.regions]
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


def _shapes(prof: Profile) -> dict[tuple[str, ...], None]:
    """All sets of axes whose tiles are multiplied somewhere."""
    found: dict[tuple[str, ...], None] = {}
    for region in prof.regions:
        for step in region.steps:
            found[step.work] = None
            if step.result is not None:
                found[step.result] = None
        found |= dict.fromkeys((*region.held, *region.computed, *(a for a, _ in region.operands)))
    return found


def _peaks(region: Region) -> list[tuple[tuple[str, ...], ...]]:
    """The values that are alive at once while ``region`` runs: each set of them that is in no
    later or earlier one.

    In what runs once, chains of point-wise steps do not count: the compiler takes them element
    by element as far as registers reach, and what spills there spills once.
    """
    read = {i for s in region.steps for i in s.frees}
    left: dict[int, tuple[str, ...]] = {}
    sets: list[dict[int, tuple[str, ...]]] = [{}]
    for index, step in enumerate(region.steps):
        for freed in step.frees:
            left.pop(freed, None)
        if step.result is not None:
            left[index] = step.result
            if region.walk is not None or step.what is not What.POINT:
                sets.append(dict(left))
            if index not in read:
                left.pop(index)
    biggest = [s for s in sets if not any(s.keys() < other.keys() for other in sets)]
    return [tuple(s.values()) for s in biggest]


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
        self.extents = [of.extent(w, config, self.sizes) for w in self.block.walks]

    def times(self, region: Region) -> int:
        """How often the region runs, over all programs."""
        if region.walk is None:
            return self.programs
        e = self.extents[region.walk]
        return e.tiles * self.programs // max(1, e.choices)

    def masked(self, region: Region) -> int:
        """How often what the region does for masks alone runs, over all programs."""
        if region.walk is None:
            return self.programs
        e = self.extents[region.walk]
        return (e.tiles - e.clear) * self.programs // max(1, e.choices)

    def cost(self) -> Cost:
        special = plain = wasted = 0
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
                    products.append(Product(flop, rows, columns, depth, dtype, step.computed))
                elif step.plain or step.special:
                    work = volume[step.work] * (self.masked(region) if step.masks else times)
                    plain += step.plain * work
                    special += step.special * work
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
            steps=sum(e.longest for e in self.extents),
            folds=(self._folds(inside=True), self._folds(inside=False)),
            live=4
            * max(
                sum(volume[a] for a in region.held) + max(sum(volume[a] for a in s) for s in peaks)
                for region, peaks in regions
            ),
            shared_fixed=fixed,
            shared_stage=stage,
            grouped=self.of.grouped,
        )

    def _read(self, step: Step, region: Region) -> Read:
        size = self.of.bytes_of(step.dtype)
        walk = None if region.walk is None else self.block.walks[region.walk].axis
        others = prod([self.sizes[a] for a in step.work if a != walk]) * size
        again = prod([self._again(a, n, step.work) for a, n in self.grid.items()])
        total, unique = int(others * again), others
        if region.walk is not None and walk in step.work:
            e = self.extents[region.walk]
            total = total * e.positions // max(1, e.choices)
            unique *= e.hull
        tile = self.volume[step.work] * size
        sectors = self._sectors(total, step.work, step.dtype)
        return Read(step.tensor, step.work, region.walk, total, unique, tile, sectors)

    def _sectors(self, size: int, order: tuple[str, ...], dtype: str | None) -> int:
        """Bytes of the sectors that hold ``size`` bytes of a tensor: of each a tile has at least
        what lies in a row along the last axis."""
        row = self.tile.get(self.of.host.get(order[-1], order[-1]), 1) if order else 1
        return size * max(1, SECTOR // (row * self.of.bytes_of(dtype)))

    def _folds(self, inside: bool) -> int:
        """Folds other than products per tile of all walks, or of what runs once."""
        regions = [r for r in self.of.profile.regions if (r.walk is not None) == inside]
        return sum(s.what is What.FOLD for r in regions for s in r.steps)

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
        mean = sum(e.tiles / max(1, e.choices) for e in self.extents)
        return max(1.0, sum(e.longest for e in self.extents) / mean) if mean else 1.0

    def _shared(self) -> tuple[int, int]:
        """Bytes of shared memory: in any case, and for each stage."""
        fixed = stage = 0
        volume, bytes_of = self.volume, self.of.bytes_of
        for region in self.of.profile.regions:
            loaded = sum(volume[a] * bytes_of(d) for a, d in region.operands)
            computed = sum(volume[a] * bytes_of(None) for a in region.computed)
            fixed = max(fixed, loaded + computed)
            if region.walk is not None and any(s.what is What.PRODUCT for s in region.steps):
                loads = [s for s in region.steps if s.what is What.LOAD]
                buffers = sum(volume[s.work] * bytes_of(s.dtype) for s in loads)
                stage = max(stage, buffers)
        return fixed, stage
