from __future__ import annotations

from superopt.repair.span import POSITIVE
from superopt.repair.symbolic import Reading
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from tests.repair.cases import W
from tests.repair.cases import X
from tests.repair.cases import Y
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import finite
from tests.samples import mul
from tests.samples import num
from tests.samples import rsqrt
from tests.samples import sub
from tests.samples import total
from tests.samples import where

S = State("s", ("m",))
MASK = Map(Fn.LE, (num(0), X))


def reading() -> Reading:
    return Reading("n", frozenset({S}), {S: POSITIVE})


def test_maximal_subterms_are_one_symbol():
    r = reading()
    r.read(mul(mul(sub(X, Y), exp(X)), rsqrt(add(S, num(1)))))
    assert [r.nodes[y] for y in r.ys] == [rsqrt(add(S, num(1)))]
    assert [r.nodes[u] for u in r.us] == [mul(sub(X, Y), exp(X))]


def test_a_product_splits():
    r = reading()
    product = r.split(r.read(div(exp(sub(X, finite(S))), S)))
    assert product is not None
    assert r.write(product.b) is exp(X)


def test_base_two_is_the_same_exponential():
    r = reading()
    product = r.split(r.read(Map(Fn.EXP2, (sub(X, S),))))
    assert r.write(product.b) is Map(Fn.EXP2, (X,))
    scaled = exp(mul(sub(X, S), Named(Constant.LN2)))
    product = r.split(r.read(scaled))
    assert r.write(product.b) is Map(Fn.EXP2, (X,))


def test_a_mask_is_an_indicator_or_minus_infinity():
    r = reading()
    product = r.split(r.read(where(MASK, exp(sub(X, S)), num(0))))
    assert r.write(product.b) is mul(where(MASK, num(1), num(0)), exp(X))
    added = r.add(r.read(where(MASK, sub(X, S), NEG_INF)))
    assert r.write(added.b) is add(X, where(MASK, num(0), NEG_INF))


def test_roots_of_products_split_if_the_factor_is_positive():
    r = reading()
    product = r.split(r.read(Map(Fn.SQRT, (mul(mul(X, X), S),))))
    assert product is not None
    assert r.split(r.read(Map(Fn.SQRT, (add(X, S),)))) is None


def test_extrema_of_products_split_if_the_factor_is_positive():
    r = reading()
    product = r.split(r.read(Map(Fn.MAX, (mul(X, S), num(0)))))
    assert r.write(product.b) in (Map(Fn.MAX, (X, num(0))), Map(Fn.MAX, (num(0), X)))


def test_a_factor_leaves_a_fold():
    r = reading()
    product = r.split(r.read(total("e", mul(exp(sub(X, S)), W))))
    assert isinstance(r.write(product.b), Reduce)
