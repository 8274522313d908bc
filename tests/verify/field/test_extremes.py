"""Extreme whole numbers, and comparisons of what is no graph."""

from __future__ import annotations

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Fn
from superopt.verify.field.array import exact_of
from superopt.verify.field.extremes import ENDS
from superopt.verify.field.extremes import extreme_integers
from superopt.verify.field.graphs import Comparison
from superopt.verify.field.meaning import Meaning
from superopt.verify.field.trials import Trial
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from tests import samples as s

FIRST, X = Input("first", ("m",), "int32"), Input("x", ("m", "n"))
MASKED = s.where(Map(Fn.LE, (FIRST, Index("n"))), X, s.num(0))
PROGRAM = Program("masked", (FIRST, X), (Store("out", ("m", "n"), None, MASKED),))
TRIAL = Trial("here", (("m", 9), ("n", 4)), ())


class Whole(Meaning):
    """The program itself, or one that sees the mask's numbers as at most ``most``."""

    def __init__(self, most=None):
        self.most = most

    def outputs(self, domain, arrays, trial):
        first = FIRST if self.most is None else Map(Fn.MIN, (FIRST, s.num(self.most)))
        value = s.where(Map(Fn.LE, (first, Index("n"))), X, s.num(0))
        other = Program("masked", PROGRAM.params, (Store("out", ("m", "n"), None, value),))
        return evaluate_program(other, domain, arrays, trial.size)


def test_both_ends_zero_and_sizes_are_drawn():
    drawn = exact_of(extreme_integers(FIRST, (500,), TRIAL.size, 3))
    assert set(drawn.ravel().tolist()) == {-(2**31), -1, 0, 1, 3, 4, 5, 8, 9, 10, 2**31 - 1}
    for dtype, end in ENDS.items():
        value = exact_of(extreme_integers(Input("i", ("m",), dtype), (99,), TRIAL.size, 3))
        assert (value.min(), value.max()) == (-end, end - 1)
    scalar = extreme_integers(Scalar("width", "int32"), (), TRIAL.size, 3)
    assert abs(exact_of(scalar)).max() <= 2**30
    again = extreme_integers(FIRST, (500,), TRIAL.size, 3)
    assert (exact_of(again) == drawn).all()


def test_what_small_numbers_hide_extreme_ones_show():
    """A limit of 6 is that of the small draws."""
    assert isinstance(
        Comparison(PROGRAM, Whole(), TRIAL, 0, -60.0, extreme=True).verdict(), Sampled
    )
    long = Trial("long", (("m", 9), ("n", 12)), ())
    assert isinstance(Comparison(PROGRAM, Whole(6), long, 0, -60.0).verdict(), Sampled)
    seen = Comparison(PROGRAM, Whole(6), long, 0, -60.0, extreme=True).verdict()
    assert isinstance(seen, Refuted)
