"""How long one program takes with a multiprocessor to itself: everything one after another.

Its tiles follow one another, each when its loads are there; only other programs, or other groups
of its own warps, work meanwhile. Programs that do not fit at once wait for those before them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from math import log2

from superopt.device import Device
from superopt.search.units import GROUP
from superopt.search.units import SMALL
from superopt.ugraph.counts import Cost
from superopt.ugraph.counts import Fold
from superopt.ugraph.levels import Config

FOLD_US = 0.02  # a fold across the lanes of a program
ROW_US = 0.028  # and for each row of a warp: lanes exchange what they hold
CROSS_US = 0.04  # and for each doubling of the warps that hold one row: they wait for each other
APART = 0.4  # how much of a further group of warps works while the first one waits
LATE = 0.15  # share of a tile's work that is done before its buffer is free to be loaded again
WHOLE = 0.5  # how far the last wave of programs takes as long as a full one
STAGES_MOST = 4  # beyond which no further stage is worth anything
SPAN = 256  # positions of a row that lie in one warp
LEAST_PIPELINED = 4  # bytes that a thread must load at once for its loads to be asynchronous
FIRST_MOST = 1 << 15  # bytes of what a program loads once, beyond which it works on the first


@dataclass(frozen=True)
class Chain:
    """Microseconds. ``fill``: until the first programs have data; ``us``: all programs of the
    busiest multiprocessor, one after another, as far as they are not resident at once; it
    includes ``fill``."""

    fill: float
    us: float


def waves(programs: int, at_once: int) -> float:
    """How often ``at_once`` programs run one after another; the last wave counts for more than its
    share, as it takes as long as any other where nothing evens that out."""
    found = programs / at_once
    return max(1.0, found + WHOLE * (ceil(found) - found))


class Alone:
    """One program of a launch by itself, at fixed tiles, for any number of warps and stages."""

    def __init__(self, cost: Cost, device: Device) -> None:
        self.cost, self.device = cost, device
        walked = [r for r in cost.reads if r.walk is not None]
        self.once = sum(r.in_flight for r in cost.reads if r.walk is None)
        self.walked = sum(cost.walked)
        self.least = min((r.in_flight for r in walked if r.matrix), default=self.walked)
        self.rate = device.l2 / device.sms / 1e6  # bytes that one multiprocessor gets, per us
        self._folds: dict[int, tuple[float, float]] = {}

    def stages(self, config: Config) -> int:
        """Stages that are worth something.

        Only loads of matrix products are pipelined, and without descriptors only those of which
        every thread loads enough at once.
        """
        if not self.cost.products or not self.cost.steps:
            return 1
        if not config.descriptors and self.least < LEAST_PIPELINED * 32 * config.warps:
            return 1
        return min(config.stages, STAGES_MOST)

    def folds(self, warps: int) -> tuple[float, float]:
        """Microseconds of the folds of a tile (of the mean walk), and of those once a program."""
        if warps not in self._folds:
            us = [(f.inside, _fold(f, warps)) for f in self.cost.folds]
            tile = sum(u for inside, u in us if inside) / max(1, self.cost.walks)
            self._folds[warps] = tile, sum(u for inside, u in us if not inside)
        return self._folds[warps]

    def chain(
        self, config: Config, resident: int, computing: float, missed: float, read: float
    ) -> Chain:
        """The times under ``config``.

        ``resident``: programs of a multiprocessor at a time. ``computing``: microseconds of all
        units for all programs, spread evenly. ``missed``: share of what is read that comes from
        device memory, and ``read``: the microseconds in which it comes.
        """
        cost, device, warps = self.cost, self.device, config.warps
        each = device.sms / cost.programs
        apart = 1 + APART * (max(1.0, warps / GROUP) - 1)
        # Fewer warps than a multiprocessor has schedulers leave some of them without work.
        work = computing * each / min(1.0, warps / GROUP) / apart
        further = max(0.0, device.latency_us - device.l2_latency_us)
        latency = device.l2_latency_us + missed * further
        fill = latency + min(self.once, FIRST_MOST) / self.rate
        folds, own = self.folds(warps)
        if self.once:
            own += latency + self.once / self.rate
        ahead = self.stages(config) - 1
        runs = waves(cost.programs, device.sms * resident)
        if cost.steps:
            steps = cost.steps / cost.longest if runs > 1 else cost.steps
            tile, waits = work / steps + folds, latency + self.walked / cost.walks / self.rate
            own += steps * (max(tile, (waits + LATE * tile) / ahead) if ahead else tile + waits)
        else:
            own += work
        if not ahead:  # the data of a tile comes while nothing else of the group runs
            own += read * each / apart
        return Chain(fill, max(fill, runs * own))


def _fold(fold: Fold, warps: int) -> float:
    """Microseconds of one fold in a program: threads alone, then lanes, then warps."""
    us = FOLD_US
    if fold.lanes:
        crossed = min(warps, max(1.0, fold.length / SPAN))
        us += ROW_US * fold.rows * crossed / warps
    else:
        crossed = max(1.0, warps * SMALL[0] / max(1, fold.rows)) if fold.product else 1.0
    return fold.times * (us + CROSS_US * log2(crossed))
