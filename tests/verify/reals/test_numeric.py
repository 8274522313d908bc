from __future__ import annotations

import numpy as np

from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.verify.reals.numeric import MEANING
from superopt.verify.reals.numeric import evaluate
from superopt.verify.reals.numeric import same
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import largest
from tests.samples import mul
from tests.samples import num
from tests.samples import sub
from tests.samples import total
from tests.samples import where

X = Input("x", ("m", "k"))
W = Input("w", ("k", "n"))


def value(node: Node) -> float:
    return float(evaluate([node], {}, {})[0])


def test_named_axes_broadcast() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3)), rng.normal(size=(3, 4))
    sizes = {"m": 2, "k": 3, "n": 4}
    # Values are given in the order of ``axes``, which is sorted: k m, and k n.
    (got,) = evaluate([total("k", mul(X, W))], {X: x.T, W: w}, sizes)
    np.testing.assert_allclose(got, x @ w)


def test_dimensions_in_front_are_sample_points() -> None:
    x = np.arange(12.0).reshape(2, 3, 2)
    (got,) = evaluate([total("k", X)], {X: x}, {"m": 2, "k": 3})
    np.testing.assert_array_equal(got, x.sum(1))


def test_folds_over_nothing_are_units() -> None:
    nothing = {X: np.zeros((0, 2))}
    got = evaluate([total("k", X), largest("k", X)], nothing, {"m": 2, "k": 0})
    np.testing.assert_array_equal(got[0], [0, 0])
    np.testing.assert_array_equal(got[1], [-np.inf, -np.inf])


def test_infinities() -> None:
    assert value(exp(NEG_INF)) == 0
    assert value(Map(Fn.LOG, (num(0),))) == -np.inf
    assert np.isnan(value(sub(NEG_INF, NEG_INF)))
    assert np.isnan(value(div(num(1), num(0))))
    assert value(div(num(1), Const(INF))) == 0
    assert np.isnan(value(mul(num(0), NEG_INF)))


def test_a_select_does_not_look_at_the_other_arm() -> None:
    assert value(where(Map(Fn.LT, (num(0), num(1))), num(3), div(num(1), num(0)))) == 3


def test_positions_and_sizes() -> None:
    (got,) = evaluate([add(Index("k"), Size("k"))], {}, {"k": 3})
    np.testing.assert_array_equal(got, [3, 4, 5])


def test_same() -> None:
    a = np.array([np.nan, np.inf, 1.0, np.inf, np.nan])
    b = np.array([np.nan, np.inf, 1.0 + 1e-12, -np.inf, 1.0])
    np.testing.assert_array_equal(same(a, b), [True, True, True, False, False])


def test_every_function_has_a_meaning() -> None:
    assert set(MEANING) == set(Fn)
