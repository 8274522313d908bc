"""Recurrences in the e-graph: opaque to laws, which work below and above them; facts and rank."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from superopt.rewrite.egraph import EGraph
from superopt.rewrite.forms import forms
from superopt.rewrite.lowering import lower
from superopt.rewrite.rank import Sizes
from superopt.rewrite.rank import rank
from superopt.rewrite.rule import Fact
from superopt.rewrite.saturate import enter
from superopt.rewrite.show import class_text
from superopt.rewrite.show import node_text
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.names import canonical
from superopt.ugraph.node import ONE
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from tests.samples import add
from tests.samples import exp
from tests.samples import mul
from tests.samples import total

G, K, V, C = (
    Input("g", ("n",)),
    Input("k", ("n", "d")),
    Input("v", ("n", "e")),
    Input("c", ("d",)),
)
STATES = Recur("n", (("d",),), (mul(exp(G), exp(G)), mul(K, V), mul(C, K), K))
LAST = replace(STATES, last=True)
READ = total("d", mul(mul(C, K), STATES))


def program(*values: Node) -> Program:
    stores = tuple(Store(f"out{i}", v.axes, None, v) for i, v in enumerate(values))
    return Program("p", (G, K, V, C), stores)


def outputs(given: Program) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    sizes = {"n": 4, "d": 3, "e": 2}
    arrays = {p.name: rng.normal(size=[sizes[a] for a in p.order]) for p in given.params}
    return list(evaluate_program(given, FloatDomain(np.float64), arrays, sizes).values())


@pytest.mark.parametrize("values", [(READ, LAST), (mul(C, LAST),), (add(STATES, V),)])
def test_every_form_means_what_was_written(values: tuple[Node, ...]):
    given = program(*values)
    for form in forms(given, 8):
        assert any(isinstance(n, Recur) for n in topo(s.value for s in form.program.outputs))
        for found, wanted in zip(outputs(form.program), outputs(given), strict=True):
            np.testing.assert_allclose(found, wanted, 1e-9)


def test_laws_apply_below_a_recurrence():
    twice = Recur("n", (), (mul(exp(C), exp(K)), V), last=True)
    best, *_ = forms(program(twice), 12)
    assert node_text(best.program.outputs[0].value) in (
        "last_state_n(exp(c + k), v, 0)",
        "last_state_n(exp(k + c), v, 0)",
    )


def test_finite_steps_have_finite_states():
    graph = EGraph()
    home = enter(graph, [STATES, LAST, Recur("n", (), (ONE, Map(Fn.LOG, (K,))))])
    for node in (STATES, LAST):
        known = graph.facts(home[node])
        assert {Fact.DEFINED, Fact.LOWER, Fact.UPPER} <= set(known.known)
        assert known.axes == frozenset(node.axes)
    (other,) = (c for n, c in home.items() if isinstance(n, Recur) and n.args[0] is ONE)
    assert Fact.LOWER not in graph.facts(other).known
    assert class_text(graph, graph.nodes(home[LAST])[0]).startswith("last_state_n(")


def test_the_last_state_is_a_pass_and_both_views_are_the_work_of_one():
    sizes = Sizes({"n": 8, "d": 4, "e": 2})
    plain = Recur("n", (), (ONE, mul(K, V)))
    each, both = program(plain), program(plain, replace(plain, last=True))
    assert rank(both, sizes).work == rank(each, sizes).work
    again = program(mul(replace(plain, last=True), V))
    assert (rank(each, sizes).passes, rank(again, sizes).passes) == (1, 2)


def test_a_recurrence_has_words_and_a_canonical_form():
    assert node_text(STATES, 1) == "state_n(..., ..., ..., k, 0)"
    summed = Recur("n", (("d", "e"),), (ONE, mul(K, V), ONE, K), last=True)
    found, names = canonical(program(summed))
    (store,) = names.back(found).outputs
    assert store.value is summed
    powers = lower(program(LAST)).outputs[0].value
    assert isinstance(powers, Recur)
    assert any(isinstance(n, Map) and n.fn is Fn.EXP2 for n in topo([powers]))
