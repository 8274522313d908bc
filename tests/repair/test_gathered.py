"""Sums within a tile take in what is added to them for each position."""

from __future__ import annotations

import numpy as np
import pytest

from superopt.repair.gathered import gathered
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from tests.samples import add
from tests.samples import div
from tests.samples import mul
from tests.samples import num
from tests.samples import sub
from tests.samples import total

X, M, COUNT = Input("x", ("c", "s")), Input("m", ("s",)), Input("count", ())
C = Size("c")
TWICE = mul(mul(num(2), C), div(M, COUNT))


@pytest.mark.parametrize(
    "term",
    [
        add(total("c", mul(num(-2), X)), TWICE),
        add(TWICE, total("c", X)),
        sub(total("c", X), mul(C, M)),
        add(add(total("c", X), M), mul(C, M)),
        mul(M, sub(total("c", X), div(mul(C, M), COUNT))),
    ],
)
def test_a_multiple_of_the_size_goes_into_the_sum(term: Node):
    found = gathered(term)
    assert found is not term
    random = np.random.default_rng(0)
    arrays = {"x": random.normal(size=(5, 3)), "m": random.normal(size=3), "count": np.asarray(7.0)}
    stores = tuple(Store(n, ("s",), None, v) for n, v in (("before", term), ("after", found)))
    program = Program("p", (X, M, COUNT), stores)
    values = evaluate_program(program, FloatDomain(np.float64), arrays, {"c": 5, "s": 3})
    np.testing.assert_allclose(values["after"], values["before"], 1e-12)


@pytest.mark.parametrize(
    "term",
    [
        add(total("c", X), M),
        add(total("c", X), mul(Size("s"), M)),
        add(total("c", X), div(M, C)),
        mul(total("c", X), C),
    ],
)
def test_all_else_stays(term: Node):
    assert gathered(term) is term
