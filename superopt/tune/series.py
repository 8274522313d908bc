"""Figures of interleaved rounds: medians, quartiles, and ratios of neighbours.

A chip that heats up lowers its clock by a tenth within minutes, so two medians taken one after the
other differ by as much. Two figures of the *same round* are neighbours in time; their ratio is
steady where the figures themselves drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

from superopt.tune.record import Figures


@dataclass(frozen=True)
class Series:
    """The figures of one contender, one a round, in microseconds a call.

    ``failed``: why there are none (then ``us`` is empty).
    """

    name: str
    us: tuple[float, ...]
    failed: str = ""

    @property
    def figures(self) -> Figures:
        """Median and quartiles over the rounds.

        Raises:
            ValueError: the contender failed, so there is nothing to summarise.
        """
        if not self.us:
            raise ValueError(f"{self.name} has no figures: {self.failed or 'it was not timed'}")
        low, middle, high = quartiles(self.us)
        return Figures(middle, low, high, len(self.us))


@dataclass(frozen=True)
class Ratio:
    """How many times as long one contender takes as another: median and quartiles."""

    median: float
    low: float
    high: float


def ratio(above: Series, below: Series) -> Ratio:
    """``above`` over ``below``, each round's figure by its neighbour of the same round.

    Raises:
        ValueError: one of them has no figures, or they are not of the same rounds.
    """
    if not above.us or len(above.us) != len(below.us):
        raise ValueError(
            f"{above.name} has {len(above.us)} figures and {below.name} {len(below.us)}: "
            f"only figures of the same rounds can be compared"
        )
    low, middle, high = quartiles([a / b for a, b in zip(above.us, below.us, strict=True)])
    return Ratio(middle, low, high)


def paced(series: Series, pace: Series, us: float) -> Figures:
    """Figures of ``series`` as though ``pace``, of the same rounds, had always taken ``us``.

    Raises:
        ValueError: one of them has no figures, or they are not of the same rounds.
    """
    times = ratio(series, pace)
    return Figures(us * times.median, us * times.low, us * times.high, len(series.us))


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower quartile, median and upper quartile; of one value, that value three times.

    >>> quartiles([4.0, 1.0, 3.0, 2.0, 5.0])
    (2.0, 3.0, 4.0)
    """
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return low, middle, high
