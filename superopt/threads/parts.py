"""Results that leave in parts: how much shared memory a wide tile takes on its way out.

A tile with as many columns as a product can have leaves in two parts, one after the other through
the same shared memory. That costs one more wait for the copy engine a tile, and leaves room for one
more slot of a ring, which the copies of the next iterations (and of the next tile) are made to.
"""

from __future__ import annotations

from superopt.threads.layouts import WIDEST
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Store


def parted(block: BlockGraph, store: Store) -> str:
    """The axis along which a result may leave in parts: that of its columns, where it is the
    search that chooses how many a tile has; else empty."""
    (*_, axis) = store.order or ("",)
    return axis if axis and block.place[axis] == Grid() else ""


def parts(columns: int) -> int:
    """In how many parts a tile with so many columns (at most ``WIDEST``) leaves."""
    return 1 + columns // WIDEST


def wide_axes(block: BlockGraph, config: Config) -> set[str]:
    """The axes along which results leave in more than one part."""
    axes = {parted(block, s) for s in block.stores} - {""}
    return {a for a in axes if config.consumers and parts(config.tile.get(a, 1)) > 1}


def is_wide(config: Config) -> bool:
    """Whether results may leave in parts, with these tiles, if there are roles."""
    return config.consumers > 0 and any(parts(tile) > 1 for _, tile in config.tiles)
