"""Tiles of keys in a text, and the lists that are kept of them.

A key is a whole number that orders pairs of a value and a place (larger values first, of equal ones
the lower place, NaN before all). Here it stays a pair, so that values need no bits and no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from typing import Any

import numpy as np

from superopt.verify.source.cells import Plain
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.tiles import Tile
from superopt.verify.source.tiles import as_tile
from superopt.verify.source.tiles import shapes_together

NO_KEY = -(2**63)  # below the keys of all pairs


@dataclass(frozen=True, eq=False)
class Keys:
    """A tile of keys: ``values`` and ``places`` of its shape, and where there is a pair at all.

    What is no pair is ``NO_KEY``.
    """

    values: Tile
    places: Tile
    there: Plain

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return self.there.shape

    def reshape(self, *shape: Any) -> Keys:
        """The same keys in row-major order."""
        values = self.values.reshape(*shape)
        return Keys(values, self.places.reshape(*shape), self.there.reshape(values.shape))

    def transposed(self, order: Sequence[int]) -> Keys:
        """Dimension ``i`` of the result is dimension ``order[i]``."""
        values, places = self.values.transposed(order), self.places.transposed(order)
        return Keys(values, places, self.there.transpose(tuple(order)))

    def wide(self, shape: tuple[int, ...]) -> Keys:
        """Stretched to ``shape``."""
        there = np.broadcast_to(self.there, shape)
        return Keys(self.values.wide(shape), self.places.wide(shape), there)

    def __add__(self, other: Any) -> Keys:
        """With zeros of a larger shape."""
        zeros = as_tile(self.values.cells, other)
        if zeros.plain is None or zeros.plain.any():
            raise OutsideVocabularyError("a sum of keys")
        return self.wide(shapes_together(self.shape, zeros.shape))

    def where(self, condition: Tile, other: Any) -> Keys:
        """The keys where a mask holds, elsewhere none."""
        none = as_tile(self.values.cells, other)
        if condition.plain is None or none.plain is None or (none.plain != NO_KEY).any():
            raise OutsideVocabularyError("a choice between keys and numbers")
        shape = shapes_together(self.shape, condition.shape, none.shape)
        wide = self.wide(shape)
        return replace(wide, there=wide.there & np.broadcast_to(condition.plain, shape))


@dataclass(frozen=True, eq=False)
class Listed:
    """A list of the ``count`` best of all ``keys`` that it was given, its lanes in no order.

    ``lanes``: how many the tile has; those beyond the count are never taken. ``came``: the list
    before, and the tile of keys that came in last, if all of them did.
    """

    keys: Keys
    count: int
    lanes: int
    came: tuple[Listed, Keys] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return (*self.keys.shape[:-1], self.lanes)
