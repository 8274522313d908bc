"""What one launch moves and computes under one Config (``cost.py`` counts it)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod


@dataclass(frozen=True)
class Read:
    """One tensor read in one region. ``total``: bytes that all programs read, together.
    ``unique``: bytes of the elements read at all. ``axes``: the tensor's. ``walk``: its region.
    ``in_flight``: bytes of one tile of it. ``sectors``: bytes of the memory sectors that are
    touched for ``total``. ``back``: its walk goes back over the axis that one just walked.
    ``row``: bytes of a tile that lie together in memory; ``element``: of one element.
    ``matrix``: its tile has at least two dimensions."""

    tensor: str
    axes: tuple[str, ...]
    walk: int | None
    total: int
    unique: int
    in_flight: int
    sectors: int
    back: bool = False
    row: int = 0
    element: int = 0
    matrix: bool = False


@dataclass(frozen=True)
class Product:
    """A matrix product: FLOP of all programs (two per multiply-add), how many rows, columns and
    positions of the folded axis one tile has, the dtype of its operands, and whether the left
    one is computed from loaded values, and so has to be moved between registers (``across``: to
    other places, as a tensor that it is computed from lies along its rows). ``beside``: ordinary
    operations per element that are computed in that operand's order."""

    flop: int
    rows: int
    columns: int
    depth: int
    dtype: str
    computed: bool
    across: bool = False
    beside: int = 0


@dataclass(frozen=True)
class Fold:
    """A fold other than a matrix product. ``inside``: once per tile of a walk, else ``times`` in
    a program. ``rows``: results of one tile, each of ``length`` positions. ``lanes``: these lie
    along the lanes of warps, as they are innermost in memory; else threads fold alone.
    ``product``: it folds what a matrix instruction computed, which keeps rows within a warp."""

    inside: bool
    times: int
    rows: int
    length: int
    lanes: bool
    product: bool


@dataclass(frozen=True)
class Cost:
    """The counts of one launch.

    ``grid``: programs along each grid axis, slowest first. ``written``: bytes by tensor.
    ``products``: matrix products; ``special``, ``plain``: operations, all programs together.
    ``wasted``: bytes of memory sectors that are read or written beside what is asked for.
    ``longest``: work of the longest program over the mean. ``walks``: innermost ones;
    ``steps``: tiles that the longest program walks, in all of them. ``folds``: all folds other
    than products. ``live``: bytes of tile values that are alive at once
    in a program. ``shared_fixed``, ``shared_stage``: bytes of shared memory that a program
    needs in any case and once more for each stage (walks without a product have no stages).
    ``grouped``: the grid axes, if any, whose programs ``Config.group`` numbers in groups.
    ``outside``: of ``special`` and ``plain``, what is computed outside of walks.
    """

    grid: tuple[tuple[str, int], ...]
    reads: tuple[Read, ...]
    written: dict[str, int]
    products: tuple[Product, ...]
    special: int
    plain: int
    wasted: int
    longest: float
    walks: int
    steps: int
    folds: tuple[Fold, ...]
    live: int
    shared_fixed: int
    shared_stage: int
    grouped: tuple[str, ...] = ()
    outside: tuple[int, int] = (0, 0)

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
    def walked(self) -> tuple[int, ...]:
        """Bytes of a tile of every read inside a walk."""
        return tuple(r.in_flight for r in self.reads if r.walk is not None)

    @cached_property
    def unique(self) -> dict[str, int]:
        """Bytes of distinct elements read, by tensor."""
        most: dict[str, int] = {}
        for r in self.reads:
            most[r.tensor] = max(r.unique, most.get(r.tensor, 0))
        return most
