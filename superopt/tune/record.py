"""What one measurement is: its complete key, what came of it, and both as JSON.

A key holds everything that a time depends on, so a stored time is used where all of it is the
same, and nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from typing import Any
from typing import TypeVar

from superopt.source import Facts
from superopt.ugraph.levels import Config
from superopt.ugraph.stored import config_from
from superopt.ugraph.stored import config_record

TIMED = "timed"
FAILED = "failed"
STAGES = ("compile", "read", "run", "floats", "time")  # where a candidate can fail, in order

_T = TypeVar("_T")


@dataclass(frozen=True)
class Machine:
    """What a time depends on beside the kernel: the GPU's name, and versions."""

    gpu: str
    driver: str
    torch: str
    triton: str
    superopt: str


@dataclass(frozen=True)
class Key:
    """All that a measurement depends on.

    ``program``: digest of the spec's program, in the user's names. ``graph``: digest of the
    kernel graph. ``text``: body digest of the printed file that was run. ``configs``: one a
    launch. ``dialect``: of the text, ``triton``. ``sizes``: by axis. ``strides``:
    ``contiguous``. ``scalars``: values of run-time scalars. ``tolerance``: by which rule floats
    were compared, ``contract``. ``mode``: ``graph`` (a replayed CUDA graph) or ``eager``.
    ``integers``: how integer tensors were drawn, as the text of the rules.
    """

    program: str
    graph: str
    text: str
    configs: tuple[Config, ...]
    dialect: str
    sizes: tuple[tuple[str, int], ...]
    strides: str
    dtype: str
    tf32: bool
    scalars: tuple[tuple[str, float], ...]
    tolerance: str
    mode: str
    machine: Machine
    integers: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of the key; the order of axes, tiles and scalars does not matter."""
        text = json.dumps(key_record(self), sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Figures:
    """Microseconds a call: median, lower and upper quartile over ``rounds`` rounds."""

    us: float
    low: float
    high: float
    rounds: int


@dataclass(frozen=True)
class Outcome:
    """What came of a candidate on the device.

    ``status``: ``timed`` or ``failed``. ``stage``, ``why``: of a failure, one of ``STAGES`` and
    the reason; else empty. ``figures``: of a timed one. ``error``: (relative error seen, limit)
    of the float check on the device, None where it was not reached. ``facts``: what the
    compiler said of each launch, if known.

    Raises:
        ValueError: a time without figures or with a failed stage, or a failure without a stage.
    """

    status: str
    stage: str
    why: str
    figures: Figures | None
    error: tuple[float, float] | None
    facts: tuple[Facts, ...] = ()

    def __post_init__(self) -> None:
        match self.status:
            case "timed":
                good = self.figures is not None and not self.stage
            case "failed":
                good = self.figures is None and self.stage in STAGES
            case _:
                good = False
        if not good:
            raise ValueError(
                f"an outcome is {TIMED!r} with figures and no stage, or {FAILED!r} at one of "
                f"{', '.join(STAGES)} without figures, not {self.status!r} at {self.stage!r}"
            )


@dataclass(frozen=True)
class Record:
    """One measurement. ``when``: ISO date and time, UTC."""

    key: Key
    outcome: Outcome
    when: str


def now() -> str:
    """The date and time of a record made now, to the second: ``2026-01-31T12:00:00+00:00``."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def to_text(record: Record) -> str:
    """``record`` as one line of JSON; equal records give equal text."""
    found = {
        "key": key_record(record.key),
        "outcome": outcome_record(record.outcome),
        "when": record.when,
    }
    return json.dumps(found, separators=(",", ":"), allow_nan=False)


def from_text(text: str) -> Record:
    """The record that ``text`` holds.

    Raises:
        ValueError: it holds none; the message says what is wrong.
    """
    try:
        found = json.loads(text)
        return Record(
            key_from(found["key"]), outcome_from(found["outcome"]), _of(str, found["when"])
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no record of a time: {type(error).__name__}: {error}") from error


def key_record(key: Key) -> dict[str, Any]:
    """``key`` as JSON."""
    return {
        **{name: getattr(key, name) for name in _WORDS},
        "configs": [config_record(c) for c in key.configs],
        "sizes": dict(key.sizes),
        "tf32": key.tf32,
        "scalars": {name: _stored(value) for name, value in key.scalars},
        "integers": dict(key.integers),
        "machine": asdict(key.machine),
    }


_WORDS = ("program", "graph", "text", "dialect", "strides", "dtype", "tolerance", "mode")


def key_from(record: Mapping[str, Any]) -> Key:
    """The key that ``record`` holds.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it holds none.
    """
    return Key(
        **{name: _of(str, record[name]) for name in _WORDS},
        configs=tuple(config_from(c) for c in record["configs"]),
        sizes=tuple((axis, _of(int, size)) for axis, size in record["sizes"].items()),
        tf32=_of(bool, record["tf32"]),
        scalars=tuple((name, float(value)) for name, value in record["scalars"].items()),
        machine=Machine(**{k: _of(str, v) for k, v in record["machine"].items()}),
        integers=tuple((name, _of(str, rule)) for name, rule in record["integers"].items()),
    )


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """``outcome`` as JSON; an infinity or NaN is its name."""
    return {
        "status": outcome.status,
        "stage": outcome.stage,
        "why": outcome.why,
        "figures": asdict(outcome.figures) if outcome.figures else None,
        "error": [_stored(e) for e in outcome.error] if outcome.error else None,
        "facts": [asdict(f) for f in outcome.facts],
    }


def outcome_from(record: Mapping[str, Any]) -> Outcome:
    """The outcome that ``record`` holds.

    Raises:
        KeyError, TypeError, ValueError: it holds none.
    """
    figures, error = record["figures"], record["error"]
    return Outcome(
        _of(str, record["status"]),
        _of(str, record["stage"]),
        _of(str, record["why"]),
        Figures(**figures) if figures is not None else None,
        _pair(error) if error is not None else None,
        tuple(Facts(**f) for f in record["facts"]),
    )


def _pair(values: Sequence[Any]) -> tuple[float, float]:
    seen, limit = values
    return float(seen), float(limit)


def _of(kind: type[_T], value: Any) -> _T:
    """``value``, which must be of ``kind``."""
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _stored(value: float) -> float | str:
    """``value`` as JSON can hold it."""
    return float(value) if math.isfinite(value) else str(float(value))
