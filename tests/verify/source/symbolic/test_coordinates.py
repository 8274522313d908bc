"""What strides are multiplied by are coordinates."""

from __future__ import annotations

import pytest

from superopt.verify.source.symbolic.coordinates import NoCoordinates
from superopt.verify.source.symbolic.coordinates import coordinates
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.value import Tensor

A, B, LANE = atom("a"), atom("b"), atom("lane")
ROW, PLANE = atom("x.stride(1)"), atom("x.stride(0)")
X = Tensor("x", (A, A, A), (PLANE, ROW, ONE), "input")


def test_an_offset_is_taken_apart():
    offset = A * PLANE + (B + B) * ROW + LANE * ROW + LANE
    assert coordinates(X, offset) == (A, B + B + LANE, LANE)


@pytest.mark.parametrize(
    ("offset", "words"),
    [(A * atom("y.stride(0)"), "contains y.stride"), (A * ROW * PLANE, "contains x.stride")],
)
def test_other_strides_are_no_coordinates(offset, words):
    with pytest.raises(NoCoordinates, match=words):
        coordinates(X, offset)


def test_without_a_stride_of_one_there_is_no_innermost_coordinate():
    loose = Tensor("x", (A,), (atom("x.stride(-1)"),), "input")
    with pytest.raises(NoCoordinates, match="along no axis"):
        coordinates(loose, LANE)
    assert coordinates(loose, LANE * atom("x.stride(-1)")) == (LANE,)


def test_a_number_has_no_coordinates():
    assert coordinates(Tensor("x", (), (), "output"), A - A) == ()
    with pytest.raises(NoCoordinates):
        coordinates(Tensor("x", (), (), "output"), ONE)
