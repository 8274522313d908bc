"""Reductions by a function of the kernel, interpreted slice by slice and not by element.

Triton's interpreter calls the combining function once for each element. Such a function works
element by element on whole tiles too, so it is called once for each position of the reduced
axis, in the same order; every element sees the same operations and the result has the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def by_slices() -> None:
    """Makes the interpreter of this process reduce by slices. Calling it again changes nothing."""
    from triton.runtime.interpreter import ReduceOps

    if getattr(ReduceOps, "by_slices", False):
        return
    by_elements = ReduceOps.generic_reduce

    def generic_reduce(self: Any, given: tuple[Any, ...]) -> list[Any]:
        if self.axis is None:
            return list(by_elements(self, given))
        axis = self.axis % len(given[0].shape)
        parts = [np.moveaxis(one.handle.data, axis, 0) for one in given]
        if not len(parts[0]):
            return list(by_elements(self, given))
        shape = parts[0].shape[1:]

        def at(index: int) -> list[Any]:
            return [
                self.to_tensor(p[index], one.dtype) for p, one in zip(parts, given, strict=True)
            ]

        kept = at(0)
        for index in range(1, len(parts[0])):
            made = self.combine_fn.fn(*kept, *at(index))
            kept = list(made) if isinstance(made, tuple) else [made]
        found = [one.handle.data.reshape(shape) for one in kept]
        if self.keep_dims:
            found = [np.expand_dims(data, axis) for data in found]
        return [self.to_tensor(data, one.dtype) for data, one in zip(found, given, strict=True)]

    ReduceOps.generic_reduce = generic_reduce
    ReduceOps.by_slices = True
