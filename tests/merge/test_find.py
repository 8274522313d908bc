from __future__ import annotations

import pytest

from superopt.errors import NoRepair
from superopt.loading import load
from superopt.merge.derive import splitting
from superopt.merge.find import folded
from superopt.merge.find import merge
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Whole
from superopt.ugraph.names import rename
from superopt.verify.field.graphs import verify_graph
from superopt.verify.verdict import accepted
from tests.merge import specs


@pytest.mark.parametrize(
    ("name", "free"), [("unscaled", ()), ("extremes", ()), ("normalised", ("sum0",))]
)
def test_the_first_way_that_holds(name, free):
    merging, claims = merge(getattr(specs, name).program, "n")
    assert merging.section.free == free
    assert all(accepted(v) for _, v in claims)


@pytest.mark.parametrize(
    ("name", "missing"),
    [("weighted", "they do with max.* and add"), ("deviation", "they do with add.n. of x")],
)
def test_a_refusal_says_which_states_are_missing(name, missing):
    with pytest.raises(NoRepair, match=missing):
        merge(getattr(specs, name).program, "n")


def test_an_inner_fold_of_what_is_made_up_keeps_its_axis():
    """A minimum over centres of sums over features: neither sum is told by it."""
    (nearest,) = load("specs/nearest.py:nearest")
    with pytest.raises(NoRepair, match=r"they do with add.k. of .* and add.k. of"):
        merge(nearest.program, "k")


def test_what_is_derived_is_what_was_written_by_hand():
    """``specs/partials.py`` joins results of attention; the derived joining is the same."""
    by_hand = load("specs/partials.py:merged")[0].program
    derived = next(splitting(specs.normalised.program, "n").mergings()).program
    names = dict(
        zip((p.name for p in derived.params), (p.name for p in by_hand.params), strict=True)
    )
    derived = rename(derived, {}, names)
    assert derived.params == by_hand.params
    block = BlockGraph((("m", Grid()), ("e", Grid()), ("p", Whole())), (), derived.outputs, ())
    graph = KernelGraph("merged", derived.params, ("out0", "out1"), (block,))
    assert accepted(verify_graph(by_hand, graph, 0))


def test_axes_that_are_folded():
    assert folded(specs.normalised.program) == ("n",)


def test_parts_of_a_recurrence_are_no_results_that_are_joined():
    assert folded(specs.fading.program) == ("n",)
    with pytest.raises(NoRepair, match="would take the whole map of each part"):
        merge(specs.fading.program, "n")


@pytest.mark.parametrize("axis", ["n", "d"])
def test_an_output_that_keeps_the_axis_is_not_joined_along_it(axis):
    (rule,) = load("specs/recurrent.py:delta_rule")
    assert axis in folded(rule.program)
    with pytest.raises(NoRepair, match=f"has a value at every position of '{axis}'"):
        merge(rule.program, axis)
