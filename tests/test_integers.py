"""How integer tensors of a case are drawn."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt import Case
from superopt import Segments
from superopt import Tensor
from superopt import Uniform
from superopt import index
from superopt import spec
from superopt import where
from superopt.errors import SpecError
from superopt.integers import integers
from superopt.integers import read_integers

COUNTS = st.integers(1, 12)
LENGTHS = st.integers(0, 70)


@given(COUNTS, LENGTHS, st.integers(0, 3))
def test_segments_hold_their_first_positions(count, length, seed):
    (found,) = integers(Segments(count), (1, length), seed)
    positions = np.arange(length)
    assert found.shape == (length,)
    assert (found <= positions).all()
    assert (np.diff(found) >= 0).all()
    assert (found[found] == found).all()  # a first position starts its own segment
    assert len(set(found)) == min(count, length)


def test_rows_have_segments_of_their_own():
    one, other = integers(Segments(8), (2, 4096), 0)
    assert one[0] == other[0] == 0
    assert (one != other).any()
    assert len({int(s) for s in np.diff(np.unique(one))}) > 1  # of unequal lengths


@given(st.integers(-5, 5), st.integers(0, 9), st.integers(0, 3))
def test_uniform_numbers_reach_both_ends(low, more, seed):
    found = integers(Uniform(low, low + more), (500,), seed)
    assert found.min() == low
    assert found.max() == low + more


@pytest.mark.parametrize("rule", [Segments(3), Uniform(-4, 9)])
def test_the_same_arguments_give_the_same_numbers_and_text_reads_back(rule):
    assert (integers(rule, (2, 50), 5) == integers(rule, (2, 50), 5)).all()
    assert (integers(rule, (2, 50), 5) != integers(rule, (2, 50), 6)).any()
    assert read_integers(str(rule)) == rule


@pytest.mark.parametrize("text", ["", "segments", "segments x", "uniform 1", "ids 4"])
def test_other_text_is_no_rule(text):
    with pytest.raises(ValueError, match="is no rule"):
        read_integers(text)


@pytest.mark.parametrize(
    "make", [lambda: Segments(0), lambda: Segments(2.5), lambda: Uniform(3, 2)]
)
def test_rules_that_mean_nothing_are_refused(make):
    with pytest.raises(SpecError, match="must be a whole number"):
        make()


def ragged(case):
    @spec(cases=[case])
    def kept(
        x: Annotated[Tensor, "m n"], length: Annotated[Tensor, "m", "int32"]
    ) -> Annotated[Tensor, "m n"]:
        return where(index("n") < length, x, 0)

    return kept


def test_a_case_keeps_rules_for_integer_tensors_only():
    (case,) = ragged(Case("good", m=4, n=8, length=Uniform(1, 8))).cases
    assert case.integers == {"length": Uniform(1, 8)}
    assert case.sizes == {"m": 4, "n": 8}
    with pytest.raises(
        SpecError, match=r"x=.* is for an integer tensor with axes; there is 'length'"
    ):
        ragged(Case("poor", m=4, n=8, x=Segments(2)))
    with pytest.raises(SpecError, match="does not bind size 'n'"):
        ragged(Case("poor", m=4, n=Segments(2)))


@pytest.mark.parametrize(
    ("dtype", "rule", "good"),
    [
        ("int8", Uniform(-128, 127), True),
        ("int8", Uniform(0, 128), False),
        ("int8", Uniform(-129, 0), False),
        ("int8", Segments(2), False),
        ("int8", Segments(1), True),
        ("int16", Segments(2), True),
    ],
)
def test_a_tensor_holds_every_number_that_is_drawn_for_it(dtype, rule, good):
    def made():
        def kept(x, at):
            return where(index("n") < at, x, 0)

        plain = Annotated[Tensor, "m n"]
        kept.__annotations__ = {"x": plain, "at": Annotated[Tensor, "m n", dtype], "return": plain}
        return spec(cases=[Case("one", m=3, n=200, at=rule)])(kept)

    if good:
        assert made().cases[0].integers == {"at": rule}
    else:
        with pytest.raises(SpecError, match=r"case 'one': at=.* which int8 does not hold"):
            made()
