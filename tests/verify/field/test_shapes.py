"""Which equivariant maxima are tied, and which choices have to be seen both ways."""

from __future__ import annotations

from fractions import Fraction

import pytest

from superopt.ugraph.scalar import Fn
from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.extrema import EITHER
from superopt.verify.field.shapes import determined
from superopt.verify.field.terms import Term
from superopt.verify.field.terms import Terms
from superopt.verify.field.toohard import TooHardError


class Board:
    """Terms over some letters."""

    def __init__(self, equivariant: frozenset[Fn] = EITHER) -> None:
        self.terms = Terms(equivariant=equivariant)
        names = ("a", "b", "c", "x", "y")
        self.a, self.b, self.c, self.x, self.y = (
            self.terms.term(Term("input", (), n)) for n in names
        )

    def max(self, *args: int, fn: Fn = Fn.MAX) -> int:
        return self.terms.map(fn, args, False)

    def scaled(self, factor: int, *args: int) -> int:
        return self.max(*(self.terms.mul(factor, a) for a in args))

    def found(self, *roots: int, within: tuple[int, ...] = ()):
        cone = range(max(roots) + 1)
        return determined(Polynomials(self.terms, {}), cone, frozenset(within))


def test_a_maximum_alone_is_a_variable():
    t = Board()
    assert t.found(t.max(t.a, t.b, t.c)).coins == 0


def test_proportional_sets_are_tied_by_a_sign():
    t = Board()
    first, second = t.max(t.a, t.b, t.c), t.scaled(t.x, t.a, t.b, t.c)
    found = t.found(first, second)
    assert (found.extrema, found.coins) == (frozenset({first, second}), 1)


def test_shifted_sets_are_tied():
    t = Board()
    first = t.max(t.a, t.b, t.c)
    second = t.max(*(t.terms.add(t.x, a) for a in (t.a, t.b, t.c)))
    found = t.found(first, second, within=(first, second))
    assert (found.extrema, found.coins) == ({first, second}, 0)


def test_a_shifted_set_is_one_variable_in_another_place():
    t = Board()
    here = (t.a, t.b, t.terms.add(t.c, t.x))
    polys = Polynomials(t.terms, {})
    letters = {
        shift: polys.of(t.max(*(t.terms.add(shift, a) for a in here))) for shift in (t.x, t.y)
    }
    shapes = {polys.shape_of(t.max(*(t.terms.add(s, a) for a in here))) for s in (t.x, t.y)}
    assert len(shapes) == 1
    (x,), (y,) = polys.of(t.x), polys.of(t.y)
    assert letters[t.x].keys() - letters[t.y].keys() == {x}
    assert letters[t.y].keys() - letters[t.x].keys() == {y}


def test_sets_of_other_shapes_are_not():
    t = Board()
    second = t.max(t.terms.mul(t.x, t.a), t.b, t.c)
    assert t.found(t.max(t.a, t.b, t.c), second).extrema == frozenset()


def test_the_same_set_written_otherwise_needs_no_sign():
    t = Board()
    sums = [t.terms.add(t.terms.add(t.x, t.y), a) for a in (t.a, t.b, t.c)]
    other = [t.terms.add(t.x, t.terms.add(t.y, a)) for a in (t.a, t.b, t.c)]
    assert t.found(t.max(*sums), t.max(*other)).coins == 0


def test_two_values_take_a_sign():
    t = Board()
    found = t.found(t.max(t.a, t.b))
    assert (len(found.extrema), found.coins) == (1, 1)


def test_a_factor_of_unknown_sign_is_a_choice_and_a_square_is_none():
    t = Board()
    largest = t.max(t.a, t.b, t.c)
    assert t.found(t.terms.mul(t.x, largest)).coins == 1
    t = Board()
    assert t.found(t.terms.mul(t.terms.mul(t.x, t.x), t.max(t.a, t.b, t.c))).coins == 0


