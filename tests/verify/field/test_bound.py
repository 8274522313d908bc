"""The bound against an independent computation and against counted accidents."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.verify.field import primes
from superopt.verify.field.bound import NoBound
from superopt.verify.field.bound import RoundBound
from superopt.verify.field.bound import round_bound
from superopt.verify.field.compare import compared
from superopt.verify.field.domain import FieldDomain
from superopt.verify.field.graphs import verify_graph
from superopt.verify.field.trials import Trial
from superopt.verify.field.trials import trials
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import accepted
from tests import samples
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import softmax
from tests.samples import sub
from tests.samples import total
from tests.verify.field.plain import plain
from tests.verify.field.plain import program

X, Y, Z = (Input(n, ()) for n in "xyz")
A, B = (Input(n, ("k",)) for n in "ab")
x, y, z = sympy.symbols("x y z")
ex, ey = sympy.symbols("ex ey")  # the exponentials of x and y


def bound(left: Node, right: Node, size: int = 3) -> RoundBound | NoBound:
    both = program(left, right)
    spec = Program("p", both.params, program(left).outputs)
    store = Store("out0", spec.outputs[0].order, None, right)
    graph = plain(Program("p", both.params, (store,)))
    first = next(iter(trials(spec, graph)))
    trial = Trial("test", tuple((a, size) for a, _ in first.sizes), first.configs)
    return round_bound(spec, graph, trial, {})


# The same pair, by hand for sympy. Exponentials are variables of their own.
DEGREES = {
    "polynomial": (mul(add(X, Y), Z), mul(X, mul(Y, Z)), (x + y) * z, x * y * z),
    "quotient": (div(X, Y), div(Y, add(X, Z)), x / y, y / (x + z)),
    "sum of quotients": (add(div(X, Y), div(Z, X)), X, x / y + z / x, x),
    "nested quotient": (div(X, add(Y, div(Z, X))), Z, x / (y + z / x), z),
    "exponentials": (mul(exp(X), exp(Y)), exp(sub(X, Y)), ex * ey, ex / ey),
    "powers": (mul(exp(mul(num(3), X)), Y), exp(mul(num(-2), X)), ex**3 * y, ex**-2),
    "both": (div(exp(X), add(exp(X), exp(Y))), X, ex / (ex + ey), x),
}


@pytest.mark.parametrize("name", DEGREES)
def test_the_degree_is_at_least_that_of_the_cleared_difference(name):
    left, right, a, b = DEGREES[name]
    found = bound(left, right)
    assert isinstance(found, RoundBound)
    numerator, _ = sympy.fraction(sympy.together(a - b))
    poly = sympy.Poly(sympy.expand(numerator))
    assert found.degree >= poly.total_degree()
    assert found.degree <= 3 * poly.total_degree() + 6  # and it is not absurd
    height = math.log2(sum(abs(c) for c in poly.coeffs()))
    assert found.height >= height - 1e-9


def test_softmax_by_hand():
    """Three exponentials over their sum, times a value each, against one value."""
    found = bound(total("k", mul(softmax(A, "k"), B)), total("k", B))
    assert isinstance(found, RoundBound)
    # Numerator: an exponential and a value; below: the sum. Against: a value times that sum.
    assert found.degree >= 2
    assert found.levels == 2
    assert -31 < found.log2_miss < -20


ACCIDENTS = {
    "a product": (mul(X, Y), mul(X, Z)),
    "a square": (mul(X, X), mul(Y, Y)),
    "exponentials": (exp(X), exp(Y)),
    "a cube of an exponential": (exp(mul(num(3), X)), exp(add(X, mul(num(2), Y)))),
    "a sum of exponentials": (add(exp(X), exp(Y)), add(exp(Z), num(1))),
    "a quotient": (div(exp(X), add(exp(X), exp(Y))), div(X, Y)),
}


@pytest.mark.parametrize("name", ACCIDENTS)
def test_accidents_are_as_rare_as_said(name):
    """Over tiny primes a wrong pair is accepted now and then: never more often than bounded."""
    left, right = ACCIDENTS[name]
    both = program(left, right)
    chain = (167, 83)
    rounds = 6000
    domain = FieldDomain(0, chains=[chain] * rounds)
    arrays = {p.name: domain.draw(p, (), 0) for p in both.params}
    out = evaluate_program(both, domain, arrays, {})
    _, counts = compared(domain.functions, out["out0"], out["out1"])
    a, b = (out[n].levels[0] for n in ("out0", "out1"))
    assert a is not None
    assert b is not None
    known = np.broadcast_to(a.known & b.known, (rounds,))
    equal = float(((a.value == b.value) & known).sum() / known.sum())
    assert int(counts) == known.sum()
    found = bound(left, right)
    assert isinstance(found, RoundBound)
    deviation = 4 * math.sqrt(equal * (1 - equal) / rounds)
    assert 0 < equal - deviation <= found.degree / min(chain)


DEPENDENT = {
    "x and x^2": (add(exp(X), exp(mul(X, X))), exp(X)),
    "three functions of one input": (
        add(exp(X), exp(mul(X, mul(X, X)))),
        add(exp(mul(X, X)), num(1)),
    ),
    "x, y and a product of both": (
        add(exp(X), mul(exp(Y), exp(mul(X, Y)))),
        mul(exp(Y), exp(X)),
    ),
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_exponents_that_are_not_independent_have_no_bound(name):
    left, right, *_ = DEPENDENT[name]
    assert isinstance(bound(left, right), NoBound)
    # Not even of a pair that is equal.
    one = program(left)
    verdict = verify_graph(one, plain(one), 0)
    assert isinstance(verdict, Unknown)
    assert "depend" in verdict.why


def test_hidden_dependence_is_seen():
    """Equal exponents of different form are no independent variables."""
    left = exp(div(X, mul(Y, Z)))
    right = exp(mul(div(X, Y), div(num(1), Z)))
    found = bound(left, right)
    assert isinstance(found, RoundBound)  # the polynomials coincide
    pair = exp(div(X, add(Y, Z))), exp(mul(X, div(add(Y, Z), mul(add(Y, Z), add(Y, Z)))))
    apart = bound(*pair)
    assert isinstance(apart, RoundBound)  # only their values do: a linear relation
    assert apart.degree <= 4


def test_probabilities_that_sum_to_one_are_independent_but_for_one():
    """exp(p_1) ... exp(p_n) is e: a relation that hides in the inverse of the sum."""
    twice = softmax(softmax(A, "k"), "k")
    found = bound(twice, A)
    assert isinstance(found, RoundBound)
    assert found.levels == 3
    first = softmax(A, "k")
    product = exp(total("k", first))
    assert isinstance(bound(product, exp(num(1))), RoundBound)
    together = program(twice)
    assert accepted(verify_graph(together, plain(together), 0))


def test_a_constant_that_a_prime_may_divide_counts():
    small = bound(mul(num(2**20), X), Y)
    large = bound(mul(num(2**70), X), Y)
    assert isinstance(small, RoundBound)
    assert isinstance(large, RoundBound)
    assert small.log2_miss < large.log2_miss
    assert large.log2_miss >= math.log2(2 / primes.POOL[1]) - 1e-6


def test_signs_cost_rounds():
    found = bound(Map(Fn.ABS, (X,)), Y)
    assert isinstance(found, RoundBound)
    assert found.coins == 1
    assert found.log2_miss == pytest.approx(-1, abs=0.01)
    assert found.rounds(-60) in (61, 62)


def test_roots_are_counted():
    found = bound(mul(Map(Fn.SQRT, (X,)), Map(Fn.SQRT, (num(6),))), Y)
    assert isinstance(found, RoundBound)
    assert found.roots == 1


def test_the_bound_is_met_with_the_fewest_points_that_do():
    verdict = verify_graph(samples.attention(), samples.online_attention(), 0)
    assert isinstance(verdict, Sampled)
    assert verdict.log2_bound < -60
    strict = verify_graph(samples.attention(), samples.online_attention(), 0, log2_limit=-200)
    assert isinstance(strict, Sampled)
    assert strict.log2_bound < -200
    assert strict.points > verdict.points


HIDDEN = {
    "a root of a square": (Map(Fn.SQRT, (mul(X, X),)), 1, 1),
    "a root of a hidden square": (
        Map(Fn.SQRT, (add(mul(X, X), add(mul(Y, Y), mul(num(2), mul(X, Y)))),)),
        1,
        1,
    ),
    "roots whose product is one": (
        mul(Map(Fn.SQRT, (mul(X, Y),)), Map(Fn.SQRT, (mul(mul(X, Y), mul(Z, Z)),))),
        2,
        1,
    ),
    "independent roots": (mul(Map(Fn.SQRT, (X,)), Map(Fn.SQRT, (add(X, Y),))), 2, 0),
    "one root in two forms": (
        add(Map(Fn.SQRT, (add(X, Y),)), Map(Fn.SQRT, (mul(num(4), add(Y, X)),))),
        1,
        0,
    ),
    "roots of numbers": (mul(X, Map(Fn.SQRT, (num(6),))), 0, 0),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_signs_are_found(name):
    value, roots, coins = HIDDEN[name]
    found = bound(value, Z)
    assert isinstance(found, RoundBound)
    assert (found.roots, found.coins) == (roots, coins)
