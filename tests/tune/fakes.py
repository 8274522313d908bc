"""A device for tests of timing: work is counted, not timed."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence


class BrokenError(RuntimeError):
    """What a device that is beyond use raises."""


class FakeClock:
    """Every ``spend`` moves the time on; a capture is the calls one after another.

    ``drift``: the factor by which everything gets slower with every figure, as on a chip that
    heats up. ``host_us``: what each call costs more outside of a graph.
    """

    def __init__(self, drift: float = 1.0, host_us: float = 0.0) -> None:
        self.now_us = 0.0
        self.drift, self.host_us = drift, host_us
        self.factor = 1.0
        self.captured: list[int] = []
        self.measured: list[str] = []
        self.dead = False
        self._inside = False

    def spend(self, us: float) -> None:
        self.now_us += us * self.factor + (0.0 if self._inside else self.host_us)

    def kernel(self, us: float, name: str = "") -> Callable[[], None]:
        def call() -> None:
            self.spend(us)
            if name:
                self.measured.append(name)

        return call

    def capture(self, calls: Sequence[Callable[[], object]]) -> Callable[[], object]:
        self.captured.append(len(calls))

        def replay() -> None:
            self._inside = True
            for call in calls:
                call()
            self._inside = False

        replay()
        return replay

    def device_us(self, run: Callable[[], object]) -> float:
        if self.dead:
            raise BrokenError("an illegal memory access was encountered")
        self.factor *= self.drift
        begun = self.now_us
        run()
        return self.now_us - begun

    wall_us = device_us


class StepClock(FakeClock):
    """Everything takes a millisecond: for calls that really compute."""

    def device_us(self, run: Callable[[], object]) -> float:
        return super().device_us(run) + 1000.0

    wall_us = device_us
