from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from superopt.tune.space import Point
from superopt.tune.space import distance
from superopt.ugraph.levels import Config
from tests.tune.tuning import TILES
from tests.tune.tuning import WARPS
from tests.tune.tuning import points
from tests.tune.tuning import structure


def test_parameters_name_every_number_of_every_launch():
    one, two = Config((("m", 16), ("n", 32)), 2, 4, 3), Config((("m", 64),), group=8)
    found = Point((one, two), 1.0).parameters
    assert found["0.tile.n"] == 32
    assert found["0.parts"] == 2
    assert found["1.tile.m"] == 64
    assert found["1.group"] == 8
    assert found["1.descriptors"] is False
    assert len({p.launches for p in points()}) == len(
        {tuple(p.parameters.items()) for p in points()}
    )


def test_choices_are_what_varies():
    assert structure().choices == {"0.tile.m": TILES, "0.tile.n": TILES, "0.warps": WARPS}


@given(st.sampled_from(points()), st.sampled_from(points()))
def test_distance_counts_doublings(a, b):
    there, back = distance(a.parameters, b.parameters), distance(b.parameters, a.parameters)
    assert there == back
    assert (there == 0) == (a.launches == b.launches)


def test_the_nearest_point_that_is_left():
    whole = structure()
    wanted = {"0.tile.m": 64, "0.tile.n": 64, "0.warps": 8}
    first = whole.nearest(wanted, {})
    assert first.launches == (Config((("m", 64), ("n", 64)), 1, 8, 1),)
    second = whole.nearest(wanted, {first.launches: None})
    assert distance(second.parameters, wanted) == 1
    assert whole.nearest(wanted, {p.launches: None for p in whole.points}) is None
