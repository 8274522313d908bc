from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from superopt.search.order import Queue


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(0, 3))))
def test_entries_come_by_bound_then_rank_then_arrival(given_):
    queue: Queue[int] = Queue()
    for number, (bound, rank) in enumerate(given_):
        queue.push(bound, rank, number)
    order = [queue.pop() for _ in range(len(given_))]
    assert order == sorted(
        range(len(given_)), key=lambda i: (round(given_[i][0], 6), given_[i][1], i)
    )
    assert queue.least == float("inf")


def test_rounding_decides_nothing():
    queue: Queue[str] = Queue()
    queue.push(0.1 + 0.2, 0, "first")
    queue.push(0.3, 0, "second")
    assert queue.clear() == ["first", "second"]
    assert len(queue) == 0
