"""Best first: a queue of partial candidates by their bounds, equal ones in order of arrival."""

from __future__ import annotations

from heapq import heappop
from heapq import heappush
from typing import Generic
from typing import TypeVar

T = TypeVar("T")


class Queue(Generic[T]):
    """Entries with the least bound first.

    Bounds are compared to a millionth of a microsecond, so that rounding decides nothing;
    ``rank`` (lower first) and then arrival decide between equal ones.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, int, T]] = []
        self._arrived = 0

    def push(self, bound: float, rank: int, entry: T) -> None:
        """Adds an entry."""
        heappush(self._heap, (round(bound, 6), rank, self._arrived, entry))
        self._arrived += 1

    def pop(self) -> T:
        """Takes out the entry with the least bound."""
        return heappop(self._heap)[-1]

    @property
    def least(self) -> float:
        """The least bound; infinity when nothing is left."""
        return self._heap[0][0] if self._heap else float("inf")

    def clear(self) -> list[T]:
        """Takes everything out."""
        left = [entry for *_, entry in sorted(self._heap, key=lambda e: e[:3])]
        self._heap.clear()
        return left

    def __len__(self) -> int:
        return len(self._heap)
