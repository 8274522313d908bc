"""Which tile values are alive at once."""

from __future__ import annotations

from superopt.ugraph.alive import peaks
from superopt.ugraph.alive import shapes
from superopt.ugraph.profile import profile
from tests import nested
from tests import samples as s

ROWS = ("m", "n")


def test_exponentials_and_scores_are_alive_at_once_in_a_walk():
    (block,) = s.two_pass_softmax().kernels
    second = profile(block).regions[1]
    assert ROWS in {axes for alive in peaks(second) for axes in alive}


def test_chains_of_points_around_an_inner_walk_are_taken_element_by_element():
    """The logits alone fill registers there, not what their exponentials go through."""
    (block,) = nested.graph(nested.normaliser(), nested.ROWS).kernels
    inner, outer, _ = profile(block).regions
    assert max(alive.count(ROWS) for alive in peaks(outer)) == 1
    assert all(ROWS not in alive for alive in peaks(inner))
    assert ROWS in inner.held


def test_every_set_of_axes_that_is_multiplied_is_known():
    (block,) = nested.graph(s.attention_delayed(), nested.WIDE).kernels
    found = shapes(profile(block))
    assert {("m", "n", "d"), ("m", "e", "n"), ("m", "n"), ("m", "e")} <= set(found)
    assert all(set(axes) <= set("bhmnde") for axes in found)
