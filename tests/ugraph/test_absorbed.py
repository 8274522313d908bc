"""What a fold takes along: a choice that does not vary."""

from __future__ import annotations

import pytest

from superopt.ugraph.absorbed import absorbed
from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import State
from superopt.ugraph.profile import profile
from superopt.ugraph.scalar import Fn
from superopt.ugraph.steps import What
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import eq
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import where

X, Y = Input("x", ("m", "n")), Input("y", ("m", "n"))
ROW = eq(Input("t", ("m",)), NEG_INF)  # the same all along n
OTHER = eq(Input("t", ("m",)), num(3))
CHOSEN = where(ROW, num(0), Y)


def taken(term, *others, fold=Fn.ADD):
    roots = [term, *others]
    return absorbed([(fold, "n", term)], topo(roots), roots, children)


def test_a_choice_that_is_the_same_along_the_axis_is_made_of_the_fold():
    chosen = where(ROW, num(0), exp(X))
    assert taken(chosen) == {chosen}
    again = where(OTHER, num(0), chosen)
    assert taken(again) == {again, chosen}
    assert taken(where(ROW, NEG_INF, X), fold=Fn.MAX) == {where(ROW, NEG_INF, X)}


@pytest.mark.parametrize(
    ("term", "fold"),
    [
        (where(eq(X, NEG_INF), num(0), Y), Fn.ADD),  # it varies
        (where(ROW, num(1), Y), Fn.ADD),  # not the unit
        (CHOSEN, Fn.MAX),
        (mul(CHOSEN, Y), Fn.ADD),  # not the last thing before the fold
        (add(CHOSEN, Y), Fn.ADD),
    ],
)
def test_nothing_else_is_taken_along(term, fold):
    assert taken(term, fold=fold) == set()


def test_what_is_read_elsewhere_has_to_be_computed():
    assert taken(CHOSEN, exp(CHOSEN)) == set()
    assert taken(CHOSEN, CHOSEN) == set()  # stored as well
    outer = where(OTHER, num(0), CHOSEN)
    assert taken(outer, exp(CHOSEN)) == {outer}


def test_the_profile_counts_no_operation_for_it():
    carry = Carry("sum0", ("m",), Fn.ADD, where(ROW, num(0), Map(Fn.EXP2, (X,))))
    block = BlockGraph(
        (("m", Grid()), ("n", Loop())),
        (Walk("n", (carry,)),),
        (Store("out", ("m",), "fp32", State("sum0", ("m",))),),
        (Turn("m"),),
    )
    region = profile(block).regions[0]
    points = [s for s in region.steps if s.what is What.POINT and "n" in s.work]
    assert sum(s.plain for s in points) == 0
    assert sum(s.special for s in points) == 1
