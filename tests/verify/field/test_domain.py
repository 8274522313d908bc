"""The field domain: states, exact integers, laws of every scalar function."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.ugraph.node import Input
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.field import domain as field
from superopt.verify.field import terms
from superopt.verify.field.array import FINITE
from superopt.verify.field.array import NEG
from superopt.verify.field.array import POS
from superopt.verify.field.array import UNDEFINED
from superopt.verify.field.array import FieldArray
from superopt.verify.field.compare import compared
from superopt.verify.field.domain import FieldDomain

D = FieldDomain(3, levels=3, rounds=8)
ONE, ZERO = D.constant(Fraction(1)), D.constant(Fraction(0))
NEGATIVE, POSITIVE = D.constant(-INF), D.constant(INF)


def drawn(name: str, shape: tuple[int, ...] = ()) -> FieldArray:
    return D.draw(Input(name, tuple("abc"[: len(shape)])), shape, 0)


X, Y, Z = (drawn(n) for n in "xyz")
UNDEF = D.apply(Fn.DIV, (X, ZERO))


def f(fn: Fn, *args: FieldArray) -> FieldArray:
    return D.apply(fn, args)


def same(a: FieldArray, b: FieldArray) -> bool:
    """Equal wherever known, and known somewhere."""
    difference, counts = compared(D.functions, a, b)
    return difference is None and bool(counts.all())


def state(a: FieldArray) -> int:
    (tag,) = {int(t) for t in a.tag.ravel()}
    return tag


def test_every_function_has_a_meaning():
    assert set(field.MEANING) == set(Fn)
    left = {Fn.MAX, Fn.MIN, Fn.WHERE}
    assert set(terms._MAKE) | left == set(Fn)


LAWS = {
    "add commutes": (f(Fn.ADD, X, Y), f(Fn.ADD, Y, X)),
    "distribution": (
        f(Fn.MUL, X, f(Fn.ADD, Y, Z)),
        f(Fn.ADD, f(Fn.MUL, X, Y), f(Fn.MUL, X, Z)),
    ),
    "quotient": (f(Fn.MUL, f(Fn.DIV, X, Y), Y), X),
    "exp of a sum": (f(Fn.EXP, f(Fn.ADD, X, Y)), f(Fn.MUL, f(Fn.EXP, X), f(Fn.EXP, Y))),
    "exp2": (f(Fn.EXP2, f(Fn.MUL, X, D.named(Constant.LOG2E))), f(Fn.EXP, X)),
    "ln 2": (f(Fn.MUL, D.named(Constant.LOG2E), D.named(Constant.LN2)), ONE),
    "nested exp": (f(Fn.EXP, f(Fn.EXP, X)), f(Fn.EXP, f(Fn.EXP, f(Fn.ADD, X, ZERO)))),
    "log of exp": (f(Fn.LOG, f(Fn.EXP, X)), X),
    "exp of log": (f(Fn.EXP, f(Fn.LOG, X)), X),
    "exp2 of log2": (f(Fn.EXP2, f(Fn.LOG2, f(Fn.EXP, X))), f(Fn.EXP, X)),
    "log of a product": (
        f(Fn.LOG, f(Fn.MUL, X, Y)),
        f(Fn.ADD, f(Fn.LOG, X), f(Fn.LOG, Y)),
    ),
    "minus a logarithm": (f(Fn.LOG, f(Fn.DIV, ONE, X)), f(Fn.SUB, ZERO, f(Fn.LOG, X))),
    "root of a square number": (f(Fn.SQRT, D.constant(Fraction(9, 4))), D.constant(Fraction(3, 2))),
    "root of a number": (
        f(Fn.MUL, f(Fn.SQRT, D.constant(Fraction(5))), f(Fn.RSQRT, D.constant(Fraction(5)))),
        ONE,
    ),
    "root of an exponential": (
        f(Fn.SQRT, f(Fn.EXP, X)),
        f(Fn.EXP, f(Fn.MUL, X, D.constant(Fraction(1, 2)))),
    ),
    "root of pi": (
        f(Fn.MUL, f(Fn.SQRT, D.named(Constant.PI)), f(Fn.SQRT, D.named(Constant.PI))),
        D.named(Constant.PI),
    ),
    "sigmoid": (
        f(Fn.ADD, f(Fn.SIGMOID, X), f(Fn.SIGMOID, f(Fn.SUB, ZERO, X))),
        ONE,
    ),
    "tanh is odd": (f(Fn.TANH, f(Fn.SUB, X, Y)), f(Fn.SUB, ZERO, f(Fn.TANH, f(Fn.SUB, Y, X)))),
    "max associates": (
        f(Fn.MAX, f(Fn.MAX, X, Y), Z),
        f(Fn.MAX, X, f(Fn.MAX, Z, Y)),
    ),
    "max of one": (f(Fn.MAX, X, X), X),
    "max with -inf": (f(Fn.MAX, X, NEGATIVE), X),
    "min with +inf": (f(Fn.MIN, X, POSITIVE), X),
    "exp at -inf": (f(Fn.EXP, NEGATIVE), ZERO),
    "0 times x": (f(Fn.MUL, ZERO, X), ZERO),
    "x over inf": (f(Fn.DIV, X, POSITIVE), ZERO),
    "sigmoid at -inf": (f(Fn.SIGMOID, NEGATIVE), ZERO),
    "sigmoid at +inf": (f(Fn.SIGMOID, POSITIVE), ONE),
    "tanh at -inf": (f(Fn.TANH, NEGATIVE), D.constant(Fraction(-1))),
    "erf at +inf": (f(Fn.ERF, POSITIVE), ONE),
    "erf at 0": (f(Fn.ERF, ZERO), ZERO),
    "abs of -inf": (f(Fn.ABS, NEGATIVE), POSITIVE),
    "abs twice": (f(Fn.ABS, f(Fn.ABS, X)), f(Fn.ABS, f(Fn.SUB, ZERO, X))),
    "max of absolute values is positive": (
        f(Fn.ABS, f(Fn.MAX, f(Fn.ABS, X), f(Fn.ABS, Y))),
        f(Fn.MAX, f(Fn.ABS, Y), f(Fn.ABS, X)),
    ),
    "where selects": (f(Fn.WHERE, f(Fn.EQ, NEGATIVE, NEGATIVE), X, UNDEF), X),
    "log 1": (f(Fn.LOG, ONE), ZERO),
    "int arithmetic": (
        f(Fn.SUB, D.constant(Fraction(3)), D.constant(Fraction(5))),
        D.constant(Fraction(-2)),
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_law(name):
    assert same(*LAWS[name])


FALSE = {
    "nested exponentials": (f(Fn.EXP, f(Fn.EXP, X)), f(Fn.EXP, f(Fn.EXP, Y))),
    "exp is not linear": (f(Fn.EXP, f(Fn.ADD, X, Y)), f(Fn.ADD, f(Fn.EXP, X), f(Fn.EXP, Y))),
    "bases": (f(Fn.EXP, X), f(Fn.EXP2, X)),
    "max of other sets": (f(Fn.MAX, X, Y), f(Fn.MAX, X, Z)),
    "max and min": (f(Fn.MAX, X, Y), f(Fn.MIN, X, Y)),
    "tanh and erf": (f(Fn.TANH, X), f(Fn.ERF, X)),
    "abs": (f(Fn.ABS, X), X),
    "logarithms": (f(Fn.LOG, X), f(Fn.LOG, Y)),
    "logarithm bases": (f(Fn.LOG, f(Fn.EXP, X)), f(Fn.LOG2, f(Fn.EXP, X))),
    "constants": (D.named(Constant.PI), D.named(Constant.LOG2E)),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_is_not_equal_differs(name):
    difference, _ = compared(D.functions, *FALSE[name])
    assert difference is not None


STATES = {
    "-inf - -inf": (f(Fn.SUB, NEGATIVE, NEGATIVE), UNDEFINED),
    "inf + x": (f(Fn.ADD, POSITIVE, X), POS),
    "0 * inf": (f(Fn.MUL, ZERO, POSITIVE), UNDEFINED),
    "0 * undefined": (f(Fn.MUL, ZERO, UNDEF), UNDEFINED),
    "x / 0": (UNDEF, UNDEFINED),
    "0 / 0": (f(Fn.DIV, ZERO, ZERO), UNDEFINED),
    "exp(inf)": (f(Fn.EXP, POSITIVE), POS),
    "log 0": (f(Fn.LOG, ZERO), NEG),
    "log(-inf)": (f(Fn.LOG, NEGATIVE), UNDEFINED),
    "sqrt(-inf)": (f(Fn.SQRT, NEGATIVE), UNDEFINED),
    "rsqrt 0": (f(Fn.RSQRT, ZERO), UNDEFINED),
    "-2 * -inf": (f(Fn.MUL, D.constant(Fraction(-2)), NEGATIVE), POS),
    "max(x, inf)": (f(Fn.MAX, X, POSITIVE), POS),
    "max(x, undefined)": (f(Fn.MAX, X, UNDEF), UNDEFINED),
    "max(-inf, -inf)": (f(Fn.MAX, NEGATIVE, NEGATIVE), NEG),
    "where(undefined)": (f(Fn.WHERE, f(Fn.EQ, UNDEF, X), X, X), UNDEFINED),
    "exp(x)": (f(Fn.EXP, X), FINITE),
}


@pytest.mark.parametrize("name", STATES)
def test_state(name):
    value, expected = STATES[name]
    assert state(value) == expected


def test_too_deep_is_unknown():
    shallow = FieldDomain(0, levels=2, rounds=4)
    x = shallow.draw(Input("x", ()), (), 0)
    deep = shallow.apply(Fn.EXP, [shallow.apply(Fn.EXP, [x])])
    difference, counts = compared(shallow.functions, deep, deep)
    assert difference is None
    assert counts.sum() == 0


def test_integers_compare_exactly():
    i, three = D.integers(0, 6), D.full((6,), Fraction(3))
    less = f(Fn.LT, i, three)
    assert less.truth is not None
    assert less.truth[0].tolist() == [True, True, True, False, False, False]
    assert not less.doubts


def test_an_exact_zero_is_told_from_an_accident():
    empty = D.fold(Fn.ADD, f(Fn.EXP, D.full((3,), -INF)), 0)
    guard = f(Fn.EQ, empty, ZERO)
    other = f(Fn.EQ, f(Fn.EXP, X), ZERO)
    assert guard.truth is not None
    assert guard.truth.all()
    assert other.truth is not None
    assert not other.truth.any()
    assert not guard.doubts | other.doubts


def test_comparisons_of_data_agree_with_one_another():
    less, more = f(Fn.LT, X, Y), f(Fn.LT, Y, X)
    reverse = f(Fn.NOT, f(Fn.LE, Y, X))
    assert less.truth is not None
    assert more.truth is not None
    assert reverse.truth is not None
    assert (less.truth != more.truth).all()
    assert (less.truth == reverse.truth).all()
    assert less.doubts


def test_what_is_unknown_decides_nothing():
    """A condition about values that are too deep must not look equal to another one."""
    shallow = FieldDomain(0, levels=1, rounds=4)
    x, y = (shallow.draw(Input(n, ()), (), 0) for n in "xy")
    zero = shallow.constant(Fraction(0))
    chosen = [
        shallow.apply(
            Fn.WHERE,
            [
                shallow.apply(Fn.LT, [shallow.apply(Fn.EXP, [v]), shallow.constant(Fraction(1))]),
                x,
                zero,
            ],
        )
        for v in (x, y)
    ]
    _, counts = compared(shallow.functions, *chosen)
    assert counts.sum() == 0


@pytest.mark.parametrize("fn", [Fn.ADD, Fn.MUL, Fn.MAX, Fn.MIN])
def test_a_fold_is_its_function_again_and_again(fn):
    a = drawn("a", (2, 3))
    folded = D.fold(fn, a, 1)
    parts = [D.reshape(D.slice(a, 1, i, i + 1), (2,)) for i in range(3)]
    assert same(folded, f(fn, f(fn, parts[2], parts[0]), parts[1]))
    assert same(D.fold(fn, D.slice(a, 1, 0, 0), 1), D.full((2,), fn.unit))


@pytest.mark.parametrize("fn", [Fn.ADD, Fn.MAX, Fn.MIN])
def test_folds_of_integers_are_exact(fn):
    folded = D.fold(fn, D.integers(2, 6), 0)
    assert folded.kind is Kind.INT
    assert D.integer(folded) == {Fn.ADD: 14, Fn.MAX: 5, Fn.MIN: 2}[fn]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=6),
    st.lists(st.integers(0, 5), min_size=1, max_size=6),
)
def test_maxima_depend_on_sets_alone(left, right):
    a = drawn("a", (6,))
    one, two = (
        D.fold(Fn.MAX, D.join([D.slice(a, 0, i, i + 1) for i in places], 0), 0)
        for places in (left, right)
    )
    assert same(one, two) == (set(left) == set(right))
    assert same(f(Fn.MAX, one, two), f(Fn.MAX, two, one))


@settings(max_examples=40, deadline=None)
@given(st.fractions(max_denominator=50), st.fractions(max_denominator=50))
def test_numbers_are_computed_as_fractions_are(a, b):
    x, y = D.constant(a), D.constant(b)
    assert same(f(Fn.ADD, x, y), D.constant(a + b))
    assert same(f(Fn.MUL, x, y), D.constant(a * b))
    assert same(f(Fn.SUB, x, y), D.constant(a - b))
    if b:
        assert same(f(Fn.DIV, x, y), D.constant(a / b))


def test_shapes():
    a = drawn("a", (2, 3))
    assert D.shape(D.transpose(a, (1, 0))) == (3, 2)
    assert same(D.transpose(D.transpose(a, (1, 0)), (1, 0)), a)
    halves = [D.slice(a, 1, 0, 1), D.slice(a, 1, 1, 3)]
    assert same(D.join(halves, 1), a)
    assert same(D.reshape(D.reshape(a, (2, 1, 3)), (2, 3)), a)
    assert same(D.contract(a, a, 1), D.fold(Fn.ADD, f(Fn.MUL, a, a), 1))


def test_powers_agree_with_python():
    tower = D.tower
    base = np.array([[5]] * tower.rounds, np.uint64)
    exponent = np.array([[123456789]] * tower.rounds, np.uint64)
    found = tower.power(0, base, exponent)
    assert [int(v) for v in found[:, 0]] == [pow(5, 123456789, c[0]) for c in tower.chains]
