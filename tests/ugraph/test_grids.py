from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from superopt.emit import scalar as printed
from superopt.emit.runtime import ARITHMETIC
from superopt.ugraph.floats import nearest
from superopt.ugraph.grids import BY_NAME
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.scalar import Fn
from superopt.verify.run import torch_domain

FLOATS = {
    Fn.ROUND_FP16: torch.float16,
    Fn.ROUND_BF16: torch.bfloat16,
    Fn.ROUND_E4M3: torch.float8_e4m3fn,
    Fn.ROUND_E5M2: torch.float8_e5m2,
}
EVERY = pytest.mark.parametrize("fn", GRIDS, ids=lambda fn: fn.symbol)
NUMBERS = st.floats(width=32, allow_nan=False) | st.integers(-600, 600).map(lambda n: n / 64)


@pytest.mark.parametrize("fn", FLOATS, ids=lambda fn: fn.symbol)
@given(x=NUMBERS)
def test_it_is_the_conversion_within_the_range(fn, x):
    grid = GRIDS[fn]
    inside = min(max(x, float(grid.lowest)), float(grid.largest))
    want = float(torch.tensor(inside, dtype=torch.float32).to(FLOATS[fn]))
    assert nearest(np.array(inside), grid) == want
    if abs(x) < np.inf:
        assert nearest(np.array(x), grid) == want


@EVERY
@given(x=NUMBERS, y=NUMBERS)
def test_it_is_monotone_and_keeps_what_it_gives(fn, x, y):
    low, high = (nearest(np.array(v), GRIDS[fn]) for v in sorted((x, y)))
    assert low <= high
    assert nearest(low, GRIDS[fn]) == low


@EVERY
@given(x=NUMBERS)
def test_torch_and_the_launcher_agree(fn, x):
    want = float(nearest(np.array(x), GRIDS[fn]))
    assert float(torch_domain.MEANING[fn](torch.tensor(x, dtype=torch.float64))) == want
    scope = {"math": math}
    exec(ARITHMETIC["_nearest"], scope)
    assert eval(printed.PYTHON[fn].format("x"), scope, {"x": x}) == want


def test_ties_go_to_the_even_neighbour_and_nothing_leaves_the_grid():
    byte = GRIDS[Fn.ROUND_INT8]
    assert nearest(np.array([0.5, 1.5, -2.5, 127.5, -1e9]), byte).tolist() == [0, 2, -2, 127, -128]
    narrow = GRIDS[Fn.ROUND_E4M3]
    assert nearest(np.array([17.0, 19.0, 464.0, 1e9]), narrow).tolist() == [16, 20, 448, 448]
    special = nearest(np.array([np.inf, -np.inf, np.nan]), narrow)
    np.testing.assert_array_equal(special, [np.inf, -np.inf, np.nan])
    assert nearest(np.array([3.0], np.float32), narrow).dtype == np.float32


def test_names():
    assert BY_NAME["e4m3"] is Fn.ROUND_E4M3
    assert set(BY_NAME) == {"fp16", "bf16", "e4m3", "e5m2", "int8"}
