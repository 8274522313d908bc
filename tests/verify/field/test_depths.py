"""At how many levels of a chain terms are read."""

from __future__ import annotations

from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.verify.field.bound import RoundBound
from superopt.verify.field.bound import round_bound
from superopt.verify.field.depths import cone_of
from superopt.verify.field.depths import nested
from superopt.verify.field.depths import times_read
from superopt.verify.field.terms import Term
from superopt.verify.field.terms import Terms
from superopt.verify.field.trials import trials
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.verify.field.plain import plain
from tests.verify.field.plain import program

X = Input("x", ("i",))


def size(x: Node) -> Node:
    return Map(Fn.ABS, (x,))


def read(terms: Terms, root: int) -> dict[int, int]:
    return times_read(terms, (root,), (), nested(terms, (root,), ()))


def test_what_stands_inside_and_outside_is_read_twice():
    terms = Terms()
    x = terms.term(Term("input", (), "x"))
    y = terms.term(Term("input", (), "y"))
    both = terms.mul(terms.add(x, y), terms.exp(x))
    assert (read(terms, both)[x], read(terms, both)[y]) == (2, 1)
    assert read(terms, terms.exp(terms.mul(x, terms.exp(x))))[x] == 2
    assert cone_of(terms, (both,)) == sorted({x, y, *range(y + 1, both + 1)})


def test_a_drawn_function_is_not_entered_and_a_moving_maximum_is():
    for equivariant, times in ((frozenset(), None), (frozenset({Fn.MAX}), 1)):
        terms = Terms(equivariant=equivariant)
        x, y, z = (terms.term(Term("input", (), name)) for name in "xyz")
        assert read(terms, terms.exp(terms.map(Fn.MAX, (x, y, z), False))).get(x) == times


def coins(value: Node) -> int:
    meaning = program(value)
    graph = plain(meaning)
    found = round_bound(meaning, graph, next(iter(trials(meaning, graph))), {})
    assert isinstance(found, RoundBound)
    return found.coins


def test_a_sign_counts_at_every_level():
    """x (|x| - x) (exp |x| - exp x) differs from zero where both levels say that x is negative."""
    assert coins(size(X)) == 1
    assert coins(exp(size(X))) == 1
    assert coins(mul(size(X), exp(size(X)))) == 2
    assert coins(mul(size(X), exp(mul(size(X), exp(num(1)))))) == 2
