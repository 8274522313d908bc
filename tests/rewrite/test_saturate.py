from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck
from hypothesis import given
from hypothesis import settings

from superopt.rewrite.choose import cheapest
from superopt.rewrite.extract import Builder
from superopt.rewrite.extract import NoTerm
from superopt.rewrite.rank import Sizes
from superopt.rewrite.rule import RULES
from superopt.rewrite.saturate import Budget
from superopt.rewrite.saturate import domain
from superopt.rewrite.saturate import saturate
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.walk import topo
from superopt.verify.reals.numeric import evaluate
from superopt.verify.reals.numeric import same
from tests import samples
from tests.rewrite.random_terms import AXES
from tests.rewrite.random_terms import instances
from tests.rewrite.random_terms import terms


def as_program(node: Node) -> Program:
    params = tuple(n for n in topo([node]) if isinstance(n, Input))
    return Program("random", params, (Store("out", node.axes, None, node),))


def draw(program: Program, sizes: dict[str, int], seed: int) -> dict[Node, np.ndarray]:
    rng = np.random.default_rng(seed)
    found: dict[Node, np.ndarray] = {}
    for node in program.params:
        assert isinstance(node, Input)
        shape = tuple(sizes[a] for a in node.axes)
        # Multiples of 1/2: sums and products are exact, so rounding decides no comparison.
        found[node] = rng.integers(-3, 4, shape) / 2
    return found


def check(node: Node) -> None:
    """All terms of every class have one value and one set of axes."""
    program = as_program(node)
    found = saturate(program, Budget(nodes=150, rounds=4, matches=40))
    graph, base = found.graph, cheapest(found.graph, Sizes({}))
    groups: list[list[Node]] = []
    for cid in list(graph.classes):
        same_value = []
        for choice in graph.nodes(cid):
            try:
                same_value.append(Builder(graph, {**base, cid: choice}, Sizes({})).term(cid))
            except (NoTerm, KeyError):
                continue
        if len(same_value) > 1:
            groups.append(same_value)
    flat = [t for group in groups for t in group]
    for lengths in ((2, 3, 2), (1, 1, 2), (2, 0, 1), (3, 2, 0)):
        sizes = dict(zip(AXES, lengths, strict=True))
        if any(sizes[a] == 0 for a in domain(program)):
            continue
        values = iter(evaluate(flat, draw(program, sizes, sum(lengths)), sizes))
        for group in groups:
            results = [next(values) for _ in group]
            for term, result in zip(group, results, strict=True):
                assert term.axes == group[0].axes
                tame = np.abs(results[0]) < 1e6  # beyond, rounding is as large as values
                tame |= ~np.isfinite(results[0])
                assert np.all(same(result, results[0], 1e-5) | ~tame), (term, group[0], sizes)


RANDOM = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@settings(RANDOM, max_examples=60)
@given(terms())
def test_any_law_anywhere_keeps_value_and_axes(node: Node) -> None:
    check(node)


@pytest.mark.parametrize("name", [r.name for r in RULES.values() if not r.lowering])
def test_a_law_is_applied_only_where_it_holds(name: str) -> None:
    @settings(RANDOM, max_examples=25)
    @given(instances(RULES[name]))
    def at_instances(node: Node) -> None:
        check(node)

    at_instances()


def test_saturation_is_complete_within_the_budget() -> None:
    for program in (samples.attention(), samples.rms_linear(), samples.lora()):
        found = saturate(program, Budget())
        assert found.complete
        assert found.graph.size < 200


def test_a_budget_of_nodes_ends_saturation() -> None:
    found = saturate(samples.lora(), Budget(nodes=5))
    assert not found.complete
    assert found.graph.size < 60


def test_sizes_that_are_divided_by_are_not_empty() -> None:
    assert domain(samples.attention()) == {"d"}  # rsqrt(size("d")) has no value at 0
    assert domain(samples.rms_linear()) == frozenset()
