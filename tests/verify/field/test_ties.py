"""``<`` and ``<=`` of data differ where they are equal, which a reading of ties meets."""

from __future__ import annotations

import pytest

from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.verify.field.graphs import verify_graph
from superopt.verify.field.ties import FACT
from superopt.verify.field.ties import compares_data
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Verdict
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import sub
from tests.samples import total
from tests.samples import where
from tests.verify.field.plain import plain
from tests.verify.field.plain import program

X, Y = Input("x", ("m", "n")), Input("y", ("m", "n"))
LIMIT = Input("limit", ("m",))


def less(a: Node, b: Node) -> Node:
    return Map(Fn.LT, (a, b))


def at_most(a: Node, b: Node) -> Node:
    return Map(Fn.LE, (a, b))


def negation(a: Node) -> Node:
    return Map(Fn.NOT, (a,))


def count(condition: Node) -> Node:
    return total("n", where(condition, num(1), num(0)))


def squared(x: Node) -> Node:
    return mul(x, x)


APART = squared(sub(X, Y))
SAME: dict[str, tuple[Node, Node]] = {
    "the other way round": (count(less(X, Y)), count(negation(at_most(Y, X)))),
    "a sum in another order": (count(less(add(X, Y), LIMIT)), count(less(add(Y, X), LIMIT))),
    "a threshold": (
        total("n", where(less(LIMIT, X), exp(X), num(0))),
        total("n", mul(exp(X), where(less(LIMIT, X), num(1), num(0)))),
    ),
    "zero": (count(less(X, num(0))), count(negation(at_most(num(0), X)))),
}

OTHERS: dict[str, tuple[Node, Node]] = {
    "at most for less": (count(less(X, Y)), count(at_most(X, Y))),
    "less for at most": (count(at_most(X, LIMIT)), count(less(X, LIMIT))),
    "less than zero": (count(less(X, num(0))), count(at_most(X, num(0)))),
    "of sums": (count(less(add(X, Y), LIMIT)), count(at_most(add(X, Y), LIMIT))),
    "of squares": (count(less(APART, num(1))), count(at_most(APART, num(1)))),
    "above a threshold": (
        total("n", where(less(LIMIT, X), exp(X), num(0))),
        total("n", where(at_most(LIMIT, X), exp(X), num(0))),
    ),
    "of halves": (
        count(less(div(X, num(2)), div(Y, num(2)))),
        count(at_most(div(X, num(2)), div(Y, num(2)))),
    ),
}


def verdict(pair: tuple[Node, Node]) -> Verdict:
    spec, other = pair
    both = program(spec, other)
    meaning = Program("p", both.params, program(spec).outputs)
    store = Store("out0", meaning.outputs[0].order, None, other)
    return verify_graph(meaning, plain(Program("p", both.params, (store,))), 0)


@pytest.mark.parametrize("name", SAME)
def test_the_same_order_is_accepted(name):
    found = verdict(SAME[name])
    assert isinstance(found, Sampled), found
    assert FACT in found.facts


@pytest.mark.parametrize("name", OTHERS)
def test_another_answer_at_equal_data_is_refuted(name):
    assert isinstance(verdict(OTHERS[name]), Refuted)


GUARDS = {
    "a sum that may be 0": where(Map(Fn.EQ, (total("n", X), num(0))), num(1), total("n", X)),
    "an infinity": where(Map(Fn.EQ, (X, NEG_INF)), num(0), X),
    "positions": where(less(Index("m"), Index("n")), X, num(0)),
}


@pytest.mark.parametrize("name", GUARDS)
def test_guards_and_positions_are_no_comparison_of_data(name):
    assert not compares_data(program(GUARDS[name]))
    assert compares_data(program(count(less(X, LIMIT))))
