from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from superopt.ugraph.affine import Affine
from superopt.ugraph.affine import affine
from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from tests.samples import add
from tests.samples import mul
from tests.samples import num
from tests.samples import sub

M, N = Index("m"), Index("n")
W = Scalar("w", "int32")
LEAVES = st.sampled_from([M, N, Size("m"), Size("n"), W, num(0), num(1), num(-3)])
INTEGERS = st.recursive(
    LEAVES,
    lambda p: st.builds(
        lambda f, a, b: Map(f, (a, b)), st.sampled_from([Fn.ADD, Fn.SUB, Fn.MUL]), p, p
    ),
    max_leaves=8,
)


@given(INTEGERS)
def test_an_affine_form_has_the_value_of_the_node(node):
    form = affine(node)
    if form is None:
        return
    rebuilt = form.offset()
    for axis, times in form.axes:
        rebuilt = add(rebuilt, mul(num(times), Index(axis)))
    known = {W: np.asarray(5)}
    same = Map(Fn.EQ, (rebuilt, node))
    assert evaluate_node(same, FloatDomain(), known, {"m": 3, "n": 4}).all()


def test_what_is_not_affine():
    assert affine(mul(M, N)) is None
    assert affine(mul(M, Size("m"))) is None
    assert affine(add(M, Const(Fraction(1, 2)))) is None
    assert affine(Map(Fn.ABS, (M,))) is None
    assert affine(Input("x", ())) is None
    assert affine(add(M, Scalar("s"))) is None


def test_zero_coefficients_vanish():
    assert affine(sub(add(M, W), add(M, W))) == Affine((), (), 0)
    assert affine(mul(num(0), M)) == Affine((), (), 0)


def test_offsets_are_written_as_people_do():
    form = affine(sub(sub(add(N, Size("n")), Size("m")), num(1)))
    assert form.offset() is sub(sub(Size("n"), Size("m")), num(1))
    assert affine(sub(num(1), W)).offset() is sub(num(1), W)
    assert affine(mul(num(2), W)).offset() is mul(num(2), W)
