from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from superopt.verify.run.rounding import LARGEST
from superopt.verify.run.rounding import UNIT_ROUNDOFF
from superopt.verify.run.rounding import overflow_threshold
from superopt.verify.run.rounding import rounded

TORCH = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@pytest.mark.parametrize("dtype", sorted(TORCH))
@given(value=arrays(np.float32, 8, elements=st.floats(width=32)))
def test_rounds_as_torch_does(dtype, value):
    want = torch.from_numpy(value).to(TORCH[dtype]).float().numpy()
    assert np.array_equal(rounded(value, dtype), want, equal_nan=True)


@pytest.mark.parametrize("dtype", sorted(TORCH))
def test_largest_and_threshold(dtype):
    info = torch.finfo(TORCH[dtype])
    assert LARGEST[dtype] == info.max
    assert UNIT_ROUNDOFF[dtype] == info.eps / 2
    threshold = np.array([overflow_threshold(dtype)])
    assert np.isinf(rounded(threshold, dtype)[0])
    assert np.isfinite(rounded(threshold * (1 - 1e-6), dtype)[0])


def test_tf32_keeps_ten_bits():
    value = np.array([1 + 2.0**-10, 1 + 2.0**-11, 1 + 2.0**-12], np.float32)
    assert rounded(value, "tf32").tolist() == [1 + 2.0**-10, 1.0, 1.0]


def test_integers_and_scalars():
    assert rounded(np.arange(3), "fp16").dtype == np.int64
    assert rounded(np.float32(1.001).reshape(()), "bf16").shape == ()
