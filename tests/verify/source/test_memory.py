"""Memory: bounds, order of writes and reads, and what launches may see of one another."""

from __future__ import annotations

import numpy as np
import pytest

from superopt.ugraph.floats import FloatDomain
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.memory import Buffer
from superopt.verify.source.memory import Clock
from superopt.verify.source.memory import Pointer
from superopt.verify.source.tiles import DTYPES
from superopt.verify.source.tiles import Tile
from superopt.verify.source.tiles import as_tile

PLACES = np.array([[0, 1, 2], [5, 6, 7]])  # two rows with a gap


@pytest.fixture
def buffer():
    made = Buffer("x", FloatDomain(), DTYPES["fp32"], PLACES, Clock())
    made.clock.begin("k", early=False)
    return made


def value(numbers):
    return Tile(FloatDomain(), DTYPES["fp32"], None, np.asarray(numbers, np.float64))


def at(*offsets):
    return np.array(offsets)


def store(buffer, program, offsets, mask=None):
    buffer.clock.enter(program)
    buffer.store(offsets, value(np.arange(1.0, 1 + len(offsets))), mask)
    buffer.clock.leave()


def load(buffer, program, offsets, mask=None, other=None):
    buffer.clock.enter(program)
    found = buffer.load(offsets, mask, other)
    buffer.clock.leave()
    return found.data


def test_what_was_stored_is_loaded_in_any_shape(buffer):
    store(buffer, 0, at(7, 5, 6))
    buffer.clock.begin("k", early=False)
    np.testing.assert_array_equal(load(buffer, 1, np.array([[5], [7]])), [[2.0], [1.0]])


@pytest.mark.parametrize("offset", [-1, 3, 4, 8])
def test_gaps_and_ends_are_outside(buffer, offset):
    for act in (store, load):
        with pytest.raises(FaultError, match=f"x at offset {offset}, outside of the tensor"):
            act(buffer, 0, at(offset))


def test_masked_lanes_touch_nothing_and_get_the_other_value(buffer):
    store(buffer, 0, at(0, 99), np.array([True, False]))
    buffer.clock.begin("k", early=False)
    inside = np.array([True, False])
    np.testing.assert_array_equal(load(buffer, 0, at(0, 99), inside, 4), [1.0, 4.0])
    np.testing.assert_array_equal(load(buffer, 0, at(0, 99), inside), [1.0, np.nan])


def test_reading_what_nobody_wrote_is_a_fault(buffer):
    store(buffer, 0, at(0))
    with pytest.raises(FaultError, match=r"x\[0, 1\] before anything was written"):
        load(buffer, 0, at(0, 1))
    with pytest.raises(FaultError, match=r"x\[0, 1\] is never written"):
        buffer.whole()


def test_programs_of_one_launch_may_not_meet(buffer):
    store(buffer, 0, at(0, 1))
    store(buffer, 0, at(1))  # its own
    with pytest.raises(FaultError, match=r"writes x\[0, 1\], which another program .* writes"):
        store(buffer, 1, at(1))
    with pytest.raises(FaultError, match=r"reads x\[0, 0\], which another program .* writes"):
        load(buffer, 1, at(0))
    buffer.clock.begin("later", early=False)
    load(buffer, 0, at(0))
    load(buffer, 1, at(0))
    load(buffer, 0, at(0))
    for program in (0, 1):
        with pytest.raises(FaultError, match="which another program of the launch reads"):
            store(buffer, program, at(0))
    buffer.clock.begin("after", early=False)
    store(buffer, 7, at(0))


def test_one_store_may_not_write_an_element_twice(buffer):
    with pytest.raises(FaultError, match=r"x\[0, 2\] twice in one store"):
        store(buffer, 0, at(2, 0, 2))


def test_a_launch_that_begins_early_waits_before_it_touches_what_the_last_one_did(buffer):
    store(buffer, 0, at(0))
    buffer.clock.begin("early", early=True)
    buffer.clock.enter(0)
    for act in (
        lambda: buffer.load(at(0), None, None),
        lambda: buffer.store(at(0), value([1.0]), None),
    ):
        with pytest.raises(FaultError, match="before it waits"):
            act()
    buffer.clock.wait()
    buffer.load(at(0), None, None)


def test_a_launch_that_never_waits_lets_the_one_before_it_run_on(buffer):
    store(buffer, 0, at(0))
    buffer.clock.begin("careless", early=True)
    buffer.clock.enter(0)
    buffer.clock.leave()
    buffer.clock.begin("third", early=True)
    buffer.clock.enter(0)
    buffer.clock.wait()
    with pytest.raises(FaultError, match="before it waits"):
        buffer.load(at(0), None, None)
    buffer.clock.leave()
    buffer.clock.begin("fourth", early=False)
    load(buffer, 0, at(0))


def test_integers_stay_plain_and_need_an_other():
    buffer = Buffer("i", FloatDomain(), DTYPES["int32"], np.arange(2), Clock())
    buffer.fill(Tile(FloatDomain(), DTYPES["int32"], np.array([3, 4])))
    found = buffer.load(at(1, 9), np.array([True, False]), 0)
    assert found.plain.tolist() == [4, 0]
    with pytest.raises(OutsideVocabularyError, match="without `other`"):
        buffer.load(at(1, 9), np.array([True, False]), None)


def test_addresses_add_up(buffer):
    pointer = Pointer(buffer, np.zeros((), np.int64)) + as_tile(FloatDomain(), 5)
    assert (2 + pointer).offsets == 7
    assert pointer.dtype.element_ty is DTYPES["fp32"]
    with pytest.raises(OutsideVocabularyError):
        pointer + value([1.0])


def test_an_empty_tensor_has_no_element():
    buffer = Buffer("nothing", FloatDomain(), DTYPES["fp32"], np.zeros((2, 0), np.int64), Clock())
    assert buffer.whole().shape == (2, 0)
    assert buffer.load(at(0), np.array([False]), 0).data.tolist() == [0.0]
    with pytest.raises(FaultError, match="outside"):
        buffer.load(at(0), None, None)
