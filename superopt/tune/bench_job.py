"""What the process of one case is asked, and how its answer looks: plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import dataclass
from typing import Any

from superopt.tune.series import Series
from superopt.tune.series import ratio

OURS = "superopt"  # the name of the kernel among the contenders


@dataclass(frozen=True)
class BenchJob:
    """One case of one kernel file.

    ``spec``: ``FILE:FUNCTION`` of the spec, or "" where ``program``, the text of the algebra, is
    all there is. ``case``: the record of a bound case. ``peers``: a peers file or "". ``skip``:
    contenders that are left out, each with the reason: they broke a process before. ``target``: a
    row of the table of devices.
    """

    kernel: str
    function: str
    spec: str
    program: str
    case: Mapping[str, Any]
    against: tuple[str, ...]
    peers: str
    modes: tuple[str, ...]
    rounds: int
    target: str
    skip: Mapping[str, str]

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> BenchJob:
        """The job that ``record`` holds."""
        tuples = {name: tuple(record[name]) for name in ("against", "modes")}
        return cls(**{**record, **tuples})


def row_record(
    mode: str, series: Series, ours: Series | None, wrong: str, checked: bool
) -> dict[str, Any]:
    """One contender in one mode. Times in microseconds a call; ``ratio``: its time over ours."""
    found: dict[str, Any] = {
        "mode": mode,
        "name": series.name,
        "failed": series.failed,
        "wrong": wrong,
        "checked": checked,
    }
    if series.us:
        found |= {**asdict(series.figures), "figures": [round(u, 4) for u in series.us]}
        if ours is not None and ours.us:
            middle = ratio(series, ours)
            found |= {
                "ratio": middle.median,
                "ratio_low": middle.low,
                "ratio_high": middle.high,
            }
    return found
