"""Which of two values is the larger one: every answer is supposed in turn.

The maximum of two values is one of them, and which one depends on the sign of their difference.
For each outcome of the signs an element is one function of the data, so its bound is the largest
of all.
"""

from __future__ import annotations

from superopt.verify.field.polynomial import PolyKey
from superopt.verify.field.toohard import TooHardError

MOST_SIGNS = 6


class Signs:
    """One outcome: the signs of differences (up to positive factors), as they are asked for.

    ``given``: the signs of the first ones; of the others +1 is supposed.
    """

    def __init__(self, given: tuple[int, ...] = ()) -> None:
        self._given = given
        self._known: dict[tuple[int, PolyKey], int] = {}

    def of(self, level: int, difference: PolyKey) -> int:
        """1 or -1; the sign of a difference is that of the opposite one, turned.

        Levels of a chain have signs of their own.

        Raises:
            TooHardError: too many were asked for.
        """
        if not difference:
            return 1
        turned = -1 if difference[0][1] < 0 else 1
        key = (level, tuple((monomial, c * turned) for monomial, c in difference))
        if key not in self._known:
            number = len(self._known)
            if number == MOST_SIGNS:
                raise TooHardError(f"more than {MOST_SIGNS} pairs are compared in one element")
            self._known[key] = self._given[number] if number < len(self._given) else 1
        return turned * self._known[key]

    def next(self) -> Signs | None:
        """The outcome after this one; None if it is the last."""
        asked = list(self._known.values())
        while asked and asked[-1] == -1:
            asked.pop()
        return Signs((*asked[:-1], -1)) if asked else None
