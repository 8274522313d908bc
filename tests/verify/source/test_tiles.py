"""Tiles: whole numbers as Triton computes them, floats as a domain does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Fn
from superopt.verify.field.domain import FieldDomain
from superopt.verify.source.cells import lifted
from superopt.verify.source.cells import literal
from superopt.verify.source.cells import settled
from superopt.verify.source.cells import undefined
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.tiles import BOOL
from superopt.verify.source.tiles import DTYPES
from superopt.verify.source.tiles import FP32
from superopt.verify.source.tiles import INT8
from superopt.verify.source.tiles import INT32
from superopt.verify.source.tiles import INT64
from superopt.verify.source.tiles import Tile
from superopt.verify.source.tiles import as_tile
from superopt.verify.source.tiles import binary
from superopt.verify.source.tiles import mapped
from superopt.verify.source.tiles import wrapped

D = FloatDomain()


def whole(*numbers, dtype=INT32):
    return Tile(D, dtype, np.array(numbers, np.int64))


def real(*numbers):
    return Tile(D, DTYPES["fp32"], None, np.array(numbers, np.float64))


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1))
def test_sums_and_products_wrap_at_32_bits(a, b):
    for op in ("__add__", "__mul__", "__sub__"):
        exact = getattr(a, op)(b)
        (found,) = getattr(whole(a), op)(whole(b)).plain.tolist()
        assert (found - exact) % 2**32 == 0
        assert -(2**31) <= found < 2**31


@given(st.integers(-99, 99), st.integers(-9, 9).filter(bool))
def test_quotients_truncate(a, b):
    quotient = (whole(a) // b).plain.item()
    assert quotient == int(a / b)
    assert quotient * b + (whole(a) % b).plain.item() == a


def test_64_bits_are_kept_and_a_number_takes_the_dtype_beside_it():
    wide = whole(2**31 - 1).to(INT64) + 1
    assert (wide.dtype, wide.plain.item()) == (INT64, 2**31)
    assert (whole(5, dtype=INT32) + 1).dtype is INT32
    assert as_tile(D, 2**31).dtype is INT64
    assert wrapped(np.array([300]), DTYPES["int8"]).item() == 44


def test_shapes_broadcast_or_are_a_fault():
    assert (whole(1, 2)[:, None] + whole(1, 2, 3)[None, :]).shape == (2, 3)
    with pytest.raises(FaultError, match=r"shapes \(2,\) and \(3,\)"):
        whole(1, 2) + whole(1, 2, 3)
    with pytest.raises(FaultError, match="indices"):
        whole(1, 2)[None]
    with pytest.raises(OutsideVocabularyError, match="index"):
        whole(1, 2)[0]


def test_masks_combine_with_what_the_compiler_knows():
    mask = (whole(0, 5) < 3) | False
    assert mask.plain.tolist() == [True, False]
    assert (~mask & True).plain.tolist() == [False, True]
    data = real(1.0, -1.0) > 0
    assert data.plain is None
    assert (data & mask).data.tolist() == [True, False]
    with pytest.raises(OutsideVocabularyError):
        whole(1) & whole(2)


def test_conversions():
    assert whole(3).to(DTYPES["fp32"]).data.tolist() == [3]
    assert (whole(3) > 2).to(DTYPES["fp32"]).data.tolist() == [1]
    assert (real(3.0) > 2.0).to(DTYPES["fp32"]).data.tolist() == [1]
    assert real(3.0).to(DTYPES["fp16"]).data.tolist() == [3.0]
    for bad in (lambda: real(3.0).to(INT32), lambda: real(3.0).to(INT32, bitcast=True)):
        with pytest.raises(OutsideVocabularyError, match="conversion"):
            bad()


def test_whole_numbers_lose_digits_in_16_bits_though_not_where_they_are_read():
    """A position past 2048 is none of fp16; those that are read are all below."""
    assert whole(3).to(INT8).to(DTYPES["bf16"]).data.tolist() == [3]
    assert (whole(3) > 2).to(DTYPES["fp16"]).data.tolist() == [1]
    for dtype in ("fp16", "bf16"):
        with pytest.raises(OutsideVocabularyError, match=f"int32 as {dtype}, which has not its"):
            whole(3).to(DTYPES[dtype])


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_nothing_is_computed_in_16_bits_though_conversions_are_the_identity(dtype):
    half = real(3.0).to(DTYPES[dtype])
    for lossy in (lambda: half + half, lambda: half * 2.0, lambda: 1.0 / half):
        with pytest.raises(OutsideVocabularyError, match=f"in {dtype}, which loses digits"):
            lossy()
    assert (half * real(2.0)).data.tolist() == [6.0]
    assert (half < 4.0).data.tolist() == [True]


def test_a_count_of_what_data_say_stays_a_whole_number_where_it_fits():
    field = FieldDomain(0, 1, 4)
    x = Tile(field, FP32, None, field.draw(Input("x", ("n",)), (3,), 0))
    counts = mapped(field, Fn.WHERE, (x < 1.0, as_tile(field, 1), as_tile(field, 0)), INT64)
    assert (as_tile(field, 2**40) + counts).dtype is INT64
    assert (counts - counts).dtype is INT64
    assert (counts * counts).dtype is FP32  # which may not fit
    narrow = mapped(field, Fn.WHERE, (x < 1.0, as_tile(field, 1), as_tile(field, 0)), INT32)
    assert (narrow + narrow).dtype is FP32


def test_branches_on_data_are_outside_and_on_tiles_a_fault():
    assert not (whole(1) < 1).reshape(())
    field = FieldDomain(0, 1, 4)
    drawn = Tile(field, DTYPES["fp32"], None, field.named(next(iter(field.functions.constants))))
    with pytest.raises(OutsideVocabularyError, match="branch on data"):
        bool(drawn < 1)
    with pytest.raises(FaultError, match="no condition"):
        bool(whole(1, 2) < 1)
    with pytest.raises(OutsideVocabularyError, match="depends on data"):
        int(real(1.0).reshape(()))


def test_literals_are_what_their_digits_say():
    field = FieldDomain(0, 1, 4)
    third = literal(field, "0.1")
    ten = literal(field, 10)
    assert field.apply(Fn.MUL, (third, ten)).levels[0].value.tolist() == [1, 1, 1, 1]
    assert np.isnan(undefined(D))
    assert settled(field, field.apply(Fn.EQ, (ten, ten))) is True
    assert lifted(D, np.array([True])).tolist() == [True]


def test_division_by_zero_is_a_fault():
    with pytest.raises(FaultError, match="by zero"):
        whole(1) // whole(0)
    assert binary(Fn.LT, 1, whole(2)).dtype is BOOL


def test_whole_numbers_of_a_domain_are_stored_in_fewer_bits_if_they_fit():
    data = Tile(D, DTYPES["int64"], None, np.array([-(2**31), 2**31 - 1]))
    assert data.to(DTYPES["int32"]).data is data.data
    assert data.to(DTYPES["int64"]).dtype is DTYPES["int64"]
    with pytest.raises(OutsideVocabularyError, match="numbers from -2147483648 to 2147483647"):
        data.to(DTYPES["int16"])
