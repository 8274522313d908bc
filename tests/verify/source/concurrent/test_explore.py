"""All orders at barriers: by search of all states, and from one order with vector clocks."""

from __future__ import annotations

import pytest
from hypothesis import assume
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.verify.source.concurrent.barriers import Arrive
from superopt.verify.source.concurrent.barriers import Copy
from superopt.verify.source.concurrent.barriers import Fork
from superopt.verify.source.concurrent.barriers import History
from superopt.verify.source.concurrent.barriers import Join
from superopt.verify.source.concurrent.barriers import Wait
from superopt.verify.source.concurrent.barriers import fresh
from superopt.verify.source.concurrent.explore import explore
from superopt.verify.source.concurrent.ordered import ordered
from superopt.verify.source.faults import OutsideVocabularyError


def history(barriers, *roles) -> History:
    numbers = tuple(range(1, len(roles) + 1))
    names = ("entry", *(f"role {n}" for n in numbers))
    named = tuple((f"b{i}", count) for i, count in enumerate(barriers))
    return History(names, ((Fork(numbers), Join(numbers)), *map(tuple, roles)), named)


def ring(blocks: int, slots: int, consumers: int = 2, late: int = 0) -> History:
    """A producer and consumers over a ring; ``late``: consumers release a slot so much later."""
    full, empty = range(slots), range(slots, 2 * slots)
    load, use = [], []
    for step in range(blocks):
        slot, parity = step % slots, step // slots & 1
        load += [Wait(empty[slot], parity ^ 1), Arrive(full[slot], 1, 8), Copy(full[slot], 8)]
        use.append(Wait(full[slot], parity))
        if step >= late:
            use.append(Arrive(empty[(step - late) % slots]))
    return history([1] * slots + [consumers] * slots, load, *([use] * consumers))


def test_a_barrier_ends_its_phase_when_all_have_arrived_and_all_bytes_have_come():
    barrier = fresh(2)
    assert barrier.passes(1)
    assert not barrier.passes(0)
    barrier = barrier.arrived(1, 8).arrived(1)
    assert (barrier.phase, barrier.pending, barrier.bytes) == (0, 0, 8)
    assert barrier.landed(8) == fresh(2)._replace(phase=1)


@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("consumers", [1, 2])
def test_a_ring_synchronises_alike_in_every_order(slots, consumers):
    seen = explore(ring(5, slots, consumers))
    assert not seen.wrong
    assert seen.states > 10
    assert not ordered(ring(50, slots, consumers))


def test_a_ring_of_two_has_few_states():
    assert 300 < explore(ring(8, 2)).states < 3000


def test_too_few_slots_are_a_deadlock():
    assert "deadlock" in explore(ring(4, 1, late=1)).wrong
    assert ordered(ring(4, 1, late=1)) == "deadlock"
    assert not explore(ring(4, 2, late=1)).wrong


def test_a_wait_for_a_phase_that_may_have_gone_by_is_found():
    late = history([1], [Wait(0, 1)], [Arrive(0)])
    assert "deadlock" in explore(late).wrong
    assert "at phase 0 or later" in ordered(late)


def test_a_wait_that_may_pass_two_phases_early_is_found():
    early = history([1], [Arrive(0), Arrive(0), Arrive(0)], [Wait(0, 1)])
    assert "phase 0 or 2" in explore(early).wrong
    assert ordered(early)


def test_an_arrival_that_may_count_for_another_phase_is_found():
    twice = history([2], [Arrive(0), Arrive(0)], [Arrive(0), Arrive(0)])
    assert "phase 0 or 1" in explore(twice).wrong
    assert ordered(twice)


def test_bytes_of_a_later_phase_are_not_taken_for_those_of_this_one():
    mixed = history([1], [Arrive(0, 1, 8), Copy(0, 8), Copy(0, 8), Arrive(0, 1, 8)])
    assert explore(mixed).wrong
    assert ordered(mixed)


def test_more_states_than_the_limit_are_no_verdict():
    with pytest.raises(OutsideVocabularyError, match="more than 50 states"):
        explore(ring(8, 2), 50)


@st.composite
def histories(draw):
    """A ring with a few events changed, or a few events at random."""
    barriers = draw(st.integers(1, 2))
    counts = [draw(st.integers(1, 2)) for _ in range(barriers)]
    number = st.integers(0, barriers - 1)
    event = st.one_of(
        st.builds(Arrive, number),
        st.builds(Wait, number, st.integers(0, 1)),
    )
    roles = [draw(st.lists(event, max_size=5)) for _ in range(draw(st.integers(1, 3)))]
    return history(counts, *roles)


@settings(max_examples=400, deadline=None)
@given(histories())
def test_one_order_says_what_all_orders_do(given_history):
    assert bool(ordered(given_history)) == bool(explore(given_history).wrong)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_one_order_says_what_all_orders_of_a_changed_ring_do(data):
    whole = ring(data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2)))
    roles = [list(events) for events in whole.events]
    for _ in range(data.draw(st.integers(1, 2))):
        role = data.draw(st.integers(1, len(roles) - 1))
        assume(roles[role])
        place = data.draw(st.integers(0, len(roles[role]) - 1))
        event = roles[role].pop(place)
        if data.draw(st.booleans()):
            roles[role].insert(data.draw(st.integers(0, len(roles[role]))), event)
    changed = History(whole.roles, tuple(map(tuple, roles)), whole.barriers)
    assert bool(ordered(changed)) == bool(explore(changed).wrong)
