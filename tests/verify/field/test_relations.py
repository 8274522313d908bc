"""Linear relations that letters hide, and independence of several functions together."""

from __future__ import annotations

from fractions import Fraction

import pytest

from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.jacobian import independent_together
from superopt.verify.field.polynomial import Poly
from superopt.verify.field.relations import LARGEST
from superopt.verify.field.relations import independent
from superopt.verify.field.terms import Term
from superopt.verify.field.terms import Terms
from superopt.verify.field.toohard import TooHardError

TERMS = Terms()
X, Y, Z = (TERMS.term(Term("input", (), name)) for name in "xyz")
SUM = TERMS.add(TERMS.add(X, Y), Z)


def over(a: int, b: int) -> int:
    return TERMS.mul(a, TERMS.inverse(b))


def power(a: int, n: int) -> int:
    return a if n == 1 else TERMS.mul(a, power(a, n - 1))


def read(*terms: int) -> tuple[Polynomials, list[Poly]]:
    polys = Polynomials(TERMS, {})
    return polys, [polys.of(t) for t in terms]


def monomials(rows: list[Poly]) -> set[object]:
    return {m for row in rows for m in row}


SHARES = (over(X, SUM), over(Y, SUM), over(Z, SUM))


def test_shares_of_a_sum_add_up_to_one():
    polys, rows = read(*SHARES)
    found = independent(polys, rows)
    assert len(monomials(found)) == 3  # 1 and two shares
    assert found[2] == {
        **{m: -c for row in found[:2] for m, c in row.items()},
        (): Fraction(1),
    }


def test_what_is_independent_stays_as_it_is():
    polys, rows = read(X, power(X, 2), TERMS.mul(X, Y))
    assert independent(polys, rows) == rows


def test_a_quotient_written_in_two_ways_is_one():
    polys, rows = read(
        over(X, TERMS.add(Y, Z)), over(X, TERMS.mul(TERMS.num(Fraction(3)), TERMS.add(Y, Z)))
    )
    first, second = independent(polys, rows)
    (monomial,) = first
    assert second == {monomial: Fraction(1, 3)}


def test_relations_of_large_numbers_are_refused():
    large = TERMS.num(Fraction(LARGEST + 1))
    polys, rows = read(over(X, SUM), over(X, TERMS.mul(large, SUM)))
    with pytest.raises(TooHardError, match="large numbers"):
        independent(polys, rows)


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ((X, Y), True),
        ((X, power(X, 2)), False),
        ((TERMS.add(X, Y), TERMS.mul(X, Y)), True),
        ((over(X, SUM), over(Y, SUM)), True),
        (SHARES, False),
        ((TERMS.sqrt(TERMS.add(X, Y)), TERMS.add(X, Y)), False),
        ((TERMS.sqrt(TERMS.add(X, Y)), X), True),
        ((TERMS.absolute(TERMS.mul(X, Y)), TERMS.mul(X, Y)), False),
        ((power(X, 2), power(Y, 3), TERMS.mul(X, Y)), False),
        ((X, Y, over(Z, X)), True),
    ],
)
def test_independence_is_seen_by_derivatives(terms, expected):
    polys, rows = read(*terms)
    assert independent_together(polys, rows) is expected
