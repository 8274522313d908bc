"""Several consumers with one schedule."""

from __future__ import annotations

import pytest

from superopt.threads.schedule.classes import Work
from superopt.threads.schedule.classes import classes
from superopt.threads.schedule.place import placed
from superopt.threads.schedule.share import shared
from tests.threads.schedule.cases import NARROW
from tests.threads.schedule.cases import SQUARE
from tests.threads.schedule.cases import WIDE
from tests.threads.schedule.cases import problem
from tests.threads.schedule.simulated import Machine

CASES = [
    ("plain", 2, WIDE),
    ("plain", 3, NARROW),
    ("plain", 2, NARROW),
    ("matmul", 2, SQUARE),
]


@pytest.mark.parametrize(("name", "consumers", "tiles"), CASES)
def test_consumers_are_as_far_apart_as_they_may_be(name, consumers, tiles):
    made = problem(name, consumers, 3, **tiles)
    alone = classes(made, 1, Work())[0][0]
    found = shared(made, alone, Work())
    assert found is not None
    assert found.interval >= max(alone.interval, made.least_shared)
    assert found.interval <= made.least_shared * 1.1 or found.interval == alone.interval
    assert abs(consumers * found.phase - found.interval) <= found.interval / 8
    one, all_ = placed(made, alone), placed(made, found)
    assert (one.places, one.waits) == (all_.places, all_.waits)
    start = tuple(found.phase * c for c in range(consumers))
    # Here units serve who comes first, not who should; that costs a little now and then.
    assert Machine(made, all_, 24, start).run().interval <= found.interval * 1.1


def test_one_consumer_shares_nothing():
    made = problem("plain", **NARROW)
    alone = classes(made, 1, Work())[0][0]
    assert shared(made, alone, Work()) is alone


def test_work_that_is_spent_ends_the_search():
    made = problem("plain", 2)  # which is not found at the first interval
    alone = classes(made, 1, Work())[0][0]
    assert shared(made, alone, Work(0)) is None
