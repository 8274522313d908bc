"""How far the programs of a launch walk: exact tiles and positions, with limits and parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np

from superopt.errors import IllTyped
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.pack import joined
from superopt.ugraph.scalar import INTEGER
from superopt.ugraph.split import part_axis


@dataclass(frozen=True)
class Extent:
    """What one walk covers, over all choices of a tile of the grid axes that matter to it.

    ``over``: those grid axes (of the walk's limits, and its part). ``choices``: how many
    choices there are. ``tiles`` and ``positions``: summed over the choices. ``longest``: tiles
    of the longest one. ``first`` and ``stop``: the range that all choices together span.
    ``clear``: those of ``tiles`` in which the walk masks nothing.
    """

    over: tuple[str, ...]
    choices: int
    tiles: int
    positions: int
    longest: int
    first: int
    stop: int
    clear: int = 0

    @property
    def hull(self) -> int:
        """Positions of the range that all programs together span."""
        return max(0, self.stop - self.first)


def tiles_of(axis: str, block: BlockGraph, config: Config, sizes: Mapping[str, int]) -> int:
    """Programs along one grid axis."""
    place = block.place[axis]
    step = config.tile[axis] if isinstance(place, Grid) and place.tiled else 1
    return -(-sizes[axis] * joined(axis, block.places, sizes) // step)


def extent(walk: Walk, block: BlockGraph, config: Config, sizes: Mapping[str, int]) -> Extent:
    """The extent of ``walk`` in a launch (``sizes`` includes that of a part axis).

    A limit whose offset is known at run time only (a ``Scalar``, data) is taken to be no limit.
    """
    size, step = sizes[walk.axis], config.tile.get(walk.axis, 1)
    limits = [b for b in walk.limits if _offset(b.offset, sizes) is not None]
    split = isinstance(block.place[walk.axis], Split)
    part = part_axis(walk.axis)
    over = [t.axis for t in block.order if any(t.axis in dict(b.terms) for b in limits)]
    if split and part in block.place:
        over.append(part)
    choices = {a: tiles_of(a, block, config, sizes) for a in over}
    low = np.zeros([choices[a] for a in over], dtype=np.int64)
    high = np.full_like(low, size)
    if split and part in choices:
        tiles = -(-size // step)
        length = -(-tiles // choices[part]) * step
        first = length * np.arange(choices[part], dtype=np.int64)
        low, high = np.maximum(low, first), np.minimum(high, first + length)

    def latest(first: np.ndarray, bounds: tuple[Bound, ...], largest: bool) -> np.ndarray:
        known = [b for b in bounds if b in limits]
        return reduce(
            np.maximum, [_at(b, over, block, config, sizes, largest) for b in known], first
        )

    def earliest(end: np.ndarray, bounds: tuple[Bound, ...], largest: bool) -> np.ndarray:
        known = [b for b in bounds if b in limits]
        return reduce(np.minimum, [_at(b, over, block, config, sizes, largest) for b in known], end)

    low, high = latest(low, walk.start, False), earliest(high, walk.stop, True)
    clear = np.zeros_like(low)
    if walk.clear is not None:
        whole = earliest(high, walk.clear.stop, False) // step
        clear = np.maximum(whole - -(-latest(low, walk.clear.start, True) // step), 0)
    covered = np.maximum(high - low, 0)
    walked = np.where(covered > 0, -(-high // step) - low // step, 0)
    some = covered > 0
    return Extent(
        over=tuple(over),
        choices=int(covered.size),
        tiles=int(walked.sum()),
        positions=int(covered.sum()),
        longest=int(walked.max()) if walked.size else 0,
        first=int(low[some].min()) if some.any() else 0,
        stop=int(high[some].max()) if some.any() else 0,
        clear=int(np.where(some, clear, 0).sum()),
    )


def _at(
    bound: Bound,
    over: list[str],
    block: BlockGraph,
    config: Config,
    sizes: Mapping[str, int],
    largest: bool,
) -> np.ndarray:
    """The limit at every choice: over a tile the largest value, or the smallest."""
    offset = _offset(bound.offset, sizes)
    assert offset is not None
    found = np.full([1] * len(over), offset, dtype=np.int64)
    for axis, coefficient in bound.terms:
        place = block.place[axis]
        step = config.tile[axis] if isinstance(place, Grid) and place.tiled else 1
        each = joined(axis, block.places, sizes)
        first = np.arange(0, sizes[axis] * each, step, dtype=np.int64)
        last = (np.minimum(first + step, sizes[axis] * each) - 1) // max(each, 1)
        first = first // max(each, 1)
        value = coefficient * (last if (coefficient > 0) == largest else first)
        shape = [-1 if a == axis else 1 for a in over]
        found = found + value.reshape(shape)
    return found


def _offset(node: Node, sizes: Mapping[str, int]) -> int | None:
    """The integer that ``node`` is at these sizes; None if only the caller will know it."""
    match node:
        case Const(value=Fraction(denominator=1) as value):
            return int(value)
        case Size(axis=axis):
            return sizes[axis]
        case Map(fn=fn, args=args):
            values = [_offset(a, sizes) for a in args]
            if fn not in INTEGER:
                raise IllTyped(f"the offset of a limit cannot contain {fn.symbol}")
            known = [v for v in values if v is not None]
            return INTEGER[fn](*known) if len(known) == len(values) else None
        case _:
            return None
