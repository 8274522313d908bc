"""Interrupts that are held back, sent to this very process."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from superopt.interrupts import NUMBERS
from superopt.interrupts import Held

SAID = "interrupted: once more to give up"


@pytest.fixture(autouse=True)
def _as_in_a_terminal():
    """What is started in the background may ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def heard(number):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("first", NUMBERS)
@pytest.mark.parametrize("second", NUMBERS)
def test_the_first_is_held_back_and_said_and_the_second_is_raised(capfd, first, second):
    before = [signal.getsignal(n) for n in NUMBERS]
    with Held(SAID) as held:
        assert not held.came
        heard(first)
        assert held.came
        assert capfd.readouterr().err == f"{SAID}\n"
        with pytest.raises(KeyboardInterrupt):
            heard(second)
    assert [signal.getsignal(n) for n in NUMBERS] == before


def test_one_that_came_before_is_the_first(capfd):
    with pytest.raises(KeyboardInterrupt), Held(SAID, came=True):
        heard(signal.SIGINT)
    assert capfd.readouterr().err == ""


def test_after_the_block_they_are_what_they_were():
    with Held(SAID):
        pass
    with pytest.raises(KeyboardInterrupt):
        heard(signal.SIGINT)


def test_one_that_is_ignored_stays_so(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Held(SAID) as held:
            heard(signal.SIGINT)
        assert not held.came
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_nothing_is_held():
    found = []

    def hold():
        with Held(SAID) as held:
            found.append(held)

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert [held.came for held in found] == [False]
