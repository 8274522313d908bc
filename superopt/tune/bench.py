"""Interleaved timing: every contender once a round, in an order that changes from round to round.

The figure of a round is the time of at least a millisecond of work, so that the resolution of
device events does not matter: replays of one CUDA graph (mode ``graph``), or a burst of ordinary
calls between two synchronisations (mode ``eager``, what the host needs for launching included).
Inputs rotate through as many sets as it takes for none to be found in the L2 (``rotated_sets``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from superopt.tune.series import Series

GRAPH = "graph"
EAGER = "eager"
MODES = (GRAPH, EAGER)

FIGURE_US = 1000.0  # of device time, at least, behind one figure
GRAPH_CALLS_MOST = 128  # in one graph; longer figures replay it several times
TIMES_MOST = 1000  # repetitions behind one figure, however short the work is
WARM_CALLS = 3  # of each call, before anything is captured or timed
SETS_MOST = 64
REASON_MOST = 300  # letters
PAST_L2 = 4  # the sets together are this many times as large as the L2

Call = Callable[[], object]


class Clock(Protocol):
    """How work is repeated and timed; ``clock.CudaClock`` on a GPU, a counter in tests."""

    def capture(self, calls: Sequence[Call]) -> Call:
        """One call that does the work of ``calls``, recorded once; raises what they raise."""

    def device_us(self, run: Call) -> float:
        """Microseconds of the device between the start and the end of ``run``."""

    def wall_us(self, run: Call) -> float:
        """Microseconds from an idle device before ``run`` to an idle device after it."""


@dataclass(frozen=True)
class Contender:
    """What is timed. ``calls``: one for each rotated set of inputs, outputs preallocated where
    the callee takes them."""

    name: str
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Prepared:
    """A contender ready for its figures: ``run`` makes ``calls`` calls, ``times`` of it are one
    figure."""

    name: str
    mode: str
    run: Call
    calls: int
    times: int

    def figure(self, clock: Clock) -> float:
        """Microseconds a call."""
        elapsed = clock.device_us if self.mode == GRAPH else clock.wall_us
        return elapsed(self._repeated) / (self.times * self.calls)

    def _repeated(self) -> None:
        for _ in range(self.times):
            self.run()


def interleaved(
    contenders: Sequence[Contender],
    rounds: int,
    mode: str,
    clock: Clock,
    started: Callable[[str], None] = lambda name: None,
    least_us: float = FIGURE_US,
) -> dict[str, Series]:
    """One figure, of at least ``least_us``, of every contender in each of ``rounds`` rounds.

    A contender that raises, or that cannot be captured, is left out of all further rounds; its
    series then holds the reason and no figures. ``started``: told who is at work, so that a
    process that watches this one knows who broke it.

    Raises:
        Exception: the device does not work any more (an illegal address ends a CUDA context).
    """
    failed: dict[str, str] = {}
    ready: list[Prepared] = []
    for contender in contenders:
        started(contender.name)
        try:
            ready.append(prepare(contender, mode, clock, least_us))
        except Exception as error:  # whatever it is: a peer's failure is a row of the table
            failed[contender.name] = reason(error)
            still_works(clock)
    figures: dict[str, list[float]] = {p.name: [] for p in ready}
    for number in range(rounds):
        for prepared in in_turn(ready, number):
            if prepared.name in failed:
                continue
            started(prepared.name)
            try:
                figures[prepared.name].append(prepared.figure(clock))
            except Exception as error:
                failed[prepared.name] = reason(error)
                still_works(clock)
    started("")
    return {
        c.name: Series(c.name, (), failed[c.name])
        if c.name in failed
        else Series(c.name, tuple(figures[c.name]))
        for c in contenders
    }


def prepare(contender: Contender, mode: str, clock: Clock, least_us: float) -> Prepared:
    """Warms a contender up, finds how many of its calls fill ``least_us``, and captures them.

    Raises:
        ValueError: no such mode.
        Exception: whatever a call or the capture raises.
    """
    if mode not in MODES:
        raise ValueError(f"mode {mode!r}: {' or '.join(MODES)}")
    calls = contender.calls

    def once() -> None:
        for call in calls:
            call()

    for _ in range(WARM_CALLS):
        once()
    elapsed = clock.device_us if mode == GRAPH else clock.wall_us
    one_us = max(elapsed(once), 1e-3)
    if mode == EAGER:
        times = min(TIMES_MOST, math.ceil(least_us / one_us))
        return Prepared(contender.name, mode, once, len(calls), times)
    # A probe of ordinary calls also counts gaps between launches, so a replay is probed as well.
    passes = max(1, min(math.ceil(least_us / one_us), GRAPH_CALLS_MOST // len(calls)))
    replay = clock.capture([*calls] * passes)
    replay()
    replay_us = max(clock.device_us(replay), 1e-3)
    times = min(TIMES_MOST, math.ceil(least_us / replay_us))
    return Prepared(contender.name, mode, replay, passes * len(calls), times)


def in_turn(ready: Sequence[Prepared], number: int) -> list[Prepared]:
    """The order of round ``number``: rotated by one a round, and every second one backwards, so
    that nobody has the same neighbour before it all the time."""
    if not ready:
        return []
    at = number % len(ready)
    order = [*ready[at:], *ready[:at]]
    return order if number % 2 == 0 else order[::-1]


def rotated_sets(bytes_of_one_set: int, l2_bytes: int, memory_bytes: int | None = None) -> int:
    """How many sets of inputs push a call's inputs past the L2; 1 if one set does.

    ``memory_bytes``: what all sets together may take at most.

    >>> rotated_sets(1 << 30, 60 << 20), rotated_sets(32 << 20, 60 << 20)
    (1, 8)
    """
    size = max(1, bytes_of_one_set)
    wanted = math.ceil(PAST_L2 * l2_bytes / size)
    held = wanted if memory_bytes is None else memory_bytes // size
    return max(1, min(wanted, held, SETS_MOST))


def still_works(clock: Clock) -> None:
    """Raises if the device does not: then nothing that is timed after a failure is true."""
    clock.device_us(lambda: None)


def reason(error: BaseException) -> str:
    """One line that says why a contender has no figures."""
    text = str(getattr(error, "error_message", None) or error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}"[:REASON_MOST] if lines else type(error).__name__
