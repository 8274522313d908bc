from __future__ import annotations

from fractions import Fraction

import pytest

from superopt.search.cuts import axes_in_order
from superopt.search.shares import shares
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from tests import samples

SIZES = {"b": 1, "h": 1, "m": 100, "n": 100, "d": 8, "e": 8}


def attention_of(value: Node) -> Program:
    params = (samples.Q, samples.K, samples.V)
    return Program("p", params, (Store("out", ("b", "h", "m", "e"), None, value),))


def test_without_a_mask_everything_is_sure():
    program = samples.attention()
    assert shares(program, SIZES, axes_in_order(program)) == {}


def test_a_causal_mask_leaves_the_triangle():
    program = samples.attention(causal=True)
    found = shares(program, SIZES, axes_in_order(program))
    assert found == {"n": pytest.approx(101 / 200)}


def test_a_position_that_masks_nothing_leaves_everything():
    scores = samples.add(samples.scores(), Index("n"))
    value = samples.total("n", samples.mul(samples.softmax(scores, "n"), samples.V))
    program = attention_of(value)
    assert shares(program, SIZES, axes_in_order(program)) == {"n": 1.0}


def test_a_window_leaves_its_width():
    near = Map(Fn.LT, (samples.sub(Index("m"), Index("n")), Const(Fraction(10))))
    both = Map(Fn.AND, (near, Map(Fn.LE, (Index("n"), Index("m")))))
    scores = samples.where(both, samples.scores(), samples.NEG_INF)
    value = samples.total("n", samples.mul(samples.softmax(scores, "n"), samples.V))
    program = attention_of(value)
    found = shares(program, SIZES, axes_in_order(program))
    assert found["n"] == pytest.approx((10 * 100 - 45) / 100**2)
