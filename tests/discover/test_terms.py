"""Terms by size: representatives only, values as they should be."""

from __future__ import annotations

import numpy as np
import pytest

from superopt.discover.fingerprint import DOMAINS
from superopt.discover.fingerprint import FINITE
from superopt.discover.fingerprint import POSITIVE
from superopt.discover.terms import Terms
from superopt.discover.terms import closed
from superopt.discover.terms import mark
from superopt.discover.vocabulary import ARITHMETIC
from superopt.discover.vocabulary import CHOICES
from superopt.discover.vocabulary import FOLDS
from superopt.discover.vocabulary import FUNCTIONS
from superopt.discover.vocabulary import VOCABULARIES
from superopt.discover.vocabulary import size_of
from superopt.rewrite.rule import Fold
from superopt.rewrite.rule import Var
from superopt.rewrite.rule import apply
from superopt.rewrite.rule import largest
from superopt.rewrite.rule import total
from superopt.rewrite.show import pattern_text
from superopt.ugraph.scalar import Fn

X, Y = Var("x"), Var("y")
A, C = Var("a"), Var("c")


def texts(vocabulary, domain, size):
    terms = Terms(vocabulary, domain, seed=0)
    pairs = [(pattern_text(p.left), pattern_text(p.right)) for p in terms.pairs(size)]
    return pairs, [[pattern_text(t.pattern) for t in one] for one in terms.by_size]


def test_equal_terms_are_pairs_and_only_the_first_is_built_upon():
    pairs, by_size = texts(ARITHMETIC, FINITE, 3)
    assert ("x * 1", "x") in pairs or ("1 * x", "x") in pairs
    assert ("x - x", "0") in pairs
    assert "x - x" not in by_size[3]
    assert "x + y" in by_size[3]
    assert "y + x" not in by_size[3]  # each pair of operands of a commutative function comes once


def test_partial_functions_are_met_where_they_are_defined():
    _, finite = texts(FUNCTIONS, FINITE, 2)
    _, positive = texts(FUNCTIONS, POSITIVE, 2)
    assert "sqrt(x)" not in finite[2]
    assert "sqrt(x)" in positive[2]
    assert "exp(x)" in finite[2]


def test_functions_of_numbers_are_values_and_no_parts():
    pairs, by_size = texts(FUNCTIONS, FINITE, 3)
    assert ("exp(0)", "1") in pairs
    assert not any("exp(1)" in text for one in by_size for text in one)


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda v: v.name)
@pytest.mark.parametrize("domain", DOMAINS, ids=lambda d: d.name)
def test_sizes_and_values_are_those_of_the_patterns(vocabulary, domain):
    terms = Terms(vocabulary, domain, seed=1)
    for pair in terms.pairs(3):
        assert size_of(pair.left) == pair.size
        left, right = terms.term(pair.left), terms.term(pair.right)
        assert mark(left) == mark(right)
    for size, one in enumerate(terms.by_size):
        for term in one:
            assert term.size == size == size_of(term.pattern)
            assert not closed(term)
            again = terms.term(term.pattern)
            assert all(np.array_equal(a, b) for a, b in zip(again.values, term.values, strict=True))


def test_folds_fold_elements_and_have_their_unit_over_none():
    terms = Terms(FOLDS, FINITE, seed=0)
    some, none = terms.term(total("n", A)).values
    assert np.allclose(some[:, 0], terms.holes["a"][0].sum(axis=1))
    assert (none == 0).all()
    assert (terms.term(largest("n", A)).values[1] == -np.inf).all()
    assert not terms.term(total("n", A)).varies
    assert terms.term(A * C).varies
    assert mark(terms.term(A)) != mark(terms.term(C))


def test_terms_are_the_same_for_the_same_seed():
    assert texts(ARITHMETIC, FINITE, 3) == texts(ARITHMETIC, FINITE, 3)


def test_a_fold_of_what_does_not_vary_is_no_term():
    terms = Terms(FOLDS, FINITE, seed=0)
    for _ in terms.pairs(3):
        pass
    folds = [t.pattern for one in terms.by_size for t in one if isinstance(t.pattern, Fold)]
    assert folds
    assert total("n", C) not in folds


def test_infinite_numbers_are_only_chosen():
    pairs, by_size = texts(CHOICES, POSITIVE, 3)
    assert ("max(-inf, x)", "x") in pairs
    assert not any("-inf *" in text or "* -inf" in text for one in by_size for text in one)


def test_truth_values_are_no_operands():
    terms = Terms(CHOICES, FINITE, seed=0)
    for _ in terms.pairs(4):
        pass
    tests = [t for one in terms.by_size for t in one if t.truth]
    assert apply(Fn.LT, X, Y) in [t.pattern for t in tests]
    for one in terms.by_size:
        for term in one:
            assert not any(term.pattern == apply(Fn.EXP, t.pattern) for t in tests)
