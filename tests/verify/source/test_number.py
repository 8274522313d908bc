"""The launcher's arithmetic: exact where it is rational, and decided by doubles."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.verify.field.domain import FieldDomain
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.number import Mathematics
from superopt.verify.source.number import divided
from superopt.verify.source.number import real

D = FloatDomain()
FIELD = FieldDomain(0, 2, 4)


@given(st.fractions(), st.fractions().filter(bool))
def test_rationals_stay_exact(a, b):
    x = divided(a.numerator, a.denominator, D)
    y = divided(b.numerator, b.denominator, D)
    assert (x + y).exact == a + b
    assert (x - 1).exact == a - 1
    assert (2 * y).exact == 2 * b
    assert (x / y).exact == a / b
    assert (x < y) == (float(a) < float(b))


def test_a_third_is_a_third():
    assert divided(1, 3, D).exact == Fraction(1, 3)
    assert real(D, "0.1").exact == Fraction(1, 10)
    assert real(D, 0.1).exact == Fraction(1, 10)


def test_roots_and_constants_are_those_of_the_domain():
    root = Mathematics(FIELD).sqrt(4)
    assert root.exact is None
    assert root.approximate == 2.0
    scale = root * real(FIELD, Constant.LOG2E)
    wanted = FIELD.apply(Fn.MUL, (root.data, FIELD.named(Constant.LOG2E)))
    assert (scale.data.levels[0].value == wanted.levels[0].value).all()
    assert math.isclose(scale.approximate, 2.8853900817779268)


def test_powers_of_two():
    assert (2.0 ** real(D, 3)).exact == 8
    assert (real(D, 2) ** divided(1, 2, D)).approximate == math.sqrt(2)
    for bad in (lambda: 3 ** real(D, 2), lambda: real(D, 3) ** 2):
        with pytest.raises(OutsideVocabularyError, match="power"):
            bad()


def test_infinities_and_signs():
    maths = Mathematics(D)
    assert maths.copysign(math.inf, -0.5).approximate == -math.inf
    assert math.isnan(maths.nan.approximate)
    assert not maths.isfinite(maths.inf)
    assert abs(real(D, -2)).exact == 2
    with pytest.raises(ZeroDivisionError):
        real(D, 1) / 0
    with pytest.raises(OutsideVocabularyError, match=r"math\.gamma"):
        maths.gamma(1)
    with pytest.raises(OutsideVocabularyError, match="as a float"):
        real(D, None)
