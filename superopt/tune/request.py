"""What the parent asks of the device's process, and what that answers: plain data.

Importable where neither torch nor triton is.
"""

from __future__ import annotations

from dataclasses import dataclass

from superopt.case import Case
from superopt.tune.record import Figures
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Program

Launches = tuple[Config, ...]
"""One Config for each launch of a graph."""


@dataclass(frozen=True)
class Setting:
    """What all kernels of one case share: the meaning, the sizes, the inputs drawn by ``seed``.

    ``program`` is in the user's names. ``device``: ``cuda``, or ``cpu`` under Triton's
    interpreter, which is for tests.
    """

    program: Program
    case: Case
    seed: int = 0
    device: str = "cuda"


@dataclass(frozen=True)
class Effort:
    """How long one kernel is timed: ``rounds`` figures of at least ``least_us`` each."""

    rounds: int
    least_us: float


@dataclass(frozen=True)
class Entry:
    """A printed kernel: graph number ``graph`` of ``file``, launched with ``launches``."""

    name: str
    file: str
    launches: Launches
    graph: int = 0


@dataclass(frozen=True)
class Pace:
    """A kernel that runs in turns with what is timed. ``us``: what it took when it was first timed.
    A chip that heats up lowers its clock by a tenth; times are said as though it had not."""

    entry: Entry
    us: float


@dataclass(frozen=True)
class Prepare:
    """Draw the inputs of a setting and compute what is expected at sampled positions."""

    setting: Setting


@dataclass(frozen=True)
class Measure:
    """Run one kernel, check what it wrote, and time it if it is right."""

    setting: Setting
    entry: Entry
    effort: Effort
    pace: Pace | None = None


@dataclass(frozen=True)
class Compare:
    """Check several kernels again and time them interleaved, ``rounds`` times each."""

    setting: Setting
    entries: tuple[Entry, ...]
    rounds: int
    pace: Pace | None = None


@dataclass(frozen=True)
class Reply:
    """What came of one kernel: ``figures``, or the ``stage`` at which it failed and ``why``.

    ``error``: (relative error, its limit) of the output that used most of its tolerance.
    ``broken``: the device did not survive; the process that says so must be replaced.
    """

    stage: str = ""
    why: str = ""
    figures: Figures | None = None
    error: tuple[float, float] | None = None
    broken: bool = False
