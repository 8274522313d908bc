from __future__ import annotations

from fractions import Fraction

from superopt.rewrite.egraph import EGraph
from superopt.rewrite.facts import NONE
from superopt.rewrite.facts import Facts
from superopt.rewrite.rule import Fact
from superopt.rewrite.saturate import enter
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from tests.samples import NEG_INF
from tests.samples import exp
from tests.samples import finite
from tests.samples import largest
from tests.samples import mul
from tests.samples import num
from tests.samples import positive
from tests.samples import sub
from tests.samples import total
from tests.samples import where

X = Input("x", ("m", "n"))
MASK = Input("mask", ("m", "n"), "bool")
MASKED = where(MASK, X, NEG_INF)
N = frozenset({"n"})


def facts(node: Node) -> Facts:
    graph = EGraph()
    return graph.facts(enter(graph, [node])[node])


def finite_under(node: Node) -> object:
    known = facts(node).known
    if Fact.LOWER not in known or Fact.UPPER not in known:
        return None
    return known[Fact.LOWER] | known[Fact.UPPER]


def test_nothing_is_known_by_default() -> None:
    unknown = Map(Fn.DIV, (X, X))
    assert facts(unknown).known == {}
    assert facts(sub(MASKED, MASKED)).known == {}  # -inf - -inf is undefined


def test_inputs_are_finite_and_nothing_else() -> None:
    assert finite_under(X) == NONE
    assert Fact.NONNEGATIVE not in facts(X).known


def test_a_maximum_is_finite_unless_its_axis_is_empty() -> None:
    assert finite_under(largest("n", X)) == N
    assert finite_under(sub(X, largest("n", X))) == NONE  # x exists only where n is not empty


def test_a_masked_value_may_be_minus_infinity() -> None:
    known = facts(MASKED).known
    assert Fact.LOWER not in known
    assert known[Fact.UPPER] == NONE
    assert finite_under(exp(MASKED)) == NONE
    assert Fact.NONZERO not in facts(exp(MASKED)).known


def test_guards_are_understood() -> None:
    m = largest("n", MASKED)
    assert finite_under(m) is None
    assert finite_under(finite(m)) == NONE
    e = exp(sub(MASKED, finite(m)))
    assert finite_under(e) == NONE
    assert Fact.NONZERO not in facts(total("n", e)).known
    assert facts(positive(total("n", e))).known[Fact.NONZERO] == NONE


def test_sums_of_positive_values_are_positive_unless_empty() -> None:
    assert facts(total("n", exp(X))).known[Fact.NONZERO] == N
    assert facts(total("n", exp(X))).known[Fact.NONNEGATIVE] == NONE


def test_squares_are_nonnegative() -> None:
    assert facts(mul(X, X)).known[Fact.NONNEGATIVE] == NONE
    assert Fact.NONNEGATIVE not in facts(mul(X, Input("y", ("m",)))).known


def test_sizes_and_numbers() -> None:
    assert facts(Size("n")).known[Fact.NONZERO] == N
    assert facts(num(Fraction(1, 3))).const == Fraction(1, 3)
    assert Fact.NONNEGATIVE not in facts(num(-2)).known
    assert Fact.UPPER not in facts(Const(INF)).known


def test_a_negative_factor_turns_bounds() -> None:
    known = facts(mul(num(-1), MASKED)).known
    assert known[Fact.LOWER] == NONE
    assert Fact.UPPER not in known
    assert facts(mul(X, MASKED)).known == {}  # 0 * -inf is undefined


def test_knowledge_only_grows_when_classes_merge() -> None:
    graph = EGraph()
    home = enter(graph, [X, mul(X, X)])
    graph.union(home[X], home[mul(X, X)])
    assert Fact.NONNEGATIVE in graph.facts(home[X]).known
