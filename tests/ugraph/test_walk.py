from __future__ import annotations

from hypothesis import given

from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.walk import children
from superopt.ugraph.walk import rebuild
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import transform
from superopt.ugraph.walk import users
from tests.samples import add
from tests.samples import exp
from tests.samples import mul
from tests.ugraph.strategies import nodes

X, Y = Input("x", ("m",)), Input("y", ("m",))


@given(nodes())
def test_topo_lists_each_node_once_after_its_arguments(node):
    order = topo([node])
    assert order[-1] is node
    assert len(set(order)) == len(order)
    assert all(order.index(c) < order.index(n) for n in order for c in children(n))


def test_topo_of_shared_nodes_is_linear():
    node: Node = X
    for _ in range(200):
        node = add(node, node)
    assert len(topo([node])) == 201


@given(nodes())
def test_rebuilding_and_transforming_nothing_changes_nothing(node):
    assert rebuild(node, children(node)) is node
    assert transform([node], lambda n: n)[node] is node
    assert substitute(node, {}) is node


def test_transform_sees_new_arguments():
    new = transform([exp(add(X, X))], lambda n: Y if n is X else n)
    assert new[exp(add(X, X))] is exp(add(Y, Y))


def test_substitute_replaces_whole_subterms_outermost_first():
    by = {add(X, Y): X, X: Y}
    assert substitute(mul(add(X, Y), X), by) is mul(X, Y)


def test_users_are_listed_once_each():
    square = mul(X, X)
    assert users([square, exp(X)])[X] == [square, exp(X)]
    assert users([square])[square] == []
