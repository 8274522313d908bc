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


@dataclass(frozen=True)
class Read:
    """One tensor read in one region. ``total``: bytes that all programs read, together.
    ``unique``: bytes of the elements read at all. ``axes``: the tensor's. ``walk``: its region.
    ``in_flight``: bytes of one tile of it."""

    tensor: str
    axes: tuple[str, ...]
    walk: int | None
    total: int
    unique: int
    in_flight: int


@dataclass(frozen=True)
class Product:
    """A matrix product: FLOP of all programs (two per multiply-add), how many rows and how
    many positions of the folded axis one tile has, and the dtype of its operands."""

    flop: int
    rows: int
    depth: int
    dtype: str


@dataclass(frozen=True)
class Cost:
    """The counts of one launch.

    ``grid``: programs along each grid axis, slowest first. ``written``: bytes by tensor.
    ``products``: matrix products; ``special``, ``plain``: operations, all programs together.
    ``longest``: work of the longest program over the mean. ``steps``: tiles that the longest
    program walks, in all its walks. ``live``: bytes of tile values that are alive at once
    in a program. ``shared_fixed``, ``shared_stage``: bytes of shared memory that a program
    needs in any case and once more for each stage (walks without a product have no stages).
    """

    grid: tuple[tuple[str, int], ...]
    reads: tuple[Read, ...]
    written: dict[str, int]
    products: tuple[Product, ...]
    special: int
    plain: int
    longest: float
    steps: int
    live: int
    shared_fixed: int
    shared_stage: int

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
        self.shapes = tuple(_shapes(self.profile))
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
        limits = [a for b in (*walk.start, *walk.stop) for a, _ in b.terms]
        tile = config.tile
        steps = tuple(tile.get(a, 1) for a in (walk.axis, *limits))
        key = (walk.axis, walk.start, walk.stop, steps, config.parts)
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
        self.volume = {s: prod([tile.get(a, 1) for a in s]) for s in of.shapes}
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

    def cost(self) -> Cost:
        special = plain = 0
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
                elif step.what is What.PRODUCT:
                    row, _, axis = step.work
                    flop = 2 * volume[step.work] * times
                    dtype = step.dtype or self.of.dtype
                    products.append(Product(flop, self.tile[row], self.tile[axis], dtype))
                elif step.plain or step.special:
                    work = volume[step.work] * times
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
            longest=self._longest(),
            steps=sum(e.longest for e in self.extents),
            live=4
            * max(
                sum(volume[a] for a in region.held) + max(sum(volume[a] for a in s) for s in peaks)
                for region, peaks in regions
            ),
            shared_fixed=fixed,
            shared_stage=stage,
        )

    def _read(self, step: Step, region: Region) -> Read:
        size = self.of.bytes_of(step.dtype)
        walk = None if region.walk is None else self.block.walks[region.walk].axis
        others = prod([self.sizes[a] for a in step.work if a != walk]) * size
        again = prod([n for a, n in self.grid.items() if a not in step.work])
        total, unique = others * again, others
        if region.walk is not None and walk in step.work:
            e = self.extents[region.walk]
            total = total * e.positions // max(1, e.choices)
            unique *= e.hull
        tile = self.volume[step.work] * size
        return Read(step.tensor, step.work, region.walk, total, unique, tile)

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
