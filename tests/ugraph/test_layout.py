from __future__ import annotations

from superopt.ugraph.cost import launch_cost
from superopt.ugraph.counts import Fold
from superopt.ugraph.layout import beside
from superopt.ugraph.layout import foldings
from superopt.ugraph.levels import Config
from superopt.ugraph.profile import profile
from superopt.ugraph.steps import What
from tests import samples


def test_folds_of_scores_stay_within_a_warp_and_those_of_rows_in_memory_do_not():
    (attention,) = samples.online_attention().kernels
    assert [(f.lanes, f.product) for f in foldings(profile(attention), {})] == [(False, True)] * 2
    (rows,) = samples.two_pass_softmax().kernels
    assert [(f.lanes, f.product) for f in foldings(profile(rows), {})] == [(True, False)] * 2


def test_folds_are_counted_with_what_is_kept_and_what_is_folded():
    (rows,) = samples.two_pass_softmax().kernels
    cost = launch_cost(rows, Config((("m", 4), ("n", 256))), {"m": 64, "n": 4096}, "bf16")
    assert cost.folds == (Fold(True, 1, 4, 256, True, False),) * 2
    assert (cost.walks, cost.steps) == (2, 2 * 16)


def test_what_is_computed_beside_a_left_operand_lies_as_it_does():
    (linear,) = samples.rms_linear_one_walk().kernels
    region = profile(linear).regions[0]
    (product,) = (s for s in region.steps if s.what is What.PRODUCT)
    assert beside(region, product) == 3
    (attention,) = samples.online_attention().kernels
    region = profile(attention).regions[0]
    assert [beside(region, s) for s in region.steps if s.what is What.PRODUCT] == [0, 0]


def test_a_read_says_how_its_tiles_lie():
    (linear,) = samples.rms_linear_one_walk().kernels
    config = Config((("m", 16), ("k", 64), ("n", 32)))
    cost = launch_cost(linear, config, {"m": 64, "k": 4096, "n": 256}, "bf16")
    found = {r.tensor: (r.row, r.element, r.matrix) for r in cost.reads}
    assert found == {"x": (128, 2, True), "g": (128, 2, False), "w": (64, 2, True)}
