from __future__ import annotations

import pytest

from superopt.ugraph.floats import MEANING
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.scalar import BY_SYMBOL
from superopt.ugraph.scalar import Fn


def test_symbols_are_distinct():
    assert len(BY_SYMBOL) == len(Fn)


def test_every_function_has_a_meaning_in_floats():
    assert set(MEANING) == set(Fn)


@pytest.mark.parametrize("fn", [f for f in Fn if f.is_fold], ids=lambda f: f.symbol)
def test_the_unit_of_a_fold_is_neutral(fn):
    domain = FloatDomain()
    unit, three = domain.full((), fn.unit), domain.array(3.0)
    assert domain.apply(fn, [unit, three]) == 3.0
    assert domain.apply(fn, [three, unit]) == 3.0


def test_a_function_that_is_no_fold_has_no_unit():
    with pytest.raises(ValueError, match="sub is no fold"):
        _ = Fn.SUB.unit
