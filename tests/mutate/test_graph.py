"""Mutants of kernel graphs."""

from __future__ import annotations

import pytest

from superopt.mutate.graph import graph_mutants
from tests import nested
from tests import samples
from tests.emit.cases import CASES

GRAPHS = {
    "causal": samples.online_attention(causal=True),
    "two walks": samples.two_pass_softmax(),
    "nested": nested.graph(nested.probabilities(), nested.ROWS),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_every_mutant_is_another_graph_with_one_change(name):
    graph = GRAPHS[name]
    found = list(graph_mutants(graph))
    assert all(m.graph != graph for m in found)
    assert all(graph not in m.unknown for m in found)
    assert len({(m.what, m.kind) for m in found}) >= 15


def test_inner_walks_are_changed_too():
    said = [m.what for m in graph_mutants(GRAPHS["nested"])]
    assert any("walk of n, walk of k" in what for what in said)


def test_limits_and_moves_are_changed():
    said = " ".join(m.what for m in graph_mutants(GRAPHS["causal"]))
    assert "no moves" in said
    assert "stop +1" in said


def test_folds_of_lists_and_of_one_term_are_not_changed():
    """A list with another fold is no graph, and of one rank every fold is what stands there."""
    (graph, *_) = CASES["leading"]().graphs
    assert dict(graph.fixed) == {"t": 1}
    changes = [m.what for m in graph_mutants(graph)]
    assert changes
    assert not any("fold" in what for what in changes)
    (listing, *_) = CASES["listing"]().graphs
    folds = [m.what for m in graph_mutants(listing) if "fold" in m.what]
    assert folds
    assert not any("best" in what for what in folds)
