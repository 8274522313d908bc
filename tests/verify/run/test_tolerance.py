from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn
from superopt.verify.run.inputs import Family
from superopt.verify.run.inputs import ordinary
from superopt.verify.run.rounding import rounded
from superopt.verify.run.tolerance import Expected
from superopt.verify.run.tolerance import Limit
from superopt.verify.run.tolerance import compare
from superopt.verify.run.tolerance import expected
from superopt.verify.run.tolerance import expected_of
from superopt.verify.run.tolerance import reference
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


def test_overflow_inside_the_spec_makes_no_claim_and_overflow_at_the_end_does():
    program = samples.lora()
    sizes = {"m": 2, "k": 4, "n": 3, "r": 2}
    arrays = {p.name: np.full([sizes[a] for a in p.order], 1.0, np.float32) for p in program.params}
    arrays["x"][0] = 600.0
    arrays["w"][:] = 100.0  # row 0 of the first product overflows fp16 when it is stored
    one = expected(program, arrays, sizes, "fp16")["out"]
    assert one.free is None
    assert compare(rounded(one.want, "fp16"), one).ok
    assert not compare(one.want * 0, one).ok
    arrays["w"][:] = 0.0
    arrays["a"][:] = 100.0  # row 0 of x a overflows as an operand ...
    arrays["b"][:] = 2.0**-10  # ... though the result does not
    one = expected(program, arrays, sizes, "fp16")["out"]
    assert np.isfinite(one.want).all()
    assert one.free[0].all()
    assert not one.free[1].any()
    kernel = one.want.copy()
    assert compare(kernel, one).ok
    kernel[0] = np.inf
    assert compare(kernel, one).ok
    kernel[1] = np.inf
    assert not compare(kernel, one).ok


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


def test_an_infinity_in_an_input_may_become_nan_or_another_infinity_but_not_a_number():
    program = samples.lora()
    sizes = {"m": 4, "k": 8, "n": 5, "r": 3}
    arrays = ordinary(program, sizes, "fp32", 0)

    def planted(number):
        value = arrays["x"].copy()
        value[1, 2] = number
        return {**arrays, "x": value}

    twins = (planted(1e4), planted(-1e4))
    one = expected_of(program, Family("inf", planted(np.inf), None, twins, True), sizes, "fp32")
    one = one["out"]
    merged = one.want.copy()
    assert np.isnan(merged[1]).any()
    merged[1] = np.inf
    assert compare(merged, one).ok
    merged[1] = 1.0
    assert not compare(merged, one).ok
    of_nan = expected_of(program, Family("nan", planted(np.nan), None, twins), sizes, "fp32")["out"]
    merged[1] = np.inf
    assert not compare(merged, of_nan).ok


def test_integers_are_equal():
    want = np.array([1, 2, 3])
    one = Expected("out", "int32", want, Limit(0, 0), np.ones(1, bool))
    assert compare(want, one).ok
    assert "[1]" in compare(np.array([1, 3, 3]), one).message


def test_an_integer_holds_no_infinity():
    """The extremum of nothing is infinite; whatever an integer output holds there is right."""
    want = np.array([np.inf, 3.0])
    expected = Expected("x", "int32", want, Limit(0, 0), np.ones(1, bool))
    assert compare(np.array([7, 3]), expected).ok
    assert not compare(np.array([7, 4]), expected).ok


def test_empty_outputs():
    program = samples.row_softmax()
    sizes = {"m": 0, "n": 5}
    one = expected(program, {"x": np.zeros((0, 5), np.float32)}, sizes, "fp16")["out"]
    assert compare(np.zeros((0, 5)), one).ok


def test_an_operand_that_overflows_frees_what_it_reaches():
    """A rounded operand beyond fp16 makes the spec itself infinite or NaN in fp16."""
    a, b = Input("a", ("m", "k")), Input("b", ("n", "k"))
    square = Map(Fn.MUL, (a, a))
    out = Reduce(Fn.ADD, "k", Map(Fn.MUL, (square, b)))
    program = Program("p", (a, b), (Store("out", ("m", "n"), None, out),))
    rng = np.random.default_rng(0)
    arrays = {
        "a": np.array([[1.0, 2.0], [300.0, 1.0]], np.float32),
        "b": rng.standard_normal((3, 2)).astype(np.float16).astype(np.float32),
    }
    want = expected(program, arrays, {"m": 2, "n": 3, "k": 2}, "fp16")["out"]
    assert want.free is not None
    assert want.free.tolist() == [[False] * 3, [True] * 3]
    right = rounded(want.want.copy(), "fp16")
    right[1] = np.nan
    assert compare(right, want).ok
    right[0, 0] = np.nan
    assert not compare(right, want).ok
