"""Python's operators on tensors mean what they mean on numbers."""

from __future__ import annotations

import operator
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import superopt as so
from superopt.axes import tracing
from superopt.errors import SpecError
from superopt.tensor import Tensor
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.grids import BY_NAME
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind

X, Y = Input("x", ("m", "n")), Input("y", ("n",))
VALUES = {"x": np.array([[0.5, -2.0, 3.0], [1.0, 0.25, -0.75]]), "y": np.array([2.0, -1.0, 0.5])}
SIZES = {"m": 2, "n": 3}


def value_of(tensor: Tensor, order: tuple[str, ...] | None = None) -> np.ndarray:
    """What a tensor over x and y is at VALUES, axes in ``order`` (sorted by default)."""
    store = Store("out", tensor.axes if order is None else order, None, tensor.node)
    program = Program("p", (X, Y), (store,))
    return evaluate_program(program, FloatDomain(np.float64), VALUES, SIZES)["out"]


BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]


@pytest.mark.parametrize("function", BINARY)
def test_binary_operators_in_both_orders(function):
    x, y = Tensor(X), Tensor(Y)
    want_x, want_y = VALUES["x"], VALUES["y"]
    np.testing.assert_array_equal(value_of(function(x, y)), function(want_x, want_y))
    np.testing.assert_array_equal(value_of(function(x, 0.5)), function(want_x, 0.5))
    np.testing.assert_array_equal(value_of(function(2, x)), function(2, want_x))
    np.testing.assert_array_equal(value_of(function(Fraction(1, 4), x)), function(0.25, want_x))


@pytest.mark.parametrize("power", [1, 2, 3, 5, 16, -1, -2, 0.5, -0.5, Fraction(1, 2)])
def test_powers(power):
    got = value_of(abs(Tensor(X)) ** power)
    np.testing.assert_allclose(got, np.abs(VALUES["x"]) ** float(power), rtol=1e-14)


@pytest.mark.parametrize("power", [0, 17, 1.5, -0.25, float("inf"), "2", True])
def test_powers_that_are_refused(power):
    with pytest.raises(SpecError):
        Tensor(X) ** power


def test_signs_and_truth_values():
    x, wx = Tensor(X), VALUES["x"]
    np.testing.assert_array_equal(value_of(-x), -wx)
    assert (+x).node is X
    np.testing.assert_array_equal(value_of((x > 0) & (x < 1)), (wx > 0) & (wx < 1))
    np.testing.assert_array_equal(value_of((x > 0) | ~(x < -1)), (wx > 0) | ~(wx < -1))


def test_folds():
    x, wx = Tensor(X), VALUES["x"]
    np.testing.assert_array_equal(value_of(x.sum("n")), wx.sum(1))
    np.testing.assert_array_equal(value_of(x.max("m")), wx.max(0))
    np.testing.assert_array_equal(value_of(x.min("m", "n")), wx.min())
    np.testing.assert_allclose(value_of(x.mean("n m")), wx.mean())
    np.testing.assert_allclose(value_of(x.mean("n")), wx.mean(1))
    assert x.sum("m n").node is Reduce(Fn.ADD, "n", Reduce(Fn.ADD, "m", X))
    np.testing.assert_allclose(value_of(x.prod("n")), wx.prod(1))
    np.testing.assert_array_equal(value_of((x > 1).any("n")), (wx > 1).any(1))
    np.testing.assert_array_equal(value_of((x < 1).all("n m")), (wx < 1).all())


def test_folds_over_nothing():
    x = Tensor(X)
    folds = {"prod": (x.prod("n"), 1), "any": ((x > 0).any("n"), 0), "all": ((x > 0).all("n"), 1)}
    stores = tuple(Store(name, ("m",), None, fold.node) for name, (fold, _) in folds.items())
    arrays, sizes = {"x": np.zeros((2, 0))}, {"m": 2, "n": 0}
    found = evaluate_program(Program("p", (X,), stores), FloatDomain(np.float64), arrays, sizes)
    assert {k: v.tolist() for k, v in found.items()} == {k: [w, w] for k, (_, w) in folds.items()}


def test_conditions_and_numbers_have_their_own_folds():
    x = Tensor(X)
    with pytest.raises(SpecError, match=r"any takes truth values, not numbers"):
        x.any("n")
    with pytest.raises(SpecError, match=r"numbers, not truth values.* any or all"):
        (x > 0).prod("n")


def test_products_are_of_reals():
    whole = Tensor(Input("i", ("m", "n"), "int32"))
    with pytest.raises(SpecError, match=r"test_tensor\.py:\d+: .*32 bits.*\(x / 1\)\.prod"):
        whole.prod("n")
    assert (whole / 1).prod("n").node.kind is Kind.REAL


def test_prefixes_keep_the_axis_and_are_of_numbers_along_one_axis():
    x, whole = Tensor(X), Tensor(Input("i", ("m", "n"), "int32"))
    for method, fn in {"cumsum": Fn.ADD, "cumprod": Fn.MUL, "cummax": Fn.MAX}.items():
        assert getattr(x, method)("n").node is Scan(fn, "n", x.node)
    assert x.cummin("n").axes == x.axes
    with pytest.raises(SpecError, match="no axis 'k' to scan along"):
        x.cumsum("k")
    with pytest.raises(SpecError, match="along one axis"):
        x.cumsum("m n")
    with pytest.raises(SpecError, match="truth values"):
        (x > 0).cumsum("n")
    with pytest.raises(SpecError, match=r"32 bits.*\(x / 1\)\.cumprod"):
        whole.cumprod("n")
    assert whole.cumsum("n").node.kind is Kind.INT


