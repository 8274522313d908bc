"""What the solver is told about functions: enough to refute what is false, and no more."""

from __future__ import annotations

import pytest
import z3

from superopt.ugraph.grids import GRIDS
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.verify.reals.cases import Path
from superopt.verify.reals.ground import SIDE_RLIMIT
from superopt.verify.reals.ground import as_float
from superopt.verify.reals.ground import expression
from superopt.verify.reals.ground import feasible
from superopt.verify.reals.ground import solver_of
from superopt.verify.reals.ground import variable

X, Y = (Input(name, (), "fp32") for name in "xy")
N = Size("n")


def asked(*nodes):
    """A solver that knows ``nodes``, and the value of each in it."""
    path = Path((), (), (), feasible, [])
    values = [path.value(n) for n in nodes]
    return solver_of(path, SIDE_RLIMIT), [expression(v.top) for v in values]


def possible(solver, *claims):
    solver.push()
    solver.add(*claims)
    found = solver.check()
    solver.pop()
    assert found != z3.unknown
    return found == z3.sat


def test_an_exponential_is_positive_and_compares_with_one_as_its_exponent_with_zero():
    solver, (x, power) = asked(X, Map(Fn.EXP2, (X,)))
    assert not possible(solver, power <= 0)
    assert not possible(solver, x < 0, power >= 1)
    assert not possible(solver, x > 0, power <= 1)
    assert possible(solver, x < 0, power < 1)


@pytest.mark.parametrize("fn", GRIDS, ids=lambda fn: fn.symbol)
def test_a_rounding_keeps_the_order_and_the_ends_of_its_grid(fn):
    solver, (x, y, a, b) = asked(X, Y, Map(fn, (X,)), Map(fn, (Y,)))
    assert not possible(solver, x > y, a < b)
    assert not possible(solver, x == y, a != b)
    assert possible(solver, x > y, a == b)
    assert not possible(solver, a > z3.RealVal(GRIDS[fn].largest))
    assert not possible(solver, x >= 0, a < 0)


def test_equal_arguments_give_equal_values_and_others_may():
    solver, (x, y, a, b) = asked(X, Y, Map(Fn.ERF, (X,)), Map(Fn.ERF, (Y,)))
    assert not possible(solver, x == y, a != b)
    assert possible(solver, x != y, a != b)


def test_a_size_is_not_negative_and_a_leaf_may_be():
    solver, (n, x) = asked(N, X)
    assert not possible(solver, n < 0)
    assert possible(solver, x < 0, n == 0)


def test_numbers_of_models():
    solver, (x,) = asked(X)
    solver.add(x * x == 2, x > 0)
    assert solver.check() == z3.sat
    assert as_float(solver.model().eval(variable(0))) == pytest.approx(2**0.5)
    assert as_float(z3.RealVal("-3/4")) == -0.75
