"""Numbers of iterations as text."""

from __future__ import annotations

import pytest

from superopt.emit.struct.frames import Stretch
from superopt.emit.struct.frames import plus
from superopt.emit.struct.frames import times
from superopt.ugraph.levels import Walk

FORWARD = Stretch(Walk("n", ()), "0", "n_count", "0", False, "", None)
BACK = Stretch(Walk("n", (), reverse=True), "0", "n_count", "n_done", False, "", None)


@pytest.mark.parametrize("iteration", ["0", "step", "step - 1", "n_count - 1"])
def test_tiles_are_counted_from_either_end(iteration):
    values = {"step": 3, "n_count": 7, "n_done": 4}
    at = eval(iteration, values)
    assert eval(FORWARD.step(iteration), values) == at
    assert eval(BACK.step(iteration), values) == 7 - 1 - at
    assert eval(BACK.number(iteration), values) == 4 + at


@pytest.mark.parametrize("a", ["0", "1", "x", "x - 1"])
@pytest.mark.parametrize("b", ["0", "y", "y + 2"])
def test_sums_and_products_mean_what_they_say(a, b):
    values = {"x": 5, "y": 11}
    assert eval(plus(a, b), values) == eval(a, values) + eval(b, values)
    if " " not in b:
        assert eval(times(a, b), values) == eval(a, values) * eval(b, values)
