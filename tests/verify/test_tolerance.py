from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from superopt.verify.inputs import Family
from superopt.verify.inputs import ordinary
from superopt.verify.rounding import rounded
from superopt.verify.tolerance import Expected
from superopt.verify.tolerance import Limit
from superopt.verify.tolerance import compare
from superopt.verify.tolerance import expected
from superopt.verify.tolerance import expected_of
from superopt.verify.tolerance import reference
from tests import samples

SIZES = {"m": 19, "n": 35}


def softmax_expected(dtype="fp16"):
    program = samples.row_softmax()
    arrays = ordinary(program, SIZES, dtype, 0)
    return expected(program, arrays, SIZES, dtype)["out"]


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_the_rounded_reference_is_accepted(dtype):
    one = softmax_expected(dtype)
    comparison = compare(rounded(one.want, dtype), one)
    assert comparison.ok
    assert comparison.used < 1


def test_fp32_limits_are_a_few_ulps():
    limit = softmax_expected("fp32").limit
    assert 2.0**-23 <= limit.rel < 20 * 2.0**-24


def test_one_wrong_element_is_found_and_named():
    one = softmax_expected()
    got = rounded(one.want, "fp16")
    got[3, 4] += 0.01
    comparison = compare(got, one)
    assert not comparison.ok
    assert comparison.rel < one.limit.rel * 10
    assert "[3, 4]" in comparison.message


def test_a_systematic_error_is_found_by_the_norm():
    one = softmax_expected()
    assert "relative error" in compare(one.want * 1.002, one).message


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_special_values_are_exact(bad):
    one = softmax_expected()
    got = one.want.copy()
    got[0, 0] = bad
    assert not compare(got, one).ok
    with_bad = replace(one, want=got)
    assert compare(got, with_bad).ok
    assert "got" in compare(one.want, with_bad).message


def test_masked_rows_are_exactly_zero():
    program = samples.attention(causal=False)
    sizes = {"b": 1, "h": 2, "m": 5, "n": 7, "d": 4, "e": 3}
    arrays = ordinary(program, sizes, "fp16", 0)
    arrays["v"] = np.zeros_like(arrays["v"])
    one = expected(program, arrays, sizes, "fp16")["out"]
    assert not one.want.any()
    assert compare(one.want, one).ok
    assert not compare(one.want + 1e-6, one).ok


def test_overflow_to_infinity_is_right_where_the_dtype_overflows():
    want = np.array([[70000.0, 65519.0, 1.0]])
    one = Expected("out", "fp16", want, Limit(1e-3, 1e-3), np.ones(1, bool))
    assert compare(np.array([[np.inf, 65504.0, 1.0]]), one).ok
    assert compare(np.array([[np.inf, np.inf, 1.0]]), one).ok  # within 1 % of the threshold
    assert not compare(np.array([[65504.0, 65504.0, 1.0]]), one).ok


def test_rows_without_digits_are_compared_absolutely():
    x = samples.X
    mean = samples.div(samples.total("k", x), samples.Size("k"))
    program = samples.Program(
        "centred", (x,), (samples.Store("out", ("m", "k"), None, samples.sub(x, mean)),)
    )
    sizes = {"m": 4, "k": 33}
    arrays = {"x": np.full((4, 33), 0.1, np.float32)}
    one = expected(program, arrays, sizes, "fp32")["out"]
    assert not one.digits.any()
    assert compare(np.full((4, 33), 1e-9), one).ok
    assert not compare(np.full((4, 33), 1e-3), one).ok


def test_what_does_not_depend_on_a_planted_nan_is_free():
    program = samples.attention(causal=True)
    sizes = {"b": 1, "h": 1, "m": 6, "n": 6, "d": 4, "e": 3}
    arrays = ordinary(program, sizes, "fp32", 0)

    def planted(number):
        value = arrays["v"].copy()
        value[0, 0, 3, 1] = number
        return {**arrays, "v": value}

    family = Family("nan", planted(np.nan), None, (planted(1e4), planted(-1e4)))
    one = expected_of(program, family, sizes, "fp32")["out"]
    clean = reference(program, arrays, sizes)["out"]
    kernel = clean.copy()
    kernel[0, 0, 3:, 1] = np.nan  # rows before the diagonal never read the planted value
    assert compare(kernel, one).ok
    assert compare(one.want, one).ok  # 0 * NaN, by IEEE's rules
    kernel[0, 0, 5, 1] = 0.5  # swallowed
    assert not compare(kernel, one).ok


def test_integers_are_equal():
    want = np.array([1, 2, 3])
    one = Expected("out", "int32", want, Limit(0, 0), np.ones(1, bool))
    assert compare(want, one).ok
    assert "[1]" in compare(np.array([1, 3, 3]), one).message


def test_empty_outputs():
    program = samples.row_softmax()
    sizes = {"m": 0, "n": 5}
    one = expected(program, {"x": np.zeros((0, 5), np.float32)}, sizes, "fp16")["out"]
    assert compare(np.zeros((0, 5)), one).ok
