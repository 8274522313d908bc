from __future__ import annotations

from superopt.rewrite.egraph import EGraph
from superopt.rewrite.match import Matcher
from superopt.rewrite.match import normal
from superopt.rewrite.rule import RULES
from superopt.rewrite.rule import Var
from superopt.rewrite.saturate import enter
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from tests.samples import add
from tests.samples import largest
from tests.samples import mul
from tests.samples import total

X = Input("x", ("m", "n"))
Y = Input("y", ("n", "k"))
C = Input("c", ("m",))
D = Input("d", ("m",))


def rewritten(law: str, node: Node, *wanted: Node) -> list[bool]:
    """Which of ``wanted`` the law makes of ``node`` in one application."""
    graph = EGraph()
    home = enter(graph, [node, *wanted])
    matcher = Matcher(RULES[law])
    cid = graph.find(home[node])
    made = []
    for enode in graph.nodes(cid):
        if matcher.roots(enode.op):
            made += [matcher.build(graph, f) for f in matcher.search(graph, enode, cid)]
    return [graph.find(home[w]) in made for w in wanted]


def test_quotients_are_products_in_patterns() -> None:
    x, y = Var("x"), Var("y")
    assert normal(x / y) == normal(x * (1 / y))
    assert normal(x - y) == normal(x + (-1) * y)


def test_all_free_factors_leave_a_fold_at_once() -> None:
    flat = Map(Fn.MUL, (X, C))
    assert rewritten("factor_out_of_sum", total("n", flat), mul(total("n", X), C)) == [True]


def test_a_factor_with_the_axis_stays() -> None:
    graph = EGraph()
    node = total("n", mul(X, Y))
    home = enter(graph, [node])
    matcher = Matcher(RULES["factor_out_of_sum"])
    cid = home[node]
    assert not [f for n in graph.nodes(cid) for f in matcher.search(graph, n, cid)]


def test_a_common_factor_is_found_in_any_position() -> None:
    node = add(mul(C, X), mul(D, X))
    assert rewritten("common_factor", node, mul(X, add(C, D))) == [True]


def test_terms_that_are_not_needed_stay_as_context() -> None:
    graph = EGraph()
    home = enter(graph, [X, mul(C, X), mul(D, X), mul(X, add(C, D))])
    args = [home[n] for n in (X, mul(C, X), mul(D, X))]
    node = graph.apply(Fn.ADD, args)
    matcher = Matcher(RULES["common_factor"])
    made = {
        matcher.build(graph, f) for n in graph.nodes(node) for f in matcher.search(graph, n, node)
    }
    assert graph.apply(Fn.ADD, [home[X], home[mul(X, add(C, D))]]) in made


def test_a_hole_that_occurs_twice_is_one_value() -> None:
    same, other = Map(Fn.MAX, (X, X)), Map(Fn.MAX, (X, mul(X, C)))
    assert rewritten("maximum_of_same", same, X) == [True]
    assert rewritten("maximum_of_same", other, X, mul(X, C)) == [False, False]


def test_needs_must_be_known() -> None:
    node = largest("n", mul(X, C))  # the sign of c is not known
    assert rewritten("factor_out_of_maximum", node, mul(largest("n", X), C)) == [False]
    e = Map(Fn.EXP, (C,))
    assert rewritten("factor_out_of_maximum", largest("n", mul(X, e)), mul(largest("n", X), e)) == [
        True
    ]