FUNCTIONS = {
    so.exp: np.exp,
    so.exp2: np.exp2,
    so.tanh: np.tanh,
    so.abs: np.abs,
    so.sigmoid: lambda x: 1 / (1 + np.exp(-x)),
}
POSITIVE = {so.log: np.log, so.log2: np.log2, so.sqrt: np.sqrt, so.rsqrt: lambda x: x**-0.5}


@pytest.mark.parametrize("function", [*FUNCTIONS, *POSITIVE])
def test_functions(function):
    x, wx = Tensor(X), VALUES["x"]
    if function in POSITIVE:
        x, wx = x * x + 1, wx * wx + 1
    want = {**FUNCTIONS, **POSITIVE}[function](wx)
    np.testing.assert_allclose(value_of(function(x)), want, rtol=1e-14)


def test_every_scalar_function_can_be_written():
    x, y = Tensor(X), Tensor(Y)
    condition = ~((x < y) & (x <= 1) | (y == 2))
    arithmetic = so.maximum(x, y) + so.minimum(x, 0) - x * y / 2
    roundings = [lambda x, name=name: so.round_to(x, name) for name in BY_NAME]
    others = [*FUNCTIONS, *POSITIVE, so.erf, *roundings]
    written = {n.node.fn for n in (f(x) for f in others)}
    for node in so.where(condition, arithmetic, 0).node, *(f(x).node for f in others):
        written |= {n.fn for n in _maps(node)}
    assert written == set(Fn)


@pytest.mark.parametrize("dtype", ["fp8", None, ["bf16"]])
def test_a_rounding_needs_a_known_dtype(dtype):
    message = re.escape(f"no rounding to {dtype!r}; to fp16, bf16, e4m3, e5m2, int8")
    with pytest.raises(SpecError, match=message):
        so.round_to(Tensor(X), dtype)


def test_a_rounding_takes_numbers():
    with pytest.raises(
        SpecError, match=r"test_tensor\.py:\d+: .* number by where\(condition, 1, 0"
    ):
        so.round_to(Tensor(X) > 0, "bf16")


def _maps(node):
    if isinstance(node, Map):
        yield node
        for arg in node.args:
            yield from _maps(arg)


def test_maximum_of_several():
    x, y = Tensor(X), Tensor(Y)
    want = np.maximum(np.maximum(VALUES["x"], VALUES["y"]), 0.75)
    np.testing.assert_array_equal(value_of(so.maximum(x, y, 0.75)), want)
    want = np.minimum(np.minimum(VALUES["x"], VALUES["y"]), 0.75)
    np.testing.assert_array_equal(value_of(so.minimum(x, y, 0.75)), want)


def test_positions_sizes_and_masks():
    x = Tensor(X)
    masked = so.where(so.index("m") >= so.index("n"), x, -so.inf)
    want = np.where(np.arange(2)[:, None] >= np.arange(3), VALUES["x"], -np.inf)
    np.testing.assert_array_equal(value_of(masked), want)
    assert float(value_of(so.size("n") * so.pi)) == 3 * np.pi


def test_axes_meet_by_name():
    outer = Tensor(Y) * Tensor(Input("z", ("m",)))
    assert outer.axes == ("m", "n")
    assert repr(outer) == "Tensor('m n')"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_its_decimal_text(value):
    (const, _) = (value * Tensor(X)).node.args
    assert const is Const(Fraction(repr(value)))
    assert float(const.value) == value


def test_numpy_numbers_are_numbers():
    assert (np.float64(0.1) * Tensor(X)).node is (0.1 * Tensor(X)).node
    assert (Tensor(X) + np.float64(0.1)).node is (Tensor(X) + 0.1).node


@pytest.mark.parametrize("value", [float("nan"), True, "1", None, [1.0], 1j])
def test_what_is_no_number(value):
    with pytest.raises(SpecError, match=r"test_tensor\.py:\d+: "):
        Tensor(X) * value


def test_what_python_would_do_in_silence():
    x = Tensor(X)
    for wrong in (
        lambda: bool(x),
        lambda: 0 < x < 1,
        lambda: max(x, 0),
        lambda: x in [0],
        lambda: list(x),
        lambda: len(x),
        lambda: float(x),
        lambda: int(x),
        lambda: range(x),
        lambda: x // 2,
        lambda: 2 % x,
        lambda: 2**x,
        lambda: x @ x,
        lambda: (x > 0) ^ (x < 1),
        lambda: x[0],
        lambda: {x: 1},
    ):
        with pytest.raises((SpecError, TypeError)):
            wrong()


def test_axes_are_known_while_tracing():
    with tracing(("m", "n")):
        assert so.size("m").node is Size("m")
        with pytest.raises(SpecError, match="no axis 'k'; the parameters have 'm', 'n'"):
            so.index("k")
    with pytest.raises(SpecError, match="is no name of an axis"):
        so.size(3)
