"""Choices of different terms of a sum need not fall right all at once."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn
from superopt.verify.field.bound import NEVER
from superopt.verify.field.bound import RoundBound
from superopt.verify.field.coins import coins_at_once
from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.graphs import verify_graph
from superopt.verify.field.terms import Term
from superopt.verify.field.terms import Terms
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import accepted
from tests.samples import div
from tests.samples import mul
from tests.samples import num
from tests.samples import sub
from tests.verify.field.plain import plain
from tests.verify.field.plain import program

X, Y = Input("x", ("m", "n")), Input("y", ("m", "n"))
DELTA = Input("delta", ())


class Board:
    """Terms over some letters."""

    def __init__(self) -> None:
        self.terms = Terms()
        self.letters = [self.terms.term(Term("input", (), n)) for n in "abcdef"]
        self.a, self.b, self.c, self.d, *_ = self.letters

    def size(self, x: int) -> int:
        return self.terms.map(Fn.ABS, (x,), False)

    def needed(self, left: int, right: int) -> int:
        return self.outcomes(left, right)[0]

    def outcomes(self, left: int, right: int) -> tuple[int, int]:
        cone, stack = set[int](), [left, right]
        while stack:
            top = stack.pop()
            cone.add(top)
            stack += self.terms.all[top].args
        return coins_at_once(Polynomials(self.terms, {}), sorted(cone), (left, right))


def test_a_sum_needs_the_choices_of_one_term():
    t = Board()
    sizes = [t.size(x) for x in t.letters]
    total = sizes[0]
    for s in sizes[1:]:
        total = t.terms.add(total, s)
    assert t.needed(total, t.a) == 1
    assert t.needed(t.terms.mul(sizes[0], sizes[1]), t.a) == 2
    assert t.needed(t.terms.mul(sizes[0], sizes[0]), sizes[1]) == 1


def test_every_outcome_of_signs_may_vanish_by_chance():
    t = Board()
    sizes = [t.size(x) for x in t.letters[:3]]
    total = t.terms.add(sizes[0], t.terms.add(sizes[1], sizes[2]))
    assert t.outcomes(total, t.a) == (1, 3)
    assert t.outcomes(sizes[0], t.a) == (1, 0)  # one coin, one outcome
    below = t.terms.map(Fn.LT, (t.a, t.b), False)
    drawn = t.terms.map(Fn.WHERE, (below, t.c, t.d), False)
    assert t.outcomes(t.terms.add(drawn, sizes[0]), t.a) == (1, 1)
    few, many = (RoundBound(4, 0.0, 0, 1, 1, (), signs) for signs in (3, 30))
    assert few.log2_miss < -0.99
    assert many.log2_miss == 0.0
    assert many.rounds(-60) == NEVER


def test_what_is_rounded_is_equal_as_seldom_as_two_coins_fall_right():
    t = Board()
    rounded = t.terms.rounding(Fn.ROUND_FP16, t.a)
    below = t.terms.map(Fn.LT, (t.terms.add(rounded, t.b), t.c), False)
    assert t.outcomes(t.terms.map(Fn.WHERE, (below, t.a, t.d), False), t.a) == (2, 0)
    total = t.terms.add(t.size(t.a), t.size(t.b))
    assert t.needed(t.terms.map(Fn.WHERE, (below, total, t.d), False), t.a) == 4


def test_what_is_compared_and_what_is_chosen_are_needed_together():
    t = Board()
    size = t.size(t.a)
    below = t.terms.map(Fn.LE, (size, t.b), False)
    chosen = t.terms.map(Fn.WHERE, (below, t.terms.mul(size, size), t.c), False)
    assert t.needed(t.terms.add(chosen, t.size(t.d)), t.a) == 2


def test_signs_that_depend_on_each_other_are_all_needed():
    t = Board()
    apart = t.terms.mul(t.size(t.a), t.size(t.b))
    assert t.needed(apart, t.size(t.terms.mul(t.a, t.b))) == 3
    assert t.needed(t.size(t.a), t.size(t.terms.negate(t.a))) == 1  # one sign, twice


@pytest.mark.parametrize("name", ["inv", "exp", "max", "sqrt", "opaque"])
def test_what_may_be_unknown_for_some_outcomes_needs_all(name):
    t = Board()
    total = t.terms.add(t.size(t.a), t.terms.add(t.size(t.b), t.size(t.c)))
    assert t.needed(total, t.d) == 1
    outer = {
        "inv": lambda: t.terms.inverse(total),
        "exp": lambda: t.terms.exp(total),
        "max": lambda: t.terms.map(Fn.MAX, (total, t.d), False),
        "sqrt": lambda: t.terms.add(total, t.terms.sqrt(t.d)),
        "opaque": lambda: t.terms.opaque("tanh", total),
    }[name]()
    assert t.needed(outer, t.d) == 3


@st.composite
def elements(draw: st.DrawFn) -> tuple[Board, int, int]:
    """Two elements over six letters and a few choices between them."""
    t = Board()
    pool = [*t.letters, t.terms.num(Fraction(2))]
    for _ in range(draw(st.integers(3, 12))):
        pick = st.sampled_from(pool)
        fn = draw(st.sampled_from([Fn.ADD, Fn.SUB, Fn.MUL, Fn.WHERE]))
        if fn is Fn.WHERE:
            asked = [t.terms.term(Term("input", (), f"coin{i}")) for i in range(4)]
            left = draw(st.sampled_from(asked))
            condition = t.terms.map(Fn.LT, (left, t.a), False)
            pool.append(t.terms.map(fn, (condition, draw(pick), draw(pick)), False))
        else:
            pool.append(t.terms.map(fn, (draw(pick), draw(pick)), False))
    return t, pool[-1], draw(st.sampled_from(pool))


def valued(t: Board, x: int, truth: dict[int, bool], known: dict[int, Fraction]) -> Fraction:
    """A term at one point, by the outcomes of the comparisons."""
    if x in known:
        return known[x]
    term = t.terms.all[x]
    match term.op:
        case "input":
            return Fraction(sum(ord(c) * 7**i for i, c in enumerate(str(term.value))) ** 3 + 1)
        case "num":
            assert isinstance(term.value, Fraction)
            return term.value
        case "add":
            found = sum((valued(t, a, truth, known) for a in term.args), Fraction(0))
        case "mul":
            left, right = (valued(t, a, truth, known) for a in term.args)
            found = left * right
        case _:
            c, a, b = term.args
            found = valued(t, a if truth[c] else b, truth, known)
    known[x] = found
    return found


@settings(max_examples=80, deadline=None)
@given(elements())
def test_as_many_outcomes_differ_as_the_degree_says(pair):
    """Every outcome of all comparisons, counted, against the share that is promised."""
    t, left, right = pair
    asked = [x for x, term in enumerate(t.terms.all) if term.op == "lt"]
    outcomes = [dict(zip(asked, o, strict=True)) for o in product((False, True), repeat=len(asked))]
    differ = sum(valued(t, left, o, {}) != valued(t, right, o, {}) for o in outcomes)
    assert differ == 0 or differ >= len(outcomes) / 2 ** t.needed(left, right)


def huber(half: Fraction) -> Node:
    """The mean over two axes of a loss that is square near zero and linear beyond."""
    size = Map(Fn.ABS, (sub(X, Y),))
    near = Map(Fn.LE, (size, DELTA))
    beyond = mul(DELTA, sub(size, mul(Const(half), DELTA)))
    return Map(Fn.WHERE, (near, div(mul(size, size), num(2)), beyond))


def test_a_loss_that_chooses_in_every_term_is_accepted():
    loss = Reduce(Fn.ADD, "m", Reduce(Fn.ADD, "n", huber(Fraction(1, 2))))
    whole = program(loss)
    found = verify_graph(whole, plain(whole), 0)
    assert isinstance(found, Sampled)
    assert found.log2_bound < -60


def test_a_wrong_one_is_not():
    right = program(Reduce(Fn.ADD, "m", Reduce(Fn.ADD, "n", huber(Fraction(1, 2)))))
    wrong = program(Reduce(Fn.ADD, "m", Reduce(Fn.ADD, "n", huber(Fraction(1, 3)))))
    assert not accepted(verify_graph(right, plain(wrong), 0))


def test_a_verdict_says_what_has_to_fall_right():
    total = Reduce(Fn.ADD, "m", Reduce(Fn.ADD, "n", huber(Fraction(1, 2))))
    inverse = program(div(num(1), total))
    found = verify_graph(inverse, plain(inverse), 0)
    assert isinstance(found, Unknown)
    assert "choices by the sign or order of data have to fall right at once" in found.why


def test_a_verdict_names_the_factor_whose_sign_is_not_known():
    scale, nothing = Input("scale", ()), Map(Fn.LOG, (sub(num(1), num(1)),))
    for factor, named in ((scale, "scale"), (mul(scale, scale), "mul(scale, scale)")):
        both = program(mul(nothing, factor))
        found = verify_graph(both, plain(both), 0)
        assert isinstance(found, Unknown)
        assert found.why == f"an infinity times {named}, of which no sign is known"


def test_numbers_may_be_equal_though_residues_hardly_ever_are():
    """The value where they are was read as if it did not matter: any number stood for 3."""
    same = Map(Fn.EQ, (X, Y))

    def chosen(value: int) -> Node:
        return Reduce(Fn.ADD, "n", Map(Fn.WHERE, (same, num(value), X)))

    spec = program(chosen(3))
    assert isinstance(verify_graph(spec, plain(spec), 0), Sampled)
    for other in (chosen(4), Reduce(Fn.ADD, "n", X)):
        assert not accepted(verify_graph(spec, plain(program(other)), 0))
