"""The words are read off the graph."""

from __future__ import annotations

from dataclasses import replace

from superopt.ugraph.masks import cleared
from superopt.ugraph.structure import structure
from tests import samples
from tests.grouped import grouped
from tests.grouped import packed


def test_one_walk_with_repaired_carries():
    assert structure(samples.online_attention()) == ("walk of n with 3 carries, 2 repaired",)


def test_a_limit_and_a_split_are_said():
    causal = samples.online_attention(causal=True)
    assert structure(causal) == ("walk of n to m with 3 carries, 2 repaired",)
    clear = replace(causal, kernels=tuple(map(cleared, causal.kernels)))
    assert structure(clear) == ("walk of n to m clear to m with 3 carries, 2 repaired",)
    split = samples.online_attention(split=True)
    assert structure(split) == ("split walk of n with 3 carries, 2 repaired",)


def test_walks_in_order():
    expected = ("walk of n with 2 carries, 1 repaired; walk of n that stores",)
    assert structure(samples.two_pass_softmax()) == expected


def test_no_repair_is_said():
    assert structure(samples.rms_linear_one_walk()) == ("walk of k with 2 carries, 0 repaired",)


def test_what_is_packed_is_said():
    (line,) = structure(packed(grouped()))
    assert line.endswith("with 3 carries, 2 repaired; r packed into m")
