"""What the launcher computes of the caller's numbers, it computes for any: not only for one."""

from __future__ import annotations

from functools import cache
from typing import Annotated

import pytest

import superopt as so
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.scalar import Fn
from superopt.verify.field.domain import FieldDomain
from superopt.verify.source.choices import Truth
from superopt.verify.source.choices import chosen
from superopt.verify.source.choices import joined
from superopt.verify.source.choices import negated
from superopt.verify.source.field import read_field
from superopt.verify.source.load import read_text
from superopt.verify.source.number import Real
from superopt.verify.source.number import point
from superopt.verify.source.number import real
from superopt.verify.source.number import selected
from superopt.verify.source.order import Seen
from superopt.verify.source.order import read_order
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import spoken
from tests.emit.printed import Printed
from tests.emit.printed import whole

D = FloatDomain()
FIELD = FieldDomain(0, 2, 4)
Rows = Annotated[so.Tensor, "m n"]
SIZES = {"m": 3, "n": 5}
OF_A_SCALAR = {
    "least": (lambda c: so.exp(so.minimum(c, 1)), "(min(c, 1))", "(c)"),
    "most": (lambda c: so.maximum(c, -1), "max(c, (-1))", "c"),
    "size": (lambda c: so.exp(abs(c - 1)), "abs(", "("),
    "rounding": (lambda c: so.round_to(c * 3, "e5m2"), "_nearest(", "(lambda a, *_: a)("),
    "choice": (lambda c: so.where(c < 1, so.exp(c), 2), " else 2", " else 3"),
    "condition": (lambda c: so.where((c < 1) & ~(c * c < 3), 2, c), "not ", ""),
    "either": (lambda c: so.where((c < 1) | (c == 3), c, 2), " or ", " and "),
}


@cache
def printed(name):
    of = OF_A_SCALAR[name][0]

    @so.spec(cases=[so.Case("c", **SIZES, c=0.5)], dtype="fp32")
    def scaled(x: Rows, c: so.Scalar) -> Rows:
        return of(c) * x

    graph = whole(scaled.program)
    return scaled.program, graph, Printed(scaled.program, (graph,), (SIZES,)).text()


@pytest.mark.parametrize("name", OF_A_SCALAR)
def test_functions_of_a_scalar_are_those_of_the_spec(name):
    program, graph, text = printed(name)
    verdict = read_field(read_text(text), program, graph)
    assert isinstance(verdict, Sampled), spoken(verdict)
    assert isinstance(read_order(read_text(text), program, graph), Seen)


@pytest.mark.parametrize("name", OF_A_SCALAR)
def test_others_are_not_accepted(name):
    """At the one double that decides statements of the launcher most of these are the same."""
    program, graph, text = printed(name)
    _, right, wrong = OF_A_SCALAR[name]
    kernels, launcher = text.split("def _run_g0")
    assert right in launcher
    other = f"{kernels}def _run_g0{launcher.replace(right, wrong, 1)}"
    assert not isinstance(read_field(read_text(other), program, graph), Sampled)


def test_conditions_of_known_numbers_are_settled():
    assert (real(D, 1) < 2) is True
    assert negated(real(D, 1) < 2) is False
    assert joined(Fn.AND, True, real(D, 3) == 3) is True
    assert joined(Fn.OR, False, False) is False
    assert chosen(True, lambda: 1, lambda: 1 / 0, selected) == 1


def test_statements_go_by_the_doubles_and_choices_by_the_domain():
    drawn = FIELD.draw(so_scalar(), (), 0)
    c = Real(FIELD, 0.75, drawn)
    below = c < 1
    assert isinstance(below, Truth)
    assert below
    assert not negated(below)
    assert not joined(Fn.AND, below, False)
    found = chosen(below, lambda: c, lambda: 2, selected)
    truth = FIELD.apply(Fn.LT, (drawn, FIELD.constant(real(D, 1).exact)))
    two = FIELD.constant(real(D, 2).exact)
    wanted = FIELD.apply(Fn.WHERE, (truth, drawn, two))
    assert found.approximate == 0.75
    assert (found.data.levels[0].value == wanted.levels[0].value).all()


def test_extrema_of_known_numbers_are_exact():
    assert point(Fn.MIN, real(D, 1), real(D, "0.1")).exact == real(D, "0.1").exact
    assert point(Fn.ABS, real(D, -3)).exact == 3
    assert point(Fn.MAX, Real(D, 0.5, D.array(0.5)), real(D, 0)).exact is None


def so_scalar():
    return printed("most")[0].params[1]
