from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

from superopt.errors import IllTyped
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind

X = Input("x", ("n", "m"))
MASK = Map(Fn.LE, (Index("m"), Index("n")))


def test_axes_are_the_union_and_a_fold_removes_one():
    product = Map(Fn.MUL, (X, Input("w", ("n", "k"))))
    assert product.axes == ("k", "m", "n")
    assert Reduce(Fn.ADD, "n", product).axes == ("k", "m")


def test_kinds():
    assert Map(Fn.ADD, (Index("m"), Size("m"))).kind is Kind.INT
    assert Map(Fn.DIV, (Index("m"), Size("m"))).kind is Kind.REAL
    assert Map(Fn.ADD, (Index("m"), Const(Fraction(1, 2)))).kind is Kind.REAL
    assert MASK.kind is Kind.BOOL
    assert Map(Fn.WHERE, (MASK, Index("m"), Const(Fraction(0)))).kind is Kind.INT


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Map(Fn.ADD, (X,)), "add takes 2 arguments, got 1"),
        (lambda: Map(Fn.ADD, (X, MASK)), "wrong kind: real, bool"),
        (lambda: Map(Fn.AND, (X, MASK)), "wrong kind"),
        (lambda: Map(Fn.WHERE, (X, X, X)), "wrong kind"),
        (lambda: Map(Fn.WHERE, (MASK, X, MASK)), "a number and a truth value"),
        (lambda: Reduce(Fn.SUB, "n", X), "sub is no fold"),
        (lambda: Reduce(Fn.ADD, "k", X), "no axis 'k'"),
        (lambda: Reduce(Fn.MAX, "n", MASK), "not truth values"),
        (lambda: Input("x", ("n", "n")), "repeats an axis"),
        (lambda: Input("x", ("n",), "fp64"), "unsupported dtype 'fp64'"),
        (lambda: Scalar("s", "fp8"), "unsupported dtype 'fp8'"),
        (lambda: Const(0.5), "must be a Fraction or an infinity"),
        (lambda: Const(float("nan")), "must be a Fraction or an infinity"),
        (lambda: Const(1), "must be a Fraction or an infinity"),
    ],
)
def test_what_is_ill_typed_cannot_be_built(build, message):
    with pytest.raises(IllTyped, match=message):
        build()


def test_keys_do_not_depend_on_the_process():
    code = (
        "from superopt.ugraph.node import *; from superopt.ugraph.scalar import Fn;"
        "print(Map(Fn.MUL, (Input('x', ('n', 'm')), Size('n'))).key)"
    )
    for seed in ("0", "1"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == Map(Fn.MUL, (X, Size("n"))).key
