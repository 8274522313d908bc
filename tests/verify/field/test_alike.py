"""Pairs that are the same but for their inputs have one bound, and others are told apart."""

from __future__ import annotations

import itertools

import pytest

from superopt.ugraph.scalar import Fn
from superopt.verify.field import bound
from superopt.verify.field.alike import form
from superopt.verify.field.graphs import Comparison
from superopt.verify.field.terms import Term
from superopt.verify.field.terms import Terms
from superopt.verify.field.trials import trials
from tests import samples


def letters(terms: Terms, names: str) -> list[int]:
    return [terms.term(Term("input", (), n)) for n in names]


def test_other_inputs_are_alike_and_shared_ones_are_not():
    terms = Terms()
    a, b, c, d = letters(terms, "abcd")
    one = terms.mul(terms.exp(a), b)
    assert form(terms, (one, a)) == form(terms, (terms.mul(terms.exp(c), d), c))
    assert form(terms, (one, a)) != form(terms, (terms.mul(terms.exp(c), d), d))
    assert form(terms, (terms.add(a, b),)) != form(terms, (terms.add(c, c),))


def test_numbers_functions_and_their_number_of_arguments_count():
    terms = Terms()
    a, b, c = letters(terms, "abc")
    forms = {
        form(terms, (root,))
        for root in (
            terms.add(a, terms.num(1)),
            terms.add(a, terms.num(2)),
            terms.mul(a, terms.num(2)),
            terms.opaque("tanh", a),
            terms.opaque("erf", a),
            terms.map(Fn.MAX, (a, b), False),
            terms.map(Fn.MAX, (a, b, c), False),
            terms.map(Fn.MIN, (a, b), False),
        )
    }
    assert len(forms) == 8


@pytest.mark.parametrize("number", range(3))
def test_the_bound_is_that_of_every_element(number, monkeypatch):
    spec = samples.attention(causal=True)
    graph = samples.online_attention(causal=True, split=number == 2)
    trial = list(trials(spec, graph))[number]
    comparison = Comparison(spec, graph, trial, 0, -60.0)
    alike = comparison._bound()
    counter = itertools.count()
    monkeypatch.setattr(bound, "form", lambda *_: (next(counter),))
    assert comparison._bound() == alike
    assert next(counter) > 1
