from __future__ import annotations

from fractions import Fraction

import pytest

from superopt.merge.recover import inverted
from superopt.merge.recover import sections
from superopt.repair.span import POSITIVE
from superopt.ugraph.carry import Carry
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn

X = Input("x", ("m", "n"), "fp32")
GATE = Input("gate", ("m",), "fp32")
TOP = Carry("top", ("m",), Fn.MAX, X)
SUM = Carry("sum", ("m",), Fn.ADD, X)
WIDE = Carry("wide", ("m", "e"), Fn.ADD, X)
OUT, MORE = (Input(name, ("p", "m"), "fp32") for name in ("out", "more"))
TWO = Const(Fraction(2))


@pytest.mark.parametrize(
    ("value", "inverse"),
    [
        (Map(Fn.EXP, (SUM.state,)), Map(Fn.LOG, (OUT,))),
        (Map(Fn.SUB, (TWO, SUM.state)), Map(Fn.SUB, (TWO, OUT))),
        (Map(Fn.DIV, (SUM.state, TWO)), Map(Fn.MUL, (OUT, TWO))),
        (Map(Fn.SQRT, (SUM.state,)), Map(Fn.MUL, (OUT, OUT))),
    ],
    ids=["exp", "difference", "quotient", "root"],
)
def test_functions_are_taken_to_the_other_side(value, inverse):
    assert inverted(value, SUM.state, OUT, {}) is inverse


@pytest.mark.parametrize(
    "value",
    [
        Map(Fn.MUL, (SUM.state, SUM.state)),
        Map(Fn.MUL, (SUM.state, GATE)),  # which may be zero
        Map(Fn.MAX, (SUM.state, TWO)),
        Map(Fn.ABS, (SUM.state,)),
        Map(Fn.WHERE, (Map(Fn.LT, (GATE, TWO)), SUM.state, TWO)),
    ],
    ids=["square", "factor", "larger", "abs", "masked"],
)
def test_what_loses_a_state_is_not_inverted(value):
    assert inverted(value, SUM.state, OUT, {}) is None


def test_a_free_sum_is_set_to_a_number_and_an_extremum_never():
    shifted = Map(Fn.ADD, (TOP.state, Map(Fn.LOG, (SUM.state,))))
    found = list(sections([TOP, SUM], [(shifted, OUT)], {}, {SUM.state: POSITIVE}))
    assert [s.free for s in found] == [("sum",)]
    assert found[0].values[TOP.state] is OUT


def test_enough_outputs_leave_nothing_free():
    equations = [(SUM.state, MORE), (Map(Fn.SUB, (TOP.state, SUM.state)), OUT)]
    first = next(sections([TOP, SUM], equations, {}, {}))
    assert first.free == ()
    assert first.values[TOP.state] is Map(Fn.ADD, (OUT, MORE))


def test_a_state_is_not_told_by_an_output_with_more_axes():
    wide = Input("wide", ("p", "m", "e"), "fp32")
    product = Map(Fn.DIV, (WIDE.state, SUM.state))
    known = {SUM.state: POSITIVE}
    for section in sections([SUM, WIDE], [(product, wide)], {}, known):
        assert isinstance(section.values[SUM.state], Const)
