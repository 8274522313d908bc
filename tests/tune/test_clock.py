"""The clock of a GPU. These tests need one; nothing here compares times with wishes."""

from __future__ import annotations

import pytest
import torch

from superopt.tune.bench import Contender
from superopt.tune.bench import interleaved
from superopt.tune.bench import still_works
from superopt.tune.clock import CudaClock

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


def test_a_capture_repeats_its_calls():
    total = torch.zeros(4, device="cuda")
    replay = CudaClock().capture([lambda: total.add_(1.0)] * 3)
    before = total.clone()
    replay()
    torch.cuda.synchronize()
    assert torch.equal(total, before + 3)


def test_what_cannot_be_captured_raises_and_the_device_still_works():
    value = torch.zeros(4, device="cuda")
    clock = CudaClock()
    with pytest.raises(RuntimeError):
        clock.capture([lambda: value.sum().item()])
    still_works(clock)


def test_contenders_have_a_figure_each_round():
    x = torch.randn(1024, 1024, device="cuda")
    contenders = [Contender("a", (lambda: x * 2,)), Contender("b", (lambda: x.sum().item(),))]
    found = interleaved(contenders, 3, "graph", CudaClock())
    assert len(found["a"].us) == 3
    assert min(found["a"].us) > 0
    assert found["b"].failed
    assert len(interleaved(contenders, 3, "eager", CudaClock())["b"].us) == 3
