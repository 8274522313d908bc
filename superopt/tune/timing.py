"""What a run measured: every candidate that was tried on the device, and the peers; as JSON too.

It is ``timing.measured``, ``timing.peers`` and ``timing.machine`` of a run.json.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import dataclass
from typing import Any

from superopt.errors import UserError
from superopt.tune.record import FAILED
from superopt.tune.record import STAGES
from superopt.tune.record import TIMED
from superopt.tune.record import Machine
from superopt.ugraph.levels import Config
from superopt.ugraph.stored import config_from
from superopt.ugraph.stored import config_record


@dataclass(frozen=True)
class MeasuredTime:
    """One graph with its Configs, tried on the device.

    ``digest``: the candidate's. ``stage``, ``why``: where and why it failed, else empty.
    ``us``, ``low``, ``high``: median and quartiles over ``rounds`` rounds in microseconds a
    call, None for a failed one. ``error``: (relative error seen, limit) on the device.
    ``model_us``: by the model. ``order``: the number in the order of trials of the run.
    ``seconds``: since timing began. A pair that is measured again (more exactly) has several
    entries; the last one counts.
    """

    case: str
    digest: str
    configs: tuple[Config, ...]
    status: str
    stage: str
    why: str
    us: float | None
    low: float | None
    high: float | None
    rounds: int
    error: tuple[float, float] | None
    model_us: float
    order: int
    seconds: float

    @property
    def timed(self) -> bool:
        """Whether there is a time."""
        return self.status == TIMED


@dataclass(frozen=True)
class PeerTime:
    """One peer beside the winner of a case, interleaved.

    ``mode``: ``graph`` or ``eager``. ``ratio``: its time over the winner's (above 1 the winner
    is faster), median and quartiles of neighbours. All are None where it has no time; then
    ``why`` says why. ``yardstick``: it does not compute the operator (a copy, one product alone)
    and is there to be compared with only.
    """

    case: str
    mode: str
    name: str
    us: float | None
    low: float | None
    high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    why: str = ""
    yardstick: bool = False


@dataclass(frozen=True)
class Timing:
    """All that a run measured; ``machine`` is None if it measured nothing."""

    machine: Machine | None = None
    measured: tuple[MeasuredTime, ...] = ()
    peers: tuple[PeerTime, ...] = ()

    def of(self, case: str) -> Timing:
        """What was measured for one case."""
        return Timing(
            self.machine,
            tuple(m for m in self.measured if m.case == case),
            tuple(p for p in self.peers if p.case == case),
        )

    @property
    def last(self) -> tuple[MeasuredTime, ...]:
        """The last word on every (case, graph, Configs), in the order of first trials."""
        found = {(m.case, m.digest, m.configs): m for m in self.measured}
        return tuple(found.values())

    def best(self, digest: str | None = None) -> MeasuredTime | None:
        """The fastest (of the candidate ``digest``) by last word, None if none has a time."""
        return min(
            (m for m in self.last if m.timed and digest in (None, m.digest)),
            key=lambda m: (m.us, m.order),
            default=None,
        )


NOT_TIMED = Timing()


def timing_record(timing: Timing) -> dict[str, Any]:
    """``timing`` as JSON; infinities and NaN stay floats."""
    return {
        "machine": asdict(timing.machine) if timing.machine else None,
        "measured": [
            {name: value for name, value in asdict(m).items() if name != "configs"}
            | {"configs": [config_record(c) for c in m.configs]}
            for m in timing.measured
        ],
        "peers": [asdict(p) for p in timing.peers],
    }


def timing_from(record: Mapping[str, Any], where: str = "run.json") -> Timing:
    """What the run.json ``record`` says of measured times; ``NOT_TIMED`` if it says nothing.

    Raises:
        UserError: an entry is not of the described form; the message names it. ``where``: the
            file, for that message.
    """
    found = record.get("timing")
    if not isinstance(found, dict):
        raise UserError(f"{where}: timing is missing, or no object")
    machine = found.get("machine")
    measured = _entries(found, "measured", where)
    peers = _entries(found, "peers", where)
    if machine is None and (measured or peers):
        raise UserError(f"{where}: timing.machine is missing, but there are measured times")
    return Timing(
        None if machine is None else _machine(_Entry(machine, f"{where}: timing.machine")),
        tuple(_measured(e) for e in measured),
        tuple(_peer(e) for e in peers),
    )


@dataclass(frozen=True)
class _Entry:
    """One object of the file, and where it stands in it."""

    fields: Any
    where: str

    def value(self, name: str) -> Any:
        if not isinstance(self.fields, dict):
            raise UserError(f"{self.where}: must be an object, not {self.fields!r}")
        if name not in self.fields:
            raise UserError(f"{self.where}: has no {name!r}")
        return self.fields[name]

    def text(self, name: str) -> str:
        value = self.value(name)
        if not isinstance(value, str):
            raise self.wrong(name, "text")
        return value

    def count(self, name: str) -> int:
        value = self.value(name)
        if type(value) is not int or value < 0:
            raise self.wrong(name, "a count")
        return value

    def flag(self, name: str) -> bool:
        value = self.value(name)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def number(self, name: str) -> float:
        """A number from 0 on; an infinity is one, NaN is none."""
        found = self.maybe(name)
        if found is None:
            raise self.wrong(name, "a number from 0 on")
        return found

    def maybe(self, name: str) -> float | None:
        value = self.value(name)
        if value is None:
            return None
        found = _float(value)
        if found is None or not found >= 0:
            raise self.wrong(name, "a number from 0 on, or null")
        return found

    def wrong(self, name: str, right: str) -> UserError:
        return UserError(f"{self.where}.{name}: must be {right}, not {self.fields[name]!r}")


def _entries(found: Mapping[str, Any], name: str, where: str) -> list[_Entry]:
    entries = found.get(name) or []
    if not isinstance(entries, list):
        raise UserError(f"{where}: timing.{name}: must be a list")
    return [_Entry(e, f"{where}: timing.{name}[{i}]") for i, e in enumerate(entries)]


def _machine(entry: _Entry) -> Machine:
    return Machine(*(entry.text(n) for n in ("gpu", "driver", "torch", "triton", "superopt")))


def _measured(entry: _Entry) -> MeasuredTime:
    status, stage = entry.text("status"), entry.text("stage")
    if status not in (TIMED, FAILED):
        raise entry.wrong("status", f"{TIMED!r} or {FAILED!r}")
    if (status == FAILED) != (stage in STAGES):
        raise entry.wrong("stage", f"one of {', '.join(STAGES)} for a failure, else empty")
    us, low, high = (entry.maybe(n) for n in ("us", "low", "high"))
    given = [v for v in (us, low, high) if v is not None and math.isfinite(v) and v > 0]
    if (status == TIMED and len(given) < 3) or (
        status == FAILED and (us, low, high) != (None,) * 3
    ):
        raise entry.wrong("us", "a time above 0 with quartiles if timed, else null")
    try:
        configs = tuple(config_from(c) for c in entry.value("configs"))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{entry.where}.configs: {type(error).__name__}: {error}") from error
    return MeasuredTime(
        entry.text("case"),
        entry.text("digest"),
        configs,
        status,
        stage,
        entry.text("why"),
        us,
        low,
        high,
        entry.count("rounds"),
        _error(entry),
        entry.number("model_us"),
        entry.count("order"),
        entry.number("seconds"),
    )


def _error(entry: _Entry) -> tuple[float, float] | None:
    value = entry.value("error")
    if value is None:
        return None
    found = [_float(v) for v in value] if isinstance(value, list | tuple) else []
    match found:
        case [float(seen), float(limit)]:
            return seen, limit
        case _:
            raise entry.wrong("error", "null or [relative error, limit]")


_FIGURES = ("us", "low", "high", "ratio", "ratio_low", "ratio_high")


def _peer(entry: _Entry) -> PeerTime:
    values = {n: entry.maybe(n) for n in _FIGURES}
    if len({v is None for v in values.values()}) > 1:
        raise entry.wrong("us", "given with low, high and the ratios, or all of them null")
    why = entry.text("why") if "why" in entry.fields else ""
    yardstick = entry.flag("yardstick") if "yardstick" in entry.fields else False
    return PeerTime(
        case=entry.text("case"),
        mode=entry.text("mode"),
        name=entry.text("name"),
        why=why,
        yardstick=yardstick,
        **values,
    )


def _float(value: Any) -> float | None:
    """A number, or the name of one that JSON does not have (``inf``, ``nan``)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
