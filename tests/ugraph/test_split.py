from __future__ import annotations

from superopt.ugraph.check import check
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Whole
from superopt.ugraph.split import launches
from superopt.ugraph.split import part_axis
from superopt.ugraph.split import split_axis
from tests.samples import online_attention
from tests.samples import two_pass_softmax


def test_a_graph_without_split_launches_its_own_kernels():
    assert launches(two_pass_softmax()) == two_pass_softmax().kernels


def test_a_split_kernel_is_a_kernel_of_parts_and_a_combining_one():
    parts, combining = launches(online_attention(causal=True, split=True))
    assert parts.place["n.part"] == Grid(tiled=False)
    assert parts.place["n"] == Split()
    assert [s.order for s in parts.stores][2] == ("n.part", "b", "h", "m", "e")
    assert combining.place["n.part"] == Whole()
    assert "n" not in combining.place
    assert "d" not in combining.place  # nothing varies over it any more
    assert [s.name for s in combining.stores] == ["out"]
    assert check(parts) == []
    assert check(combining) == []


def test_part_axes_say_what_they_cut():
    assert split_axis(part_axis("n")) == "n"
    assert split_axis("n") is None
