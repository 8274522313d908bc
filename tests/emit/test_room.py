"""Where printed integer arithmetic has 64 bits, so that no mask is wrong for large numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from superopt.emit.room import wide
from superopt.emit.room import widened
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn

M, N = Index("m"), Size("n")
FIRST = Input("first", ("m",), "int32")
LONG = Input("long", ("m",), "int64")
WINDOW, OTHER = Scalar("window", "int32"), Scalar("other", "int32")
TWO = Const(Fraction(2))


def op(fn, *args):
    return Map(fn, args)


@pytest.mark.parametrize(
    ("node", "at"),
    [
        (op(Fn.ADD, M, FIRST), 1),  # 2**31 - 1 is a legal number in memory
        (op(Fn.SUB, FIRST, TWO), 0),
        (op(Fn.ADD, M, op(Fn.MAX, FIRST, TWO)), 1),
        (op(Fn.MUL, WINDOW, TWO), 0),  # and 2**30 a legal run-time number
        (op(Fn.ADD, op(Fn.MUL, TWO, WINDOW), M), None),  # the product is widened already
        (op(Fn.MUL, M, N), 1),
        (op(Fn.SUB, M, WINDOW), None),
        (op(Fn.ADD, WINDOW, OTHER), 0),  # 2**31
        (op(Fn.SUB, op(Fn.SUB, M, WINDOW), OTHER), 0),
        (op(Fn.ADD, M, op(Fn.ADD, WINDOW, WINDOW)), None),  # which is widened already
        (op(Fn.MUL, M, TWO), None),
        (op(Fn.ADD, M, LONG), None),
        (op(Fn.MIN, FIRST, M), None),
    ],
)
def test_which_argument_is_widened(node, at):
    assert widened(node) == at


def test_what_is_computed_from_wide_numbers_is_wide():
    assert wide(op(Fn.MIN, M, op(Fn.ADD, M, FIRST)))
    assert wide(op(Fn.ADD, op(Fn.MUL, TWO, WINDOW), M))
    assert wide(LONG)
    assert not wide(FIRST)
    assert not wide(op(Fn.SUB, M, WINDOW))
    assert not wide(op(Fn.MIN, FIRST, M))
