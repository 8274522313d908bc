"""The helpers of a text that rank: what they stand for, of ``keys.py``.

Which pairs are the best is asked of the domain, once a list is read.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from superopt.ugraph.domain import Domain
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.source.cells import Plain
from superopt.verify.source.cells import ends_of
from superopt.verify.source.cells import state_of
from superopt.verify.source.cells import taken
from superopt.verify.source.cells import whole_of
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.keys import Keys
from superopt.verify.source.keys import Listed
from superopt.verify.source.tiles import FP32
from superopt.verify.source.tiles import INT32
from superopt.verify.source.tiles import Tile
from superopt.verify.source.tiles import as_tile
from superopt.verify.source.tiles import shapes_together
from superopt.verify.source.vocabulary import Vocabulary

FARTHEST = 2**31 - 1  # a place of which a key holds the complement


def keys(tl: Vocabulary, values: Any, places: Any) -> Keys:
    """``_keys``."""
    pair = as_tile(tl.cells, values), as_tile(tl.cells, places)
    if pair[0].dtype is not FP32 or pair[1].dtype.kind is not Kind.INT:
        raise OutsideVocabularyError(f"keys of {pair[0].dtype} and {pair[1].dtype}")
    shape = shapes_together(pair[0].shape, pair[1].shape)
    return Keys(pair[0].wide(shape), pair[1].wide(shape), np.ones(shape, np.bool_))


def nobody(tl: Vocabulary, lanes: Any, count: Any) -> Listed:
    """``_nobody``."""
    shape = _lanes(as_tile(tl.cells, lanes))
    none = (*shape[:-1], 0)
    values = Tile(tl.cells, FP32, None, tl.cells.full(none, -INF))
    empty = Keys(values, Tile(tl.cells, INT32, np.zeros(none, np.int64)), np.zeros(none, np.bool_))
    return Listed(empty, int(count), shape[-1])


def among(tl: Vocabulary, kept: Any, candidates: Any, count: Any) -> Listed:
    """``_among``: no more than ``count`` of the candidates come in, of equal ones one."""
    if not isinstance(kept, Listed) or not isinstance(candidates, Keys):
        raise OutsideVocabularyError("candidates that are no keys, or come into no list")
    if kept.shape[:-1] != candidates.shape[:-1]:
        raise FaultError(f"keys of shape {candidates.shape} for lists of shape {kept.shape}")
    _check_places(chosen(candidates.places, candidates.there, 0))
    came: tuple[Listed, Keys] | None = (kept, candidates)
    candidates = replace(candidates, there=candidates.there & ~_copies(candidates))
    if int(count) < min(kept.count, kept.lanes):
        candidates = _first(tl, candidates, int(count))
        came = None
    keys = _joined(tl.cells, kept.keys, candidates)
    return replace(kept, keys=keys, came=came)


def ranked(tl: Vocabulary, kept: Any, lanes: Any, count: Any, end: Any) -> tuple[Tile, Tile]:
    """``_ranked``."""
    if not isinstance(kept, Listed):
        raise OutsideVocabularyError("ranks of what is no list")
    taken = taken_from(tl, kept, lanes, count)
    values, places = _best(tl, kept.keys, taken, int(end))
    cells, rank = tl.cells, len(kept.shape) - 1
    if missing := kept.lanes - taken:  # -inf at the end; beside a NaN, that
        shape = (*kept.shape[:-1], missing)
        last = cells.slice(values, rank, taken - 1, taken)
        beyond = cells.apply(Fn.MIN, (last, cells.full((1,) * (rank + 1), -INF)))
        values = cells.join([values, *[beyond] * missing], rank)
        ends = Tile(cells, INT32, np.full(shape, int(end))).lifted()
        places = cells.join([places, ends], rank)
    return Tile(cells, FP32, None, values), Tile(cells, INT32, None, places)


def taken_from(tl: Vocabulary, kept: Listed, lanes: Any, count: Any) -> int:
    """How many ranks of a list are read at once: all, by its ``lanes``.

    Raises:
        FaultError: they are not all of them.
    """
    if _lanes(as_tile(tl.cells, lanes))[-1] != kept.lanes or int(count) != kept.count:
        raise FaultError(f"{int(count)} ranks of a list of {kept.count}, whose lanes have no order")
    taken = min(kept.count, kept.lanes)
    if taken < 1:
        raise OutsideVocabularyError("a list of no ranks")
    if _copies(kept.keys).any():  # the text may replace both by one other
        raise OutsideVocabularyError("a list of equal keys, which came in one after the other")
    return taken


def _lanes(tile: Tile) -> tuple[int, ...]:
    """The shape of a tile that counts along its last dimension."""
    shape = tile.shape
    if not shape or tile.plain is None or (tile.plain != np.arange(shape[-1])).any():
        raise OutsideVocabularyError("lanes of a list that do not count from 0")
    return shape


def _first(tl: Vocabulary, all_of: Keys, count: int) -> Keys:
    """The best keys of each row; those that are none come last."""
    values, places = _best(tl, all_of, count, FARTHEST)
    there = np.arange(count) < all_of.there.sum(-1, keepdims=True)
    return Keys(Tile(tl.cells, FP32, None, values), Tile(tl.cells, INT32, None, places), there)


def _best(tl: Vocabulary, all_of: Keys, count: int, end: int) -> tuple[Any, Any]:
    """Both halves of the best of each row in the domain; -inf at ``end`` where there is no pair."""
    values = chosen(all_of.values, all_of.there, -INF)
    places = chosen(all_of.places, all_of.there, end)
    best = tl.cells.best
    return best(values, places, count, end, False), best(values, places, count, end, True)


def chosen(tile: Tile, there: Plain, other: int | float) -> Any:
    """The elements in the domain with all that is known of them, ``other`` where there is none."""
    cells, count = tile.cells, there.size
    number = Fraction(other) if isinstance(other, int) else other
    flat = cells.reshape(tile.lifted(), (count,))
    index = np.where(there, np.arange(count).reshape(there.shape), count)
    return taken(cells, cells.join([flat, cells.full((1,), number)], 0), index)


def _check_places(places: Any) -> None:
    ends = ends_of(places)
    if ends is not None and not 0 <= ends[0] <= ends[1] <= FARTHEST:
        raise OutsideVocabularyError(f"keys of places from {ends[0]} to {ends[1]}")


def _copies(all_of: Keys) -> Plain:
    """Which keys are equal to one before them in their row; none are said to be of terms."""
    places, there = whole_of(all_of.places.lifted()), all_of.there
    none = np.zeros(there.shape, np.bool_)
    if places is None or not there.size:
        return none
    column = np.arange(there.shape[-1])
    if len(places) == 1:  # the same whatever was drawn
        alike = np.sort(np.where(there, places[0], -1 - column), axis=-1)
        if (alike[..., 1:] != alike[..., :-1]).all():
            return none
    parts = [places, *state_of(all_of.values.lifted())]
    rows = [np.broadcast_to(p, (len(p), *there.shape)).reshape(len(p), -1).T for p in parts]
    known: dict[bytes, int] = {}
    elements = np.concatenate(rows, axis=1)
    number = np.array([known.setdefault(e.tobytes(), len(known)) for e in elements])
    nan = np.array([part.dtype.kind == "f" and bool(np.isnan(part).any()) for part in elements])
    apart = ~there | nan.reshape(there.shape)  # beside a NaN nothing is kept
    number = np.where(apart, -1 - column, number.reshape(there.shape))
    order = np.argsort(number, axis=-1, kind="stable")
    ordered = np.take_along_axis(number, order, -1)
    again = np.concatenate([none[..., :1], ordered[..., 1:] == ordered[..., :-1]], axis=-1)
    np.put_along_axis(none, order, again, -1)
    return none


def _joined(cells: Domain[Any], first: Keys, second: Keys) -> Keys:
    """All keys of every row."""
    if not first.shape[-1]:
        return second
    dim = len(first.shape) - 1
    values = cells.join([first.values.lifted(), second.values.lifted()], dim)
    there = np.concatenate([first.there, second.there], axis=-1)
    if first.places.plain is not None and second.places.plain is not None:
        plain = np.concatenate([first.places.plain, second.places.plain], axis=-1)
        places = Tile(cells, INT32, plain)
    else:
        data = cells.join([first.places.lifted(), second.places.lifted()], dim)
        places = Tile(cells, INT32, None, data)
    return Keys(Tile(cells, FP32, None, values), places, there)
