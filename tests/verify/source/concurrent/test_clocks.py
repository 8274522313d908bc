"""Vector clocks: what is known, and what is not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from superopt.verify.source.concurrent.clocks import Agent
from superopt.verify.source.concurrent.clocks import merge

CLOCKS = st.dictionaries(st.integers(0, 3), st.integers(1, 5), max_size=4)


def merged(*clocks):
    found: dict[int, int] = {}
    for clock in clocks:
        merge(found, clock)
    return found


@given(CLOCKS, CLOCKS, CLOCKS)
def test_merging_is_a_least_upper_bound(a, b, c):
    assert merged(a, b) == merged(b, a)
    assert merged(a, merged(b, c)) == merged(merged(a, b), c)
    assert merged(a, a) == a
    assert all(merged(a, b)[k] == max(a.get(k, 0), b.get(k, 0)) for k in {*a, *b})


def test_a_release_tells_what_happened_before_it_and_nothing_after():
    writer, reader = Agent(0, "writer"), Agent(1, "reader")
    first = writer.step()
    released = dict(writer.seen)
    second = writer.step()
    assert not reader.knows(first)
    reader.learn(released)
    assert reader.knows(first)
    assert not reader.knows(second)
    assert writer.knows(second)
