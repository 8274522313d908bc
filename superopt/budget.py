"""When a search stops, and the clock that says so."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from superopt.stopwatch import Stopwatch


@dataclass(frozen=True)
class Budget:
    """When a search stops: after ``candidates`` a case, or ``seconds`` in all (0: no limit)."""

    candidates: int = 400
    seconds: float = 0.0
    text: str = "400"


class Clock(Stopwatch):
    """Seconds by stage, and whether the budget's time is over."""

    def __init__(self, budget: Budget, tell: Callable[[str], None] = lambda text: None) -> None:
        super().__init__(tell)
        self.budget = budget
        self.half: float | None = None  # of the time of the case in hand, by ``time.monotonic``
        self.until: float | None = None  # when it ends

    def share(self, cases: int) -> None:
        """Gives the next of ``cases`` that are left its part of the time that is left."""
        if self.budget.seconds:
            now = time.monotonic()
            part = max(0.0, self.began + self.budget.seconds - now) / cases
            self.half, self.until = now + part / 2, now + part

    @property
    def over(self) -> bool:
        """Whether the time of the case in hand is spent."""
        return self.until is not None and time.monotonic() > self.until

    @property
    def half_over(self) -> bool:
        """Whether half of it is spent; the other half is for verification."""
        return self.half is not None and time.monotonic() > self.half
