"""How the numbers of an integer tensor are drawn where a case is run: what a mask reads matters.

A case says it by name, ``Case("long", m=4096, first=Segments(8))``. Without a word a tensor
holds small ids.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from typing import Any

from superopt.errors import SpecError
from superopt.location import user_location

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Segments:
    """The last axis falls into ``count`` segments of unequal lengths (documents packed into one
    sequence); each position holds the first position of its segment."""

    count: int

    def __post_init__(self) -> None:
        _check(1, self.count, f"Segments({self.count!r})")

    def __str__(self) -> str:
        return f"segments {self.count}"


@dataclass(frozen=True)
class Uniform:
    """Independent whole numbers from ``low`` to ``high``, both included (lengths, labels)."""

    low: int
    high: int

    def __post_init__(self) -> None:
        what = f"Uniform({self.low!r}, {self.high!r})"
        _check(-LARGEST, self.low, what)
        _check(self.low, self.high, what)

    def __str__(self) -> str:
        return f"uniform {self.low} {self.high}"


Integers = Segments | Uniform


def integers(rule: Integers, shape: Sequence[int], seed: int) -> npt.NDArray[Any]:
    """An int64 tensor of ``shape`` after ``rule``; the same one for the same arguments."""
    import numpy as np  # not by ``import superopt``, which is quick

    random = np.random.default_rng([seed, *shape])
    match rule:
        case Uniform(low=low, high=high):
            return random.integers(low, high + 1, tuple(shape))
        case Segments(count=count):
            *rows, length = shape
            positions = np.arange(length, dtype=np.int64)
            found = np.zeros((*rows, length), dtype=np.int64)
            for at in np.ndindex(*rows):
                starts = np.array(_starts(length, count, random))
                found[at] = starts[np.searchsorted(starts, positions, side="right") - 1]
            return found


def reach(rule: Integers, length: int) -> tuple[int, int]:
    """The smallest and the largest number that may be drawn; ``length``: of the last axis."""
    match rule:
        case Uniform(low=low, high=high):
            return low, high
        case Segments(count=count):
            return 0, max(0, length - 1) if count > 1 else 0


def _starts(length: int, count: int, random: np.random.Generator) -> list[int]:
    """First positions of segments, 0 among them; shorter axes have fewer segments."""
    inner = min(count, length) - 1
    further = random.choice(length - 1, inner, replace=False) if inner > 0 else ()
    return sorted([0, *(1 + int(f) for f in further)])


def read_integers(text: str) -> Integers:
    """The rule whose text (``str(rule)``) this is.

    Raises:
        ValueError: it is the text of none.
    """
    match text.split():
        case ["segments", count] if _whole(count):
            return Segments(int(count))
        case ["uniform", low, high] if _whole(low) and _whole(high):
            return Uniform(int(low), int(high))
    raise ValueError(f"{text!r} is no rule for integers")


def _whole(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]{1,10}", text) is not None


def _check(least: int, value: object, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
        raise SpecError(
            f"{what}: {value!r} must be a whole number from {least} to {LARGEST}", user_location()
        )
