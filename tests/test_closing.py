"""What is held is given up at the end of a ``with`` block, also when that fails."""

from __future__ import annotations

import pytest

from superopt.closing import Closing


class Held(Closing):
    def __init__(self):
        self.closed = 0

    def close(self):
        self.closed += 1


def test_the_end_of_a_block_closes():
    with Held() as held:
        assert held.closed == 0
    assert held.closed == 1


def test_so_does_an_error_which_goes_on():
    held = Held()
    with pytest.raises(KeyboardInterrupt), held:
        raise KeyboardInterrupt
    assert held.closed == 1


def test_a_class_has_to_say_how_it_closes():
    with pytest.raises(TypeError, match="close"):
        Closing()
