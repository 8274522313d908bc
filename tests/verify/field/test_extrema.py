"""Maxima of moved and scaled values: which laws are used, and that no other one is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.verify.field.compare import compared
from superopt.verify.field.domain import FieldDomain
from superopt.verify.field.extrema import EITHER
from superopt.verify.field.graphs import verify_graph
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import accepted
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import largest
from tests.samples import mul
from tests.samples import num
from tests.samples import rsqrt
from tests.samples import sub
from tests.samples import total
from tests.verify.field.plain import plain
from tests.verify.field.plain import program

A = Input("a", ("i", "k"))
B = Input("b", ("i", "k"))
X = Input("x", ("i",))
Y = Input("y", ("i",))
SCALE = Scalar("scale")


def absolute(x: Node) -> Node:
    return Map(Fn.ABS, (x,))


def smallest(axis: str, x: Node) -> Node:
    return Reduce(Fn.MIN, axis, x)


def larger(x: Node, y: Node) -> Node:
    return Map(Fn.MAX, (x, y))


def smaller(x: Node, y: Node) -> Node:
    return Map(Fn.MIN, (x, y))


def softplus(x: Node) -> Node:
    return Map(Fn.LOG, (add(num(1), exp(x)),))


def negated(x: Node) -> Node:
    return mul(num(-1), x)


def root(axis: str) -> Node:
    return rsqrt(Size(axis))


def one_more(scores: Node, largest_of_all: Node, scale: Node) -> Node:
    """The sum of a softmax that has one more score, 0, in the place of a stabiliser."""
    most = larger(largest_of_all, num(0))
    shifted = exp(sub(mul(scores, scale), most))
    return div(total("k", shifted), add(total("k", shifted), exp(negated(most))))


LOG2E = Named(Constant.LOG2E)
BITS = mul(root("k"), LOG2E)
MEAN = div(total("k", A), Size("k"))
NORM = rsqrt(add(div(total("k", mul(A, A)), Size("k")), num(Fraction(1, 1000))))

LAWS: dict[str, tuple[Node, Node]] = {
    "a shift": (largest("k", add(A, X)), add(largest("k", A), X)),
    "a shift of a minimum": (smallest("k", sub(A, X)), sub(smallest("k", A), X)),
    "a constant factor": (largest("k", mul(A, num(6))), mul(num(6), largest("k", A))),
    "a positive factor": (largest("k", mul(A, exp(X))), mul(exp(X), largest("k", A))),
    "a square": (largest("k", mul(A, mul(X, X))), mul(mul(X, X), largest("k", A))),
    "a factor and a shift": (
        largest("k", add(mul(A, exp(X)), Y)),
        add(mul(largest("k", A), exp(X)), Y),
    ),
    "the norm of a row": (largest("k", mul(A, NORM)), mul(largest("k", A), NORM)),
    "the largest size of a normalised row": (
        largest("k", absolute(mul(A, NORM))),
        mul(NORM, largest("k", absolute(A))),
    ),
    "the largest size of any multiple": (
        largest("k", absolute(mul(A, X))),
        mul(absolute(X), largest("k", absolute(A))),
    ),
    "negation": (largest("k", negated(A)), negated(smallest("k", A))),
    "sizes by both ends": (
        largest("k", absolute(sub(A, MEAN))),
        larger(sub(largest("k", A), MEAN), add(MEAN, largest("k", negated(A)))),
    ),
    "sizes by both ends, scaled": (
        largest("k", absolute(mul(sub(A, MEAN), NORM))),
        larger(
            mul(sub(largest("k", A), MEAN), NORM),
            mul(add(MEAN, largest("k", negated(A))), NORM),
        ),
    ),
    "a maximum of moved maxima": (
        larger(add(largest("k", A), X), add(largest("k", B), X)),
        add(largest("k", larger(A, B)), X),
    ),
    "a shift by the smaller of two": (
        largest("k", add(A, smaller(X, Y))),
        add(largest("k", A), smaller(X, Y)),
    ),
    "a shift by a logarithm": (
        largest("k", add(A, softplus(X))),
        add(largest("k", A), softplus(X)),
    ),
    "a maximum that moves in an exponent": (
        total("k", exp(sub(A, largest("k", A)))),
        total("k", exp(sub(add(A, X), largest("k", add(A, X))))),
    ),
    "a maximum that moves by a logarithm, in an exponent": (
        add(exp(largest("k", add(A, smaller(softplus(X), Y)))), Y),
        add(exp(add(largest("k", A), smaller(softplus(X), Y))), Y),
    ),
    "a constant that is scaled along": (
        largest("k", larger(mul(A, num(6)), num(18))),
        mul(num(6), larger(largest("k", A), num(3))),
    ),
    "zero beside a maximum that is scaled, in an exponent": (
        one_more(A, mul(root("k"), largest("k", A)), root("k")),
        one_more(A, largest("k", mul(A, root("k"))), root("k")),
    ),
    "zero beside a maximum in other units": (
        exp(negated(larger(largest("k", mul(A, root("k"))), num(0)))),
        Map(Fn.EXP2, (negated(larger(mul(largest("k", A), BITS), num(0))),)),
    ),
    "a constant in other units": (
        exp(negated(larger(largest("k", A), num(3)))),
        Map(Fn.EXP2, (negated(larger(mul(largest("k", A), LOG2E), mul(num(3), LOG2E))),)),
    ),
    "the larger of two in an exponent": (
        mul(exp(larger(X, Y)), exp(smaller(X, Y))),
        exp(add(X, Y)),
    ),
    "two values": (
        larger(X, Y),
        div(add(add(X, Y), absolute(sub(X, Y))), num(2)),
    ),
    "the larger and the smaller": (add(larger(X, Y), Map(Fn.MIN, (X, Y))), add(X, Y)),
}

NOT_LAWS: dict[str, tuple[Node, Node]] = {
    "a factor of unknown sign": (largest("k", mul(A, X)), mul(X, largest("k", A))),
    "a scalar of unknown sign": (largest("k", mul(A, SCALE)), mul(SCALE, largest("k", A))),
    "a negative factor": (largest("k", mul(A, num(-2))), mul(num(-2), largest("k", A))),
    "a product of maxima": (largest("k", mul(A, B)), mul(largest("k", A), largest("k", B))),
    "a sum of maxima": (largest("k", add(A, B)), add(largest("k", A), largest("k", B))),
    "a shift along the axis": (largest("k", sub(A, B)), sub(largest("k", A), largest("k", B))),
    "the root of a maximum of squares": (
        largest("k", A),
        Map(Fn.SQRT, (largest("k", mul(A, A)),)),
    ),
    "sizes by one end": (largest("k", absolute(A)), larger(largest("k", A), smallest("k", A))),
    "a size for a value": (largest("k", absolute(A)), largest("k", A)),
    "another shift": (largest("k", add(A, X)), add(largest("k", A), Y)),
    "a shift before a factor": (
        largest("k", mul(add(A, Y), exp(X))),
        add(mul(largest("k", A), exp(X)), Y),
    ),
    "another logarithm": (
        largest("k", add(A, softplus(X))),
        add(largest("k", A), softplus(Y)),
    ),
    "a shift by the larger of two": (
        largest("k", add(A, smaller(X, Y))),
        add(largest("k", A), larger(X, Y)),
    ),
    "a maximum that moves in an exponent by something else": (
        total("k", exp(sub(A, largest("k", A)))),
        total("k", exp(sub(add(A, X), largest("k", add(A, Y))))),
    ),
    "a maximum of multiples in an exponent": (
        exp(largest("k", add(mul(A, num(2)), X))),
        exp(add(largest("k", A), X)),
    ),
    "another constant beside a maximum that is scaled": (
        exp(negated(larger(largest("k", mul(A, root("k"))), num(0)))),
        Map(Fn.EXP2, (negated(larger(mul(largest("k", A), BITS), num(1))),)),
    ),
    "a constant that is not scaled along": (
        exp(negated(larger(largest("k", A), num(3)))),
        Map(Fn.EXP2, (negated(larger(mul(largest("k", A), LOG2E), num(3))),)),
    ),
    "a negative factor beside zero": (
        exp(larger(mul(num(-1), largest("k", A)), num(0))),
        exp(mul(num(-1), larger(largest("k", A), num(0)))),
    ),
    "a factor of unknown sign beside zero, in an exponent": (
        exp(larger(mul(X, largest("k", A)), num(0))),
        exp(mul(X, larger(largest("k", A), num(0)))),
    ),
    "zero for a maximum in an exponent": (
        exp(larger(largest("k", A), num(0))),
        exp(largest("k", A)),
    ),
    "the larger of two for the smaller in an exponent": (
        mul(exp(larger(X, Y)), exp(smaller(X, Y))),
        mul(exp(larger(X, Y)), exp(larger(X, Y))),
    ),
    "a sign that counts inside and outside of an exponent": (
        mul(sub(larger(X, negated(X)), X), sub(exp(larger(X, negated(X))), exp(X))),
        num(0),
    ),
    "max for min": (largest("k", add(A, X)), add(smallest("k", A), X)),
    "the middle of two": (larger(X, Y), div(add(X, Y), num(2))),
    "the sign forgotten": (larger(X, Y), X),
    "a sum of absolute values": (
        absolute(add(X, Y)),
        add(absolute(X), absolute(Y)),
    ),
    "the mean for the maximum": (largest("k", A), MEAN),
    "a factor on one half": (
        larger(mul(largest("k", A), exp(X)), largest("k", B)),
        mul(exp(X), largest("k", larger(A, B))),
    ),
}


def verdict(pair: tuple[Node, Node], seed: int) -> Verdict:
    spec, other = pair
    both = program(spec, other)
    meaning = Program("p", both.params, program(spec).outputs)
    store = Store("out0", meaning.outputs[0].order, None, other)
    return verify_graph(meaning, plain(Program("p", both.params, (store,))), seed)


@pytest.mark.parametrize("name", LAWS)
def test_a_law_is_accepted(name):
    found = verdict(LAWS[name], 0)
    assert accepted(found), found


@pytest.mark.parametrize("name", NOT_LAWS)
@pytest.mark.parametrize("seed", [0, 3])
def test_what_is_no_law_is_not_accepted(name, seed):
    assert isinstance(verdict(NOT_LAWS[name], seed), Refuted | Unknown)


@pytest.mark.parametrize("name", LAWS)
def test_a_law_is_one_of_floats(name):
    """The table itself: in float64 both sides are equal."""
    rng = np.random.default_rng(0)
    domain = FloatDomain()
    meaning = program(*LAWS[name])
    arrays = {
        p.name: domain.array(rng.standard_normal((2, 3) if "k" in p.axes else (2,)))
        for p in meaning.params
    }
    left, right = evaluate_program(meaning, domain, arrays, {"i": 2, "k": 3}).values()
    assert np.allclose(np.asarray(left), np.asarray(right), rtol=1e-12)


numbers = st.lists(st.integers(-5, 5), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(numbers, st.integers(-4, 4), st.sampled_from([1, 2, 3, 6, 12]))
def test_a_maximum_moves_with_its_arguments(values, shift, factor):
    d = FieldDomain(5, levels=2, rounds=4, equivariant=EITHER)
    x = d.functions.exp(d.draw(Input("x", ("n",)), (1,), 0))  # nothing that is exact

    def row(numbers: list[int]):
        parts = [d.apply(Fn.MUL, (d.full((1,), Fraction(n)), x)) for n in numbers]
        return d.join(parts, 0)

    moved = d.fold(Fn.MAX, row([factor * v + shift for v in values]), 0)
    base = d.reshape(d.fold(Fn.MAX, row(values), 0), (1,))
    scaled = d.apply(Fn.MUL, (d.full((1,), Fraction(factor)), base))
    after = d.apply(Fn.ADD, (scaled, d.apply(Fn.MUL, (d.full((1,), Fraction(shift)), x))))
    difference, counts = compared(d.functions, d.reshape(moved, (1,)), after)
    assert difference is None
    assert counts.min() == 4
