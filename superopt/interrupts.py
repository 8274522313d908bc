"""Interrupts, by keyboard or by a request to end, while something is finished that must not be
lost."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any
from typing import Self

from superopt.closing import Closing

NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Held(Closing):
    """Holds the first interrupt back; the next one is raised as ``KeyboardInterrupt``.

    ``said``: written to standard error when the first one comes, since what is done may take a
    while yet, and whoever asked may not wait for it. ``came``: whether it has come; one that came
    before makes the next one raise. Only the main thread hears of interrupts, so elsewhere nothing
    is held.
    """

    def __init__(self, said: str, came: bool = False) -> None:
        self.said, self.came = said, came
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in NUMBERS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._heard)
        return super().__enter__()

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True
        # Whatever was being printed is not at an end, so this goes past Python's buffers.
        os.write(2, f"{self.said}\n".encode())

    def close(self) -> None:
        """From here on interrupts are what they were."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()


NOT_HELD = Held("")  # by nobody: none comes
