"""When a search stops."""

from __future__ import annotations

import pytest

from superopt.budget import Budget
from superopt.budget import Clock


def test_the_share_of_a_case():
    clock = Clock(Budget(seconds=1000.0))
    clock.share(4)
    assert clock.until - clock.began == pytest.approx(250, abs=5)
    assert clock.half - clock.began == pytest.approx(125, abs=5)
    assert not clock.over
    unlimited = Clock(Budget())
    unlimited.share(4)
    assert not unlimited.over
    assert not unlimited.half_over
