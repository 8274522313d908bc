"""Conditions mean what they say, and so do their opposites."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.evaluate import truth_of
from superopt.verify.source.symbolic.formula import FALSE
from superopt.verify.source.symbolic.formula import TRUE
from superopt.verify.source.symbolic.formula import Truth
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import both
from superopt.verify.source.symbolic.formula import either
from superopt.verify.source.symbolic.formula import equal
from superopt.verify.source.symbolic.formula import negated
from superopt.verify.source.symbolic.formula import substituted
from superopt.verify.source.symbolic.formula import truths
from superopt.verify.source.symbolic.formula import words
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.poly import number

A, B = atom("a"), atom("b")
leaves = st.sampled_from([at_least(A, B), below(A, number(2)), equal(A, B), equal(B, number(1))])
formulas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(both),
        st.lists(inner, max_size=3).map(either),
        inner.map(negated),
    ),
    max_leaves=6,
)
numbers = st.integers(-2, 3)


def at(formula, a, b):
    return bool(truth_of(formula, {"a": a, "b": b}, Atoms(None)))


@given(formulas, numbers, numbers)
def test_a_condition_or_its_opposite_holds(formula, a, b):
    assert at(formula, a, b) != at(negated(formula), a, b)


@given(formulas, formulas, numbers, numbers)
def test_conjunctions_and_disjunctions(f, g, a, b):
    assert at(both((f, g)), a, b) == (at(f, a, b) and at(g, a, b))
    assert at(either((f, g)), a, b) == (at(f, a, b) or at(g, a, b))


@given(formulas, numbers, numbers)
def test_substitution_moves_the_place(formula, a, b):
    assert at(substituted(formula, {"a": B + number(1)}), a, b) == at(formula, b + 1, b)


def test_numbers_are_decided_at_once():
    assert below(number(1), number(2)) == TRUE
    assert equal(number(1), number(2)) == FALSE


def test_data_is_other_data_in_another_program():
    mask = both((Truth("data"), at_least(A, B)))
    assert truths(substituted(mask, {}, "'")) == ["data'"]
    assert words(mask) == "(data) and (a - b >= 0)"
