"""Where the time of a run goes: wall seconds by stage."""

from __future__ import annotations

import time
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Adds up the wall seconds of stages. Stages may lie inside one another, and several threads
    may be in different ones at the same time, so the seconds of all need not add up to the whole.
    ``tell``: is told what begins.
    """

    def __init__(self, tell: Callable[[str], None] = lambda text: None) -> None:
        self._tell = tell
        self.began = time.monotonic()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def of(self, stage: str, said: str = "") -> Iterator[None]:
        """Adds the time of the block to ``stage``; ``said``: what it is called while it goes on,
        if that is told."""
        if said:
            self._tell(said)
        start = time.monotonic()
        try:
            yield
        finally:
            spent = time.monotonic() - start
            self.seconds[stage] = round(self.seconds.get(stage, 0.0) + spent, 3)

    @property
    def elapsed(self) -> float:
        """Seconds since it was made."""
        return round(time.monotonic() - self.began, 3)
