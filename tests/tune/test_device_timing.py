"""By the clock of a real device, or not at all."""

from __future__ import annotations

import pytest
import torch

from superopt.tune.halving import QUICK


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_more_work_takes_longer_and_a_failure_is_a_reason():
    from superopt.tune.device_timing import DeviceTiming

    timing = DeviceTiming()
    x = torch.randn(4096, 4096, device="cuda")
    few, many = torch.empty_like(x[:64]), torch.empty_like(x)

    def broken():
        raise ValueError("no")

    calls = {
        "few": [lambda: torch.mul(x[:64], x[:64], out=few)],
        "many": [lambda: torch.mul(x, x, out=many)],
        "broken": [broken],
    }
    found = timing.interleaved(calls, QUICK)
    assert 0 < found["few"].figures.us < found["many"].figures.us
    assert found["many"].figures.rounds == QUICK.rounds
    assert "ValueError: no" in found["broken"].failed
    assert timing.sets(1 << 40) == 1
    assert timing.sets(1 << 20) > 1
