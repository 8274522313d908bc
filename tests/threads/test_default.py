"""Schedules without search."""

from __future__ import annotations

import pytest

from superopt.threads.build import build
from superopt.threads.flight import events
from tests.threads.cases import ALL
from tests.threads.cases import block
from tests.threads.cases import config


def steps(name, early=True):
    """What happens in a step: (name, whether it is a wait, stage)."""
    graph = build(block(name), config(block(name)), "bf16", early=early)
    return [(e.name, e.wait, e.place.stage) for e in events(graph.bodies[0])]


def test_the_next_scores_are_issued_before_this_iterations_values_are_awaited():
    found = steps("plain")
    assert found[:3] == [("product_1", False, 0), ("sum0", False, 1), ("product_1", True, 0)]
    late = found.index(("sum0", True, 1))
    assert found.index(("exp2_6", False, 0)) < late  # the exponentials run beside both products
    assert found[late + 1 :] == [("operand_7", False, 0), ("sum0_kept", False, 0)]


def test_a_chain_is_awaited_when_the_next_product_is_issued():
    assert steps("matmul") == [("sum0", False, 0), ("sum0", True, 1)]


def test_chains_are_awaited_after_all_of_them_are_issued():
    assert steps("gated") == [
        *(("sum0", False, 0), ("sum1", False, 0)),
        *(("sum0", True, 1), ("sum1", True, 1)),
    ]


def test_a_computed_operand_is_made_while_the_product_before_is_in_flight():
    found = steps("scaled")
    assert found[0] == ("sum0", False, 1)
    assert found.index(("x_tile_1", False, 0)) < found.index(("sum0", True, 1))


@pytest.mark.parametrize("name", ALL)
def test_in_turn_every_product_is_awaited_at_once(name):
    found = steps(name, early=False)
    for at, (product, wait, stage) in enumerate(found):
        assert stage == 0
        assert not wait or found[at - 1] == (product, False, 0)
