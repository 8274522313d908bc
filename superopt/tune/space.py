"""What is tuned: the structures of one case, and for each the Configs it may be launched with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import fields
from functools import cached_property

from superopt.case import Case
from superopt.tune.request import Launches
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program

Value = int | float | str | bool
Parameters = dict[str, Value]


@dataclass(frozen=True)
class Point:
    """One choice of Configs. ``model_us``: its time by the model."""

    launches: Launches
    model_us: float

    @cached_property
    def parameters(self) -> Parameters:
        """The choice as named numbers: the tile of each axis, parts, warps, ... of each launch.

        >>> Point((Config((("n", 64),), 1, 4, 2),), 1.0).parameters["0.tile.n"]
        64
        """
        found: Parameters = {}
        for number, config in enumerate(self.launches):
            for axis, tile in config.tiles:
                found[f"{number}.tile.{axis}"] = tile
            for f in fields(Config):
                if f.name != "tiles":
                    value = getattr(config, f.name)
                    plain = isinstance(value, int | float | str | bool)
                    found[f"{number}.{f.name}"] = value if plain else repr(value)
        return found


@dataclass(frozen=True)
class Structure:
    """A verified kernel graph and its ``points``, best by the model first. ``digest``: of the
    graph. ``text``: of the printed text that was read; no other is timed."""

    digest: str
    graph: KernelGraph
    points: tuple[Point, ...]
    text: str

    @cached_property
    def choices(self) -> dict[str, tuple[Value, ...]]:
        """Parameter -> the values that it has in some point; only those that vary."""
        values: dict[str, dict[Value, None]] = {}
        for point in self.points:
            for name, value in point.parameters.items():
                values.setdefault(name, {})[value] = None
        return {
            name: tuple(sorted(found, key=_order))
            for name, found in values.items()
            if len(found) > 1
        }

    def nearest(
        self, wanted: Mapping[str, Value], taken: Mapping[Launches, object]
    ) -> Point | None:
        """The point not in ``taken`` that is nearest to ``wanted``; the model decides between
        equally near ones. None if nothing is left."""
        left = [p for p in self.points if p.launches not in taken]
        return min(left, key=lambda p: distance(p.parameters, wanted), default=None)


@dataclass(frozen=True)
class Job:
    """What is tuned for one case: ``structures`` in the order of the model."""

    program: Program
    case: Case
    structures: tuple[Structure, ...]


def distance(a: Mapping[str, Value], b: Mapping[str, Value]) -> float:
    """How far two choices are apart: doublings of numbers, and 1 for anything else that differs.

    Only the parameters of ``b`` count.
    """
    total = 0.0
    for name, there in b.items():
        here = a.get(name)
        if here == there:
            continue
        if isinstance(here, int | float) and isinstance(there, int | float) and here > 0 < there:
            total += abs(math.log2(here / there))
        else:
            total += 1.0
    return total


def _order(value: Value) -> tuple[str, float, str]:
    """Numbers by size, anything else by its text."""
    number = isinstance(value, int | float)
    return ("" if number else "text", float(value) if number else 0.0, str(value))
