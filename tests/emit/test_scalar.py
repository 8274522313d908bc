from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from superopt.emit.number import python_number
from superopt.emit.runtime import ARITHMETIC
from superopt.emit.scalar import FOLDS
from superopt.emit.scalar import HELPERS
from superopt.emit.scalar import PYTHON
from superopt.emit.scalar import TORCH
from superopt.emit.scalar import TRITON
from superopt.emit.scalar import VALUES
from superopt.emit.scalar import numeral
from superopt.errors import NotEmittable
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind

WORLD: dict[str, object] = {"math": math}
for text in ARITHMETIC.values():
    exec(text, WORLD)  # the very text that kernel files hold
WORLD |= {name.value: SimpleNamespace(value=float(value)) for name, value in VALUES.items()}


@pytest.mark.parametrize("table", [TRITON, PYTHON, TORCH], ids=["triton", "python", "torch"])
def test_every_function_has_a_text(table: dict[Fn, str]) -> None:
    assert set(table) == set(Fn)


def test_every_fold_and_constant_has_a_text() -> None:
    assert set(FOLDS) == {fn for fn in Fn if fn.is_fold}
    assert set(VALUES) == set(Constant)
    assert float(VALUES[Constant.LOG2E]) == math.log2(math.e)
    assert float(VALUES[Constant.LN2]) == math.log(2)
    assert float(VALUES[Constant.PI]) == math.pi


def evaluated(node: Node) -> object:
    text = python_number(node, {"n": "7", "zero": "0"}, {"scale": "0.25"})
    return eval(text, WORLD)


POINTS = (Fraction(3, 7), Fraction(-5, 2), Fraction(0), Fraction(900))


@pytest.mark.parametrize("fn", [f for f in Fn if f not in (Fn.AND, Fn.OR, Fn.NOT, Fn.WHERE)])
def test_launcher_arithmetic_is_that_of_the_domain(fn: Fn) -> None:
    domain = FloatDomain(np.float64)
    for first in POINTS:
        for second in POINTS if fn.value.arity == 2 else (Fraction(0),):
            values = (first, second)[: fn.value.arity]
            node = Map(fn, tuple(Const(v) for v in values))
            with np.errstate(all="ignore"):
                wanted = domain.apply(fn, [domain.constant(v) for v in values])
            if (fn is Fn.EXP2 and first < 0) or (fn is Fn.DIV and 0 in values):
                continue  # see below
            np.testing.assert_allclose(float(evaluated(node)), float(wanted), rtol=1e-14)


def test_launcher_arithmetic_never_raises() -> None:
    size, zero = Size("n"), Size("zero")
    assert evaluated(Map(Fn.DIV, (size, zero))) == INF
    assert math.isnan(evaluated(Map(Fn.DIV, (zero, zero))))  # type: ignore[arg-type]
    assert evaluated(Map(Fn.RSQRT, (zero,))) == INF
    assert evaluated(Map(Fn.LOG, (zero,))) == -INF
    assert evaluated(Map(Fn.EXP, (Const(Fraction(10000)),))) == INF
    assert evaluated(Map(Fn.EXP, (Const(-INF),))) == 0


def test_nesting_keeps_its_meaning() -> None:
    n, scale = Size("n"), Scalar("scale")
    minus = Map(Fn.SUB, (n, Map(Fn.SUB, (scale, Const(Fraction(1, 3))))))
    assert evaluated(minus) == 7 - (0.25 - 1 / 3)
    assert evaluated(Map(Fn.MUL, (minus, Named(Constant.LN2)))) == (7 - (0.25 - 1 / 3)) * math.log(
        2
    )
    less = Map(Fn.NOT, (Map(Fn.LT, (n, Const(Fraction(-3)))),))
    assert evaluated(Map(Fn.WHERE, (less, n, scale))) == 7
    with pytest.raises(NotEmittable, match="Index is no number"):
        evaluated(Index("n"))


def test_numerals_are_exact() -> None:
    assert Const(Fraction(3)).kind is Kind.INT
    assert numeral(Fraction(3)) == "3.0"
    assert numeral(Fraction(3), real=False) == "3"
    assert numeral(Fraction(1, 100000)) == "1e-05"
    assert numeral(Fraction(1, 3)) == "(1 / 3)"
    assert numeral(-INF) == 'float("-inf")'


def approximated(name: str, x: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """The text of a helper, executed in float32 with a rounding behind every operation."""

    def least(a, b, propagate_nan):
        return np.minimum(a, np.float32(b))

    def greatest(a, b, propagate_nan):
        return np.maximum(a, np.float32(b))

    words = SimpleNamespace(
        abs=np.abs,
        where=np.where,
        minimum=least,
        maximum=greatest,
        exp2=np.exp2,
        rsqrt=lambda v: np.float32(1) / np.sqrt(v),
        PropagateNan=SimpleNamespace(ALL="all"),
    )
    world = {"tl": words, "triton": SimpleNamespace(jit=lambda f: f), "LOG2E": math.log2(math.e)}
    exec(HELPERS[name], world)
    with np.errstate(all="ignore"):
        return world[name](x.astype(np.float32))


@pytest.mark.parametrize(
    ("name", "meaning", "units", "reach"),
    [
        ("_erf", math.erf, 4, 80.0),
        ("_tanh", math.tanh, 4, 80.0),
        ("_sigmoid", lambda v: 1 / (1 + math.exp(-v)), 16, 12.0),
    ],
)
def test_helpers_are_near_what_they_approximate(name, meaning, units, reach):
    """To so many units in the last place, and never beyond 1."""
    far = np.logspace(-35, math.log10(reach), 4001)
    points = np.concatenate([np.linspace(-12, 12, 48001), far, -far, [0.0]]).astype(np.float32)
    found = approximated(name, points)
    assert found.dtype == np.float32
    wanted = np.array([meaning(float(v)) for v in points])
    near = np.abs(found - wanted) <= units * 2.0**-23 * np.abs(wanted)
    assert near.all(), (points[~near][:3], found[~near][:3], wanted[~near][:3])
    assert np.abs(found).max() <= 1.0


@pytest.mark.parametrize(("name", "low"), [("_erf", -1.0), ("_tanh", -1.0), ("_sigmoid", 0.0)])
def test_helpers_reach_their_limits_and_keep_nan(name, low):
    ends = np.array([-np.inf, -1e30, -1000, 1000, 1e30, np.inf, np.nan])
    found = approximated(name, ends)
    assert found[:6].tolist() == [low] * 3 + [1.0] * 3
    assert np.isnan(found[6])