def test_signs_that_exclude_each_other_have_no_bound():
    t = Board()
    largest = t.max(t.a, t.b, t.c)
    roots = [
        t.terms.mul(f, largest)
        for f in (t.x, t.terms.mul(t.terms.negate(t.x), t.terms.mul(t.y, t.y)))
    ]
    with pytest.raises(TooHardError, match="never negative together"):
        t.found(*roots)


def test_maxima_that_a_sign_ties_have_no_bound_in_exponents_or_in_maxima():
    t = Board()
    largest, turned = t.max(t.a, t.b, t.c), t.scaled(t.x, t.a, t.b, t.c)
    with pytest.raises(TooHardError, match="exponent"):
        t.found(largest, turned, within=(largest,))
    outer = t.max(t.terms.map(Fn.TANH, (t.max(t.a, t.b),), False), t.c, t.x)
    with pytest.raises(TooHardError, match="maximum of maxima"):
        t.found(outer)


def test_a_positive_factor_leaves_one_variable_in_another_size():
    t = Board()
    two = t.terms.num(Fraction(2))
    maxima = [t.max(t.a, t.b, two), t.scaled(two, t.a, t.b, two)]
    found = t.found(*maxima, within=tuple(maxima))
    assert (found.extrema, found.coins) == (frozenset(maxima), 0)
    polys = Polynomials(t.terms, {})
    ((letter, size),) = polys.of(maxima[1]).items()
    assert (letter, size) == (polys.shape_of(maxima[0]), 2)
    unscaled = t.max(t.terms.mul(two, t.a), t.terms.mul(two, t.b), two)
    assert polys.shape_of(unscaled) != polys.shape_of(maxima[0])


def test_a_pair_in_exponents_takes_a_sign_at_every_level():
    t = Board()
    pair = t.max(t.a, t.b)
    twice = t.scaled(t.terms.num(Fraction(2)), t.a, t.b)
    assert t.found(pair, twice, within=(pair,)).coins == 1  # the larger one in both
    cone, polys = range(twice + 1), Polynomials(t.terms, {})
    assert determined(polys, cone, frozenset({pair}), {pair: 2}).coins == 2


def test_an_extremum_of_one_kind_alone_is_a_variable_even_of_two_values():
    t = Board(frozenset({Fn.MAX}))
    pair, moved = t.max(t.a, t.b), t.max(t.terms.add(t.a, t.x), t.terms.add(t.b, t.x))
    found = t.found(pair, moved, within=(pair, moved))
    assert (found.extrema, found.coins) == ({pair, moved}, 0)
    other = t.max(t.a, t.b, fn=Fn.MIN)
    assert other not in t.found(pair, moved, other).extrema
    assert t.found(pair, t.max(t.a, t.c), within=(pair,)).extrema == {pair, moved}
    three = t.max(t.a, t.b, t.c)
    with pytest.raises(TooHardError, match="exponent"):
        t.found(three, t.scaled(t.y, t.a, t.b, t.c), within=(three,))
    assert len(t.terms.members(Fn.MAX, t.terms.add(pair, t.max(t.x, t.y, fn=Fn.MIN)))) == 2
    assert len(t.terms.members(Fn.MAX, t.terms.absolute(t.a))) == 1


def test_sets_are_kept_where_the_laws_say_so():
    t = Board()
    terms, largest = t.terms, t.max(t.a, t.b, t.c)
    half = terms.num(Fraction(1, 2))
    assert len(terms.members(Fn.MAX, terms.add(largest, t.x))) == 3
    assert len(terms.members(Fn.MAX, terms.mul(half, largest))) == 3
    assert len(terms.members(Fn.MAX, terms.mul(t.x, largest))) == 1
    assert len(terms.members(Fn.MIN, terms.negate(largest))) == 3
    assert len(terms.members(Fn.MAX, terms.negate(largest))) == 1
    assert len(terms.members(Fn.MAX, terms.absolute(t.a))) == 2
    assert len(terms.members(Fn.MAX, terms.mul(largest, largest))) == 1
