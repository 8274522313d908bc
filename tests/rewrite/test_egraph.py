from __future__ import annotations

from fractions import Fraction

from superopt.rewrite.egraph import EGraph
from superopt.rewrite.saturate import enter
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import sub
from tests.samples import total

A, B, C = (Input(n, ("m",)) for n in "abc")


def classes(*nodes: Node) -> tuple[EGraph, list[int]]:
    graph = EGraph()
    home = enter(graph, list(nodes))
    return graph, [graph.find(home[n]) for n in nodes]


def test_order_of_operands_is_not_seen() -> None:
    _, (x, y) = classes(add(A, B), add(B, A))
    assert x == y


def test_differences_and_quotients_have_one_form() -> None:
    _, (x, y) = classes(sub(A, B), add(A, mul(num(-1), B)))
    assert x == y
    _, (x, y) = classes(div(A, B), mul(A, div(num(1), B)))
    assert x == y


def test_numbers_are_folded() -> None:
    graph, (six,) = classes(mul(num(2), num(3)))
    assert graph.facts(six).const == 6
    graph, (half,) = classes(div(num(1), num(2)))
    assert graph.facts(half).const == Fraction(1, 2)


def test_congruence() -> None:
    graph, (a, b, ea, eb) = classes(A, B, exp(A), exp(B))
    assert ea != eb
    assert graph.union(a, b)
    graph.rebuild()
    assert graph.find(ea) == graph.find(eb)


def test_congruence_goes_all_the_way_up() -> None:
    left, right = exp(add(exp(A), C)), exp(add(exp(B), C))
    graph, (a, b, x, y) = classes(A, B, left, right)
    graph.union(a, b)
    graph.rebuild()
    assert graph.find(x) == graph.find(y)


def test_values_of_different_axes_or_kinds_are_never_one() -> None:
    wide = Input("w", ("m", "n"))
    graph, (a, w, s) = classes(A, wide, total("n", wide))
    assert not graph.union(a, w)
    assert graph.union(a, s)


def test_ids_depend_on_arrival_only() -> None:
    first, one = classes(add(A, mul(B, C)))
    second, two = classes(add(A, mul(B, C)))
    assert one == two
    assert list(first.memo) == list(second.memo)
