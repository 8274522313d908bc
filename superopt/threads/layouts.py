"""How tiles lie in the registers of a warpgroup, by the axes that they have.

A tile with a row and a column axis lies as the matrix unit leaves a result (four warps with 16
rows each, fragments as wide as the tile). A tile with one axis lies as one row or one column of
such a tile. So the layout of a value follows from its axes alone, and values meet without
conversion but for two cases: where an axis is row (or column) of several tiles, the first of them
decides; for the others its values are converted, which moves nothing between threads as long as a
row stays a row and a column a column. The third layout is that of a left operand in registers: of
a 16-bit result of the matrix unit it is a renaming of registers, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from superopt.errors import NotEmittable

WIDEST = 256  # columns of one matrix instruction
ROWS = 64  # of one matrix instruction: 16 for each warp of the group

Dims = tuple[str, ...]


@dataclass(frozen=True)
class Layouts:
    """Which tiles there are: ``tiles``, (row, column) of each, in the order of their first use."""

    tiles: tuple[tuple[str, str], ...]

    def parent(self, dims: Dims) -> tuple[str, str]:
        """The tile as part of which a value with ``dims`` lies.

        Raises:
            NotEmittable: there is none.
        """
        match dims:
            case (row, column) if (row, column) in self.tiles:
                return row, column
            case (axis,):
                for tile in self.tiles:
                    if axis in tile:
                        return tile
            case _:
                pass
        raise NotEmittable(f"no tile of a matrix product has the axes {' '.join(dims)!r}")

    def has(self, axis: str) -> bool:
        """Whether some tile has ``axis``; values along another one meet no tile."""
        return any(axis in tile for tile in self.tiles)

    def slice_of(self, axis: str, within: tuple[str, str]) -> bool:
        """Whether values along ``axis`` lie as a slice of the tile ``within`` already."""
        at = self.parent((axis,))
        return at == within

    def free(self, axis: str, within: tuple[str, str]) -> bool:
        """Whether they come to lie so without an exchange between threads."""
        return self.parent((axis,)).index(axis) == within.index(axis)


def layouts_of(tiles: Iterable[Dims]) -> Layouts:
    """The layouts of a kernel whose values have the axes ``tiles``, in the order of first use."""
    return Layouts(tuple((d[0], d[1]) for d in dict.fromkeys(tiles) if len(d) == 2))
