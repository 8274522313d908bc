"""Axes that a spec makes: their names, their sizes in every case, and what is refused."""

from __future__ import annotations

from typing import Annotated

import pytest

import superopt as so
from superopt import Case
from superopt import Tensor
from superopt import spec
from superopt.axes import known_axis
from superopt.axes import made_axes
from superopt.axes import make_axis
from superopt.axes import tracing
from superopt.errors import SpecError
from superopt.ugraph.node import Input

X = Annotated[Tensor, "m n"]
LISTED = Annotated[Tensor, "m t"]


def test_an_axis_is_made_once():
    with tracing(("m", "n")):
        assert make_axis("t", 3) == "t"
        assert make_axis("t", 3) == "t"
        assert known_axis("t") == "t"
        assert made_axes() == (("t", 3),)
        with pytest.raises(SpecError, match="has 3 positions already, so it cannot have 4"):
            make_axis("t", 4)
        with pytest.raises(SpecError, match="is an axis of a parameter"):
            make_axis("n", 3)
        with pytest.raises(SpecError, match="is no name of an axis"):
            make_axis("two words", 3)
    assert made_axes() == ()


def best(**sizes: int):
    @spec(cases=[Case("one", m=2, n=9, **sizes)], dtype="fp32")
    def found(x: X) -> LISTED:
        values, _ = so.top_k(x, "n", k=4, into="t")
        return values

    return found


def test_its_size_is_part_of_every_case():
    assert best().case("one").sizes == {"m": 2, "n": 9, "t": 4}
    assert best(t=4).axes == ("m", "n", "t")
    assert best().program.fixed == (("t", 4),)
    with pytest.raises(SpecError, match="t=5, but the spec says 4"):
        best(t=5)


def test_an_axis_that_nobody_made_has_no_size():
    with pytest.raises(SpecError, match="has axis 't', which no parameter has"):

        @spec(cases=[Case("one", m=2, n=9)])
        def found(x: X) -> LISTED:
            return x.sum("n")


@pytest.mark.parametrize("method", ["sort", "median"])
def test_other_order_statistics_are_refused_by_name(method):
    with pytest.raises(SpecError, match="not supported; top_k"):
        getattr(Tensor(Input("x", ("m",))), method)("m")
