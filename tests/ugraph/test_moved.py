from __future__ import annotations

from superopt.ugraph.moved import moved
from superopt.ugraph.node import Input
from superopt.ugraph.profile import profile
from superopt.ugraph.steps import What
from tests import samples
from tests.samples import G
from tests.samples import W
from tests.samples import X
from tests.samples import add
from tests.samples import exp
from tests.samples import mul
from tests.samples import total

ROWS = ("m", "k")


def found(left):
    return moved(left, ROWS, tuple, lambda node: True)


def test_a_tensor_as_it_is_and_what_lies_along_one_axis_are_not_moved():
    assert found(X) == ()
    assert found(mul(Input("p", ("m",)), exp(G))) == ()


def test_tensors_that_are_computed_with_are_moved():
    assert found(mul(X, G)) == (X,)


def test_what_another_product_computes_lies_right():
    inner = total("r", mul(Input("a", ("m", "r")), Input("b", ("r", "k"))))
    assert found(exp(inner)) == ()
    assert found(add(inner, X)) == (X,)


def test_an_operand_that_lies_along_its_rows_changes_places():
    def across(graph):
        steps = [s for r in profile(graph.kernels[0]).regions for s in r.steps]
        return [(s.computed, s.across) for s in steps if s.what is What.PRODUCT]

    assert across(samples.rms_linear_one_walk()) == [(True, False)]
    assert across(samples.online_attention()) == [(False, False)] * 2
    assert W.order == ("k", "n")
