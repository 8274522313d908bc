from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from superopt.report.algebra import abbreviated
from superopt.report.algebra import algebra
from superopt.report.algebra import combined
from superopt.report.algebra import plain
from superopt.report.algebra import shared
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import div
from tests.samples import eq
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import sub
from tests.samples import total
from tests.samples import where

X, Y = Input("x", ("m", "n")), Input("y", ("m", "n"))
NEW, OLD = State("s", ("m",)), State("s", ("m",), old=True)


def test_parentheses_only_where_they_are_needed():
    assert algebra(mul(add(X, Y), X)) == "(x + y) * x"
    assert algebra(add(mul(X, Y), X)) == "x * y + x"
    assert algebra(sub(X, sub(Y, X))) == "x - (y - x)"
    assert algebra(sub(sub(X, Y), X)) == "x - y - x"
    assert algebra(div(X, mul(Y, X))) == "x / (y * x)"
    assert algebra(mul(num(-1), sub(X, Y))) == "-(x - y)"
    assert algebra(sub(X, mul(num(-1), Y))) == "x - -y"


def test_states_folds_and_numbers():
    assert algebra(exp(sub(OLD, NEW))) == "exp(s - s')"
    assert algebra(div(total("n", X), Size("n"))) == "sum_n(x) / size(n)"
    assert algebra(add(X, Const(Fraction(1, 100000)))) == "x + 1e-05"
    assert algebra(mul(X, Const(Fraction(1, 3)))) == "x * 1/3"
    assert algebra(where(eq(NEW, NEG_INF), num(0), Index("n"))) == "where(s' == -inf, 0, index(n))"


def test_guards_at_single_values_are_left_out_and_other_choices_stay():
    assert plain(where(eq(NEW, NEG_INF), num(0), NEW)) is NEW
    ones = where(Map(Fn.LE, (num(0), Index("n"))), num(1), num(0))
    assert plain(ones) is num(1)
    mask = where(Map(Fn.LE, (Index("n"), Index("m"))), X, NEG_INF)
    assert plain(mask) is mask


def test_long_terms_that_stand_still_get_one_letter_each():
    long = total("d", mul(Input("normalised_query", ("m", "d")), Input("value", ("n", "d"))))
    texts, legend = abbreviated([exp(sub(long, NEW)), mul(long, OLD), X])
    assert texts == ["exp(u - s')", "u * s", "x"]
    assert legend == [f"u = {algebra(long)}"]


def test_a_letter_is_not_the_name_of_a_tensor():
    long = total("d", mul(Input("u", ("m", "d")), Input("second_operand", ("n", "d"))))
    texts, _ = abbreviated([sub(long, NEW)])
    assert texts == ["v - s'"]


def test_what_is_there_twice_gets_one_letter():
    top = total("n", exp(X))
    texts, legend = shared([div(exp(X), top), add(top, num(1))])
    assert legend == ["u = sum_n(exp(x))"]
    assert texts == ["exp(x) / u", "u + 1"]


def test_two_texts_under_a_fold():
    assert combined(Fn.ADD, "a * b", "c") == "a * b + c"
    assert combined(Fn.MAX, "a", "b + c") == "max(a, b + c)"


TERMS = st.recursive(
    st.sampled_from([X, Y, num(2), num(3)]),
    lambda inner: st.builds(
        lambda make, a, b: make(a, b), st.sampled_from([add, sub, mul]), inner, inner
    ),
    max_leaves=12,
)


@given(st.lists(TERMS, min_size=1, max_size=3))
def test_letters_mean_what_they_stand_for(nodes):
    """Python reads the texts, letters put in from the first to the last, as it reads the terms."""
    nodes = [mul(n, n) for n in nodes]
    values: dict[str, object] = {"x": 5, "y": 7}
    texts, legend = shared(nodes, 0)
    for line in legend:
        letter, _, text = line.partition(" = ")
        values[letter] = eval(text, {}, dict(values))
    plainly = {"x": 5, "y": 7}
    assert [eval(t, {}, dict(values)) for t in texts] == [
        eval(algebra(n), {}, dict(plainly)) for n in nodes
    ]
