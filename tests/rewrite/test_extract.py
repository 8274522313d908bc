from __future__ import annotations

import pytest

from superopt.rewrite.egraph import EGraph
from superopt.rewrite.extract import Builder
from superopt.rewrite.extract import NoTerm
from superopt.rewrite.rank import Sizes
from superopt.rewrite.saturate import enter
from superopt.ugraph.names import ordered as ordered_here
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import transform
from tests import samples
from tests.samples import div
from tests.samples import exp
from tests.samples import mul
from tests.samples import total

E = Input("e", ("m", "n"))
L = Input("l", ("m",))
V = Input("v", ("n", "d"))


def ordered(node: Node) -> Node:
    return transform([node], ordered_here)[node]


def built(graph: EGraph, cid: int) -> Node:
    choice = {c: graph.nodes(c)[0] for c in graph.classes}
    return Builder(graph, choice, Sizes({})).term(cid)


@pytest.mark.parametrize(
    "program", [samples.attention(), samples.attention(True), samples.rms_linear(), samples.lora()]
)
def test_what_is_entered_comes_out_again(program: samples.Program) -> None:
    graph = EGraph()
    value = program.outputs[0].value
    home = enter(graph, [value])
    assert built(graph, home[value]) is ordered(value)


def test_flat_products_are_associated_by_size() -> None:
    graph = EGraph()
    parts = [E, V, L]
    home = enter(graph, parts)
    flat = graph.apply(Fn.MUL, [home[p] for p in parts])
    assert built(graph, flat) is ordered(mul(mul(E, L), V))


def test_a_quotient_stands_where_it_is_small() -> None:
    graph = EGraph()
    home = enter(graph, [E, V, L])
    flat = graph.apply(Fn.MUL, [home[E], home[V], graph.inverse(home[L])])
    assert built(graph, flat) is ordered(mul(div(E, L), V))
    fold = graph.apply(
        Fn.MUL,
        [enter(graph, [total("n", mul(E, V))])[total("n", mul(E, V))], graph.inverse(home[L])],
    )
    assert built(graph, fold) is ordered(div(total("n", mul(E, V)), L))


def test_shared_classes_are_shared_nodes() -> None:
    graph = EGraph()
    node = mul(exp(E), total("n", exp(E)))
    home = enter(graph, [node])
    made = built(graph, home[node])
    assert sum(n is exp(E) for n in topo([made])) == 1


def test_a_cyclic_choice_has_no_term() -> None:
    graph = EGraph()
    home = enter(graph, [exp(L)])
    graph.union(home[L], home[exp(L)])
    graph.rebuild()
    cid = graph.find(home[L])
    looped = next(n for n in graph.nodes(cid) if n.args)
    with pytest.raises(NoTerm, match="cyclic"):
        Builder(graph, {cid: looped}, Sizes({})).term(cid)
