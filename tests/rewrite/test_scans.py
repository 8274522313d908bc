"""Scans in the e-graph: opaque to laws, which work below and above them; facts and base two."""

from __future__ import annotations

import numpy as np
import pytest

from superopt.rewrite.egraph import EGraph
from superopt.rewrite.egraph import ENode
from superopt.rewrite.egraph import Scanning
from superopt.rewrite.forms import forms
from superopt.rewrite.lowering import lower
from superopt.rewrite.rank import Sizes
from superopt.rewrite.rank import rank
from superopt.rewrite.rule import Fact
from superopt.rewrite.saturate import enter
from superopt.rewrite.show import node_text
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scan
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from tests.samples import add
from tests.samples import exp
from tests.samples import mul
from tests.samples import sub
from tests.samples import total

G, V, C = Input("g", ("m", "n")), Input("v", ("n", "e")), Input("c", ("m",))
SQUARES = mul(G, G)
PREFIX = Scan(Fn.ADD, "n", mul(C, G))
DECAY = total("n", mul(exp(sub(total("n", mul(C, G)), PREFIX)), V))


def program(value: Node) -> Program:
    return Program("p", (G, V, C), (Store("out", value.axes, None, value),))


def outputs(given: Program) -> np.ndarray:
    rng = np.random.default_rng(0)
    sizes = {"m": 3, "n": 6, "e": 2}
    arrays = {p.name: rng.normal(size=[sizes[a] for a in p.order]) for p in given.params}
    return evaluate_program(given, FloatDomain(np.float64), arrays, sizes)["out"]


@pytest.mark.parametrize("value", [DECAY, mul(C, PREFIX), Scan(Fn.MAX, "n", add(PREFIX, G))])
def test_every_form_means_what_was_written(value: Node):
    found = forms(program(value), 12)
    for form in found:
        assert any(isinstance(n, Scan) for n in topo([form.program.outputs[0].value]))
        np.testing.assert_allclose(outputs(form.program), outputs(program(value)), 1e-9)


def test_laws_apply_below_a_scan():
    twice = Scan(Fn.ADD, "n", mul(exp(C), exp(G)))
    best, *_ = forms(program(twice), 12)
    assert node_text(best.program.outputs[0].value) in (
        "cumsum_n(exp(c + g))",
        "cumsum_n(exp(g + c))",
    )


def test_facts_of_prefixes_are_those_of_folds_that_are_not_empty():
    graph = EGraph()
    top = Scan(Fn.MAX, "n", SQUARES)
    home = enter(graph, [Scan(Fn.ADD, "n", SQUARES), top])
    facts = graph.facts(home[top])
    assert facts.axes == {"m", "n"}
    assert facts.known[Fact.LOWER] == frozenset()  # at least the position itself is there
    assert Fact.NONNEGATIVE in graph.facts(home[Scan(Fn.ADD, "n", SQUARES)]).known


def test_equal_scans_are_one_class_and_others_are_not():
    graph = EGraph()
    home = enter(graph, [Scan(Fn.ADD, "n", G), Scan(Fn.ADD, "m", G), Scan(Fn.MAX, "n", G)])
    classes = {home[n] for n in home if isinstance(n, Scan)}
    assert len(classes) == 3
    again = graph.add(ENode(Scanning(Fn.ADD, "n"), (home[G],)))
    assert graph.find(again) == graph.find(home[Scan(Fn.ADD, "n", G)])


def test_a_decay_is_scaled_to_base_two_as_a_whole():
    """Prefix and total must stay what they are, or they would no longer share a carry."""
    made = lower(program(DECAY)).outputs[0].value
    assert PREFIX in topo([made])
    assert total("n", mul(C, G)) in topo([made])
    assert any(isinstance(n, Map) and n.fn is Fn.EXP2 for n in topo([made]))
    np.testing.assert_allclose(outputs(program(made)), outputs(program(DECAY)), 1e-12)


def test_a_scan_is_no_pass_of_its_own():
    sizes = Sizes({"m": 8, "n": 64, "e": 4})
    assert rank(program(DECAY), sizes).passes == 2  # the total, and the sum that reads it
    assert rank(program(total("n", mul(PREFIX, V))), sizes).passes == 1
