"""What holds a process or a file, and gives it up at the end of a ``with`` block."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """``with`` ends in ``close``, whatever happened in between."""

    @abstractmethod
    def close(self) -> None:
        """Gives up what is held; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()
