"""Keys stay pairs: what a text may do with whole numbers that order pairs, and what it may not."""

from __future__ import annotations

import numpy as np
import pytest

from superopt.ugraph.floats import FloatDomain
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.keys import NO_KEY
from superopt.verify.source.keys import Keys
from superopt.verify.source.tiles import FP32
from superopt.verify.source.tiles import INT32
from superopt.verify.source.tiles import Tile
from superopt.verify.source.tiles import as_tile

CELLS = FloatDomain()


def keys(shape):
    count = int(np.prod(shape))
    values = Tile(CELLS, FP32, None, CELLS.array(np.arange(count, dtype=float).reshape(shape)))
    places = Tile(CELLS, INT32, np.arange(count).reshape(shape))
    return Keys(values, places, np.ones(shape, np.bool_))


def test_a_mask_takes_pairs_away():
    mask = as_tile(CELLS, Tile(CELLS, INT32, np.array([1, 0, 1])) == 1)
    found = keys((2, 3)).where(mask, NO_KEY)
    assert found.there.tolist() == [[True, False, True]] * 2


def test_values_and_places_move_together():
    found = keys((2, 3)).transposed((1, 0)).reshape(6)
    assert found.places.plain.tolist() == [0, 3, 1, 4, 2, 5]
    assert found.values.lifted().tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]


@pytest.mark.parametrize("other", [0, NO_KEY + 1])
def test_a_number_is_no_absent_key(other):
    with pytest.raises(OutsideVocabularyError, match="keys and numbers"):
        keys((3,)).where(as_tile(CELLS, True), other)


def test_only_zeros_are_added():
    assert (keys((3,)) + Tile(CELLS, INT32, np.zeros((2, 3), np.int64))).shape == (2, 3)
    with pytest.raises(OutsideVocabularyError, match="a sum of keys"):
        keys((3,)) + 1
