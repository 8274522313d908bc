from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from superopt.ugraph.levels import Config
from superopt.verify.run.run_kernel import count_descriptors
from superopt.verify.run.run_kernel import launch_of
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


def test_descriptors_are_counted_until_the_next_count():
    import torch

    module = ModuleType("printed")
    assert count_descriptors(module) == []
    assert not hasattr(module, "TensorDescriptor")
    module.TensorDescriptor = object
    first = count_descriptors(module)
    tensor = torch.zeros(4, 8)
    for count in (1, 2):
        made = module.TensorDescriptor(tensor, [4, 8], [8, 1], [4, 8])
        assert made.block_shape == [4, 8]
        assert len(first) == count
    second = count_descriptors(module)
    module.TensorDescriptor(tensor, [4, 8], [8, 1], [4, 8])
    assert (len(first), len(second)) == (2, 1)


def test_a_file_without_descriptors_is_not_asked_for_them():
    module = ModuleType("printed")
    module.Launch = lambda *numbers, **how: (numbers, how)
    assert launch_of(module, Config(())) == (({}, 1, 4, 2), {})
    with pytest.raises(ValueError, match="no function with tensor descriptors"):
        launch_of(module, Config((), descriptors=True))
    module.TensorDescriptor = object
    assert launch_of(module, Config((), descriptors=True))[1] == {"descriptors": True}
