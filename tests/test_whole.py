"""Whole numbers as floats: what a case makes too large is refused, by name."""

from __future__ import annotations

from typing import Annotated

import pytest

import superopt as so
from superopt import Case
from superopt import Tensor
from superopt import spec
from superopt.errors import SpecError
from superopt.ugraph.node import Input
from superopt.whole import DIGITS
from superopt.whole import magnitude


def first(size: int, dtype: str, stored: str | None = None):
    """A spec of positions at one size of the axis."""
    result = Annotated[Tensor, "m", stored] if stored else Annotated[Tensor, "m"]

    @spec(cases=[Case("long", m=2, n=size)], dtype=dtype)
    def found(x: Annotated[Tensor, "m n"]) -> result:
        return so.argmax(x, "n")

    return found


@pytest.mark.parametrize("dtype", DIGITS)
def test_positions_are_stored_as_floats_up_to_what_these_hold(dtype):
    most = 2 ** DIGITS[dtype]
    assert first(most, dtype)
    with pytest.raises(SpecError, match=f"up to {most + 1} in case 'long', but is stored as"):
        first(most + 1, dtype)
    assert first(most + 1, dtype, "int32")


def test_an_explicit_float_dtype_is_judged_like_that_of_the_case():
    with pytest.raises(SpecError, match="declare it, as in"):
        first(131072, "fp32", "bf16")
    assert first(131072, "bf16", "fp32")


def test_magnitudes_of_what_is_made_of_positions():
    sizes = {"m": 10, "n": 7}
    n, ids = so.index("n"), Tensor(Input("ids", ("n",), "int32"))
    assert magnitude((n * 2 + so.size("m")).node, sizes) == 24
    assert magnitude((n - 3).sum("n").node, sizes) == 70
    assert magnitude(so.where(n < 3, n, so.size("m")).max("n").node, sizes) == 10
    assert magnitude(so.abs(n).node, sizes) == 7
    assert magnitude((n + ids).node, sizes) is None
