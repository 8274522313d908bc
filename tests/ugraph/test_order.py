"""Lists of increasing functions of a value: which layers are taken off, and that it is right."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import z3

from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.order import INCREASING
from superopt.ugraph.order import ranked
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo

X = Input("x", ("m", "n"), "fp32")
Y = Input("y", ("m",), "fp32")
ZERO, ONE = Const(Fraction(0)), Const(Fraction(1))
PEAK = Reduce(Fn.MAX, "n", X)
FINITE_PEAK = Map(Fn.WHERE, (Map(Fn.EQ, (PEAK, Const(float("-inf")))), ZERO, PEAK))
POWERS = Map(Fn.EXP, (Map(Fn.SUB, (X, FINITE_PEAK)),))
TOTAL = Reduce(Fn.ADD, "n", POWERS)
SAFE = Map(Fn.WHERE, (Map(Fn.EQ, (TOTAL, ZERO)), ONE, TOTAL))
SOFTMAX = Map(Fn.DIV, (POWERS, SAFE))


def lists(value: Node) -> list[Node]:
    """Both halves of the list of ``value`` along n."""
    return [Best("n", "t", "n", (value, Index("n")), at) for at in (False, True)]


RIGHT = {
    "softmax": SOFTMAX,
    "exp": Map(Fn.EXP, (X,)),
    "a bias of the row": Map(Fn.ADD, (Y, X)),
    "a positive scale": Map(Fn.MUL, (X, Map(Fn.EXP, (Y,)))),
    "a curve of a difference": Map(Fn.SIGMOID, (Map(Fn.SUB, (X, Y)),)),
}
LEFT = {
    "a scale of unknown sign": Map(Fn.MUL, (X, Y)),
    "a bias along the axis": Map(Fn.ADD, (X, Input("z", ("n",), "fp32"))),
    "a square": Map(Fn.MUL, (X, X)),
    "a decreasing difference": Map(Fn.SUB, (Y, X)),
    "a rounding": Map(Fn.ROUND_E4M3, (X,)),
    "a maximum": Map(Fn.MAX, (X, ZERO)),
    "a quotient by a sum that may be zero": Map(Fn.DIV, (X, TOTAL)),
    "a sum with what may be infinite": Map(Fn.SUB, (X, PEAK)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_the_argument_is_ranked(name):
    for node in lists(RIGHT[name]):
        found = [n for n in topo([ranked(node)]) if isinstance(n, Best)]
        assert found
        assert all(n.args[0] is X for n in found)


@pytest.mark.parametrize("name", LEFT)
def test_what_is_not_strictly_increasing_is_left_alone(name):
    for node in lists(LEFT[name]):
        assert ranked(node) is node


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("length", [0, 1, 5])
def test_the_value_stays_the_same(name, length):
    rng = np.random.default_rng(1)
    x = rng.choice([-1.0, 0.0, 0.5, 2.0], (6, length))
    x[0] = -np.inf
    x[1, : length // 2] = -np.inf
    x[2, length // 2 :] = np.nan
    known = {X: x, Y: rng.standard_normal(6)}
    sizes = {"m": 6, "n": length, "t": 3}
    for node in lists(RIGHT[name]):
        with np.errstate(all="ignore"):
            before = evaluate_node(node, FloatDomain(), known, sizes)
            after = evaluate_node(ranked(node), FloatDomain(), known, sizes)
        np.testing.assert_allclose(after, before, rtol=1e-14)


def test_every_layer_keeps_the_order_of_reals():
    """For sums and products by the solver; dropping the side condition gives a counterexample."""
    a, b, c = z3.Reals("a b c")
    solver = z3.Solver()
    for f, condition in (
        (lambda x: x + c, True),
        (lambda x: x - c, True),
        (lambda x: x * c, c > 0),
        (lambda x: x / c, c > 0),
    ):
        claim = z3.And(condition, (a < b) != (f(a) < f(b)))
        assert solver.check(claim) == z3.unsat
    assert solver.check((a < b) != (a * c < b * c)) == z3.sat


def test_every_curve_has_a_positive_slope():
    """The others are known curves, of which the derivative is a positive function."""
    sympy = pytest.importorskip("sympy")
    x = sympy.Symbol("x", real=True)
    curves = {
        Fn.EXP: sympy.exp(x),
        Fn.EXP2: sympy.Pow(2, x),
        Fn.SIGMOID: 1 / (1 + sympy.exp(-x)),
        Fn.TANH: (sympy.exp(x) - sympy.exp(-x)) / (sympy.exp(x) + sympy.exp(-x)),
        Fn.ERF: sympy.erf(x),
    }
    assert set(curves) == set(INCREASING)
    for curve in curves.values():
        assert sympy.factor(sympy.simplify(sympy.diff(curve, x))).is_positive
