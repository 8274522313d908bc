from __future__ import annotations

import numpy as np
import pytest

from superopt.verify.run.run_kernel import placed
from superopt.verify.run.trial import PERMUTED
from superopt.verify.run.trial import Parameter


@pytest.mark.parametrize("layout", ["contiguous", PERMUTED])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4)])
def test_a_tensor_is_placed_with_its_shape_and_nothing_around_it(shape, layout):
    value = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    place = placed(Parameter("x", "fp32", value), layout, "cpu")
    assert tuple(place.view.shape) == shape
    assert np.array_equal(place.view.numpy(), value)
    assert np.isnan(place.buffer.numpy()).sum() == place.buffer.numel() - value.size
