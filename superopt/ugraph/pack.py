"""Axes that share a tile dimension, and how joint positions are counted.

Axes ``r`` and ``s`` that are packed into ``m`` (``Pack``, in this order of places) make joint
positions ``(m * size(r) + r) * size(s) + s``. A tile of ``m`` holds consecutive ones, so it covers
a contiguous range of ``m`` itself, which keeps limits that follow ``m`` exact.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from math import prod

from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Place

Places = Sequence[tuple[str, Place]]


def hosts(places: Places) -> dict[str, str]:
    """For every packed axis the axis whose tile dimension it shares."""
    return {axis: place.into for axis, place in places if isinstance(place, Pack)}


def guests(axis: str, places: Places) -> tuple[str, ...]:
    """The axes that are packed into ``axis``, outermost first."""
    return tuple(a for a, place in places if isinstance(place, Pack) and place.into == axis)


def joined(axis: str, places: Places, sizes: Mapping[str, int]) -> int:
    """Joint positions for each position of ``axis``: 1 if nothing is packed into it."""
    return prod(sizes[a] for a in guests(axis, places))


def tile_dimensions(places: Places) -> tuple[str, ...]:
    """The axes that are tile dimensions, in the order of places."""
    lone = (Grid(tiled=False), Loop(tiled=False))
    return tuple(a for a, p in places if p not in lone and not isinstance(p, Pack))


def dimensions_of(
    axes: Collection[str], order: Iterable[str], host: Mapping[str, str]
) -> tuple[str, ...]:
    """The tile dimensions, among ``order`` and in its order, along which ``axes`` lie."""
    along = {host.get(a, a) for a in axes}
    return tuple(a for a in order if a in along)
