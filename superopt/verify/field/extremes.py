"""Whole numbers that a kernel must survive: ends of their range, and of the axes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from superopt.ugraph.node import Input
from superopt.ugraph.node import Scalar
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import integer

# Of tensors by dtype; further ones are beyond what sums in 64 bits hold.
ENDS = {"int8": 2**7, "int16": 2**15, "int32": 2**31, "int64": 2**40}
OF_SCALARS = 2**30  # which launchers refuse beyond


def extreme_integers(
    param: Input | Scalar, shape: tuple[int, ...], sizes: Mapping[str, int], seed: int
) -> FieldArray:
    """A draw from both ends of the range, from around 0 and from around every size."""
    end = ENDS[param.dtype or "int32"] if isinstance(param, Input) else OF_SCALARS
    near = {n + off for n in (0, *sizes.values()) for off in (-1, 0, 1)}
    pool = np.array([-end, *sorted(near), end - 1], np.int64)
    rng = np.random.default_rng([seed, *param.name.encode()])
    values = pool[rng.integers(0, len(pool), (1, *shape))]
    return integer(np.zeros(values.shape, np.int8), values, frozenset())
