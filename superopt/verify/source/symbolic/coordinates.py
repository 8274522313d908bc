"""Which element of a tensor an access means: one coordinate for each axis.

An offset is a sum of coordinates times strides. What each stride symbol is multiplied by is the
coordinate of its axis, whatever the strides are.
"""

from __future__ import annotations

from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.value import Tensor


class NoCoordinates(Exception):  # noqa: N818
    """An offset is no sum of coordinates times the strides of its tensor; the message says why."""


def coordinates(tensor: Tensor, offset: Poly) -> tuple[Poly, ...]:
    """The coordinates that ``offset`` stands for. Raises NoCoordinates."""
    found = []
    rest = offset
    strides = [s.atom for s in tensor.strides]
    for name in strides:
        if name is not None:
            found.append(rest.coefficient(name))
            rest = rest.without(name)
    if tensor.shape and tensor.plain:
        found.append(rest)
    elif rest.terms:
        raise NoCoordinates(f"the offset {offset} has the part {rest} along no axis")
    for place, one in enumerate(found):
        if foreign := [a for a in one.atoms if ".stride(" in a]:
            raise NoCoordinates(f"coordinate {place} of {tensor.name} contains {foreign[0]}")
    return tuple(found)
