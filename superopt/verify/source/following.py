"""The helpers of a text that keep payloads beside a list: what they stand for, of ``lists.py``.

All payloads are kept that came with the keys of a list, and the domain is asked for those of the
best once they are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from superopt.ugraph.scalar import INF
from superopt.verify.source.cells import is_nothing
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.keys import Keys
from superopt.verify.source.keys import Listed
from superopt.verify.source.lists import FARTHEST
from superopt.verify.source.lists import chosen
from superopt.verify.source.lists import taken_from
from superopt.verify.source.tiles import FP32
from superopt.verify.source.tiles import INT64
from superopt.verify.source.tiles import Tile
from superopt.verify.source.tiles import as_tile
from superopt.verify.source.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Origin:
    """Where what is new in the list ``new`` came from: lanes of ``keys``."""

    new: Listed
    old: Listed
    keys: Keys


@dataclass(frozen=True, eq=False)
class Followed:
    """What goes with all keys that the list ``of`` was given: (rows, keys, elements)."""

    of: Listed
    payloads: Tile

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions of the tile: rows, ranks, elements."""
        rows, _, width = self.payloads.shape
        return rows, self.of.lanes, width


def origin(tl: Vocabulary, new: Any, old: Any, keys: Any) -> Origin:
    """``_origin``."""
    if not (isinstance(new, Listed) and isinstance(old, Listed) and isinstance(keys, Keys)):
        raise OutsideVocabularyError("lanes of what is no list, or of no keys")
    if new.came is None or new.came[0] is not old or new.came[1] is not keys:
        raise OutsideVocabularyError("lanes of keys that did not come into the list just then")
    return Origin(new, old, keys)


def follow(tl: Vocabulary, payloads: Any, came: Any, values: Any) -> Followed:
    """``_follow``."""
    if not isinstance(came, Origin):
        raise OutsideVocabularyError("payloads of what is no list")
    known = _beside(tl, payloads, came.old)
    values = as_tile(tl.cells, values)
    if values.dtype is not known.payloads.dtype:  # a narrower one may lose digits
        raise OutsideVocabularyError(f"payloads of {values.dtype} as {known.payloads.dtype}")
    rows, _, width = known.payloads.shape
    count = came.keys.shape[-1]
    if values.shape not in ((1, count, width), (rows, count, width)):
        raise FaultError(f"payloads of shape {values.shape} for {rows} rows of {count} keys")
    wide = values.wide((rows, count, width))
    if not known.of.keys.shape[-1]:
        return Followed(came.new, wide)
    cells = tl.cells
    data = cells.join([known.payloads.lifted(), wide.lifted()], 1)
    return Followed(came.new, Tile(cells, known.payloads.dtype, None, data))


def goes(tl: Vocabulary, payloads: Any, kept: Any, lanes: Any, count: Any) -> Tile:
    """``_goes``."""
    if not isinstance(kept, Listed):
        raise OutsideVocabularyError("payloads of what is no list")
    taken = taken_from(tl, kept, lanes, count)
    known = _beside(tl, payloads, kept)
    cells, (rows, keys, width) = tl.cells, known.payloads.shape
    there = np.broadcast_to(kept.keys.there.reshape(rows, 1, keys), (rows, width, keys))

    def each(tile: Tile) -> Tile:
        return tile.reshape(rows, 1, keys).wide((rows, width, keys))

    values = chosen(each(kept.keys.values), there, -INF)
    places = chosen(each(kept.keys.places), there, FARTHEST)
    given = chosen(known.payloads.transposed((0, 2, 1)), there, 0)
    found = cells.best(values, places, taken, FARTHEST, False, given)
    if missing := kept.lanes - taken:
        nothing = Tile(cells, known.payloads.dtype, np.zeros((rows, width, missing), np.int64))
        found = cells.join([found, nothing.lifted()], 2)
    return Tile(cells, known.payloads.dtype, None, cells.transpose(found, (0, 2, 1)))


def _beside(tl: Vocabulary, payloads: Any, kept: Listed) -> Followed:
    """The payloads of a list; zeros are those of one without candidates."""
    rows = prod(kept.shape[:-1])
    if isinstance(payloads, Tile):
        shape = payloads.shape
        if kept.keys.shape[-1] or not is_nothing(tl.cells, payloads.lifted()):
            raise OutsideVocabularyError("payloads of a list that came from nowhere")
        if payloads.dtype not in (FP32, INT64):
            raise OutsideVocabularyError(f"payloads that are kept as {payloads.dtype}")
        if len(shape) != 3 or shape[:2] != (rows, kept.lanes):
            raise FaultError(f"payloads of shape {shape} for a list of shape {kept.shape}")
        none = (rows, 0, shape[2])
        empty = Tile(tl.cells, payloads.dtype, None, tl.cells.full(none, Fraction(0)))
        return Followed(kept, empty)
    if not isinstance(payloads, Followed) or payloads.of is not kept:
        raise OutsideVocabularyError("payloads of another list")
    return payloads
