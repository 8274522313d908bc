from __future__ import annotations

from fractions import Fraction

from superopt.ugraph.domain import Domain
from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Fn
from tests.samples import mul
from tests.samples import total


class Shapes:
    """The smallest domain: arrays are their shapes."""

    def shape(self, value):
        return value

    def reshape(self, value, shape):
        return shape

    def apply(self, fn, args):
        return tuple(map(max, zip(*args, strict=True)))

    def fold(self, fn, value, dim):
        return value[:dim] + value[dim + 1 :]

    def contract(self, left, right, dim):
        return self.fold(Fn.ADD, self.apply(Fn.MUL, [left, right]), dim)

    def constant(self, value: Fraction):
        return ()


def test_the_evaluator_needs_nothing_but_a_domain():
    domain: Domain = Shapes()
    x, w = Input("x", ("m", "k")), Input("w", ("k", "n"))
    known = {x: (2, 4), w: (2, 5)}  # dimensions are sorted by axis name
    sizes = {"m": 4, "k": 2, "n": 5}
    assert evaluate_node(mul(x, w), domain, known, sizes) == (2, 4, 5)
    assert evaluate_node(total("k", mul(x, w)), domain, known, sizes) == (4, 5)
