"""Storage dtypes as numpy sees them: which numbers each holds, and rounding to the nearest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Half the distance of neighbours, relative to the number (IEEE 754 unit roundoff).
UNIT_ROUNDOFF = {"fp16": 2.0**-11, "bf16": 2.0**-8, "fp32": 2.0**-24, "tf32": 2.0**-11}
LARGEST = {"fp16": 65504.0, "bf16": (2 - 2.0**-7) * 2.0**127, "fp32": (2 - 2.0**-23) * 2.0**127}

_TRAILING_BITS = {"bf16": 16, "tf32": 13}  # of a float32, which the shorter format lacks


def rounded(value: Array, dtype: str) -> Array:
    """``value`` rounded to the nearest number of ``dtype`` (ties to even), in its own dtype.

    Also for ``tf32``, in which matrix units may read fp32 operands. Integers and truth values
    are left alone. Too large a number becomes an infinity, as on the machine.
    """
    if value.dtype.kind != "f":
        return value
    with np.errstate(all="ignore"):
        if dtype == "fp16":
            return value.astype(np.float16).astype(value.dtype)
        single = value.astype(np.float32)
        if dtype in _TRAILING_BITS:
            single = _shortened(single, _TRAILING_BITS[dtype])
        return single.astype(value.dtype)


def _shortened(value: npt.NDArray[np.float32], bits: int) -> npt.NDArray[np.float32]:
    """float32 without its last ``bits`` bits, rounded to nearest, ties to even."""
    pattern = np.atleast_1d(value).view(np.uint32)
    half = np.uint32((1 << (bits - 1)) - 1)
    odd = (pattern >> np.uint32(bits)) & np.uint32(1)
    kept = np.uint32((0xFFFFFFFF << bits) & 0xFFFFFFFF)
    short = ((pattern + half + odd) & kept).view(np.float32)
    # Adding to a NaN's pattern could carry into an infinity or a zero.
    return np.where(np.isnan(value), value, short.reshape(value.shape))


def overflow_threshold(dtype: str) -> float:
    """The smallest magnitude that is rounded to an infinity."""
    exponent = math.frexp(LARGEST[dtype])[1]
    return LARGEST[dtype] + math.ldexp(UNIT_ROUNDOFF[dtype], exponent - 1)
