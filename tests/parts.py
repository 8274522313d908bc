"""Parts of a long run, for machines with many cores: ``2/8`` is every eighth from the second on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """The ``number``-th of ``count`` parts (from 1 on) of a sequence."""

    number: int = 1
    count: int = 1

    @staticmethod
    def parse(text: str) -> Part:
        """The part that ``K/N`` says.

        Raises:
            ValueError: the text says no part, or one that does not exist.
        """
        number, _, count = text.partition("/")
        part = Part(int(number), int(count))
        if not 1 <= part.number <= part.count:
            raise ValueError(f"{text!r} is no part; the first of two is '1/2'")
        return part

    def chosen(self, values: Iterable[T]) -> list[T]:
        """Those of ``values`` that are in this part; each is in one of ``count`` parts."""
        return list(islice(values, self.number - 1, None, self.count))
