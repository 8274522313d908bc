from __future__ import annotations

from superopt.search.dimensions import dimensions
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn
from tests import samples


def test_an_order_that_suits_is_kept():
    fold = samples.total("k", samples.mul(samples.X, samples.W))
    assert isinstance(fold, Reduce)
    assert dimensions(("m", "k", "n"), [fold]) == ("m", "k", "n")
    assert dimensions(("n", "k", "m"), [fold]) == ("n", "k", "m")  # the transposed product
    assert dimensions(("a", "b"), []) == ("a", "b")


def test_a_computed_operand_is_never_transposed_if_an_order_avoids_it():
    left = samples.exp(samples.X)
    fold = Reduce(Fn.ADD, "k", samples.mul(left, samples.W))
    for given in (("k", "m", "n"), ("n", "k", "m"), ("k", "n", "m")):
        found = dimensions(given, [fold])
        assert sorted(found) == sorted(given)
        assert found.index("m") < found.index("k") < found.index("n")


def test_many_axes_keep_their_order():
    axes = ("k", "m", "n", "a", "b", "c", "d")
    fold = Reduce(Fn.ADD, "k", samples.mul(samples.exp(samples.X), samples.W))
    assert dimensions(axes, [fold]) == axes
