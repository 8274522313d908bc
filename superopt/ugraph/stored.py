"""A Config as JSON and back: the one form of it in every file that superopt writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from dataclasses import fields
from typing import Any

from superopt.ugraph.levels import Config


def config_record(config: Config) -> dict[str, Any]:
    """``config`` as JSON: every field by its name, ``tiles`` as positions by axis."""
    record = {f.name: getattr(config, f.name) for f in fields(config)}
    return record | {"tiles": dict(config.tiles)}


def config_from(record: Mapping[str, Any]) -> Config:
    """The Config that ``record`` holds; a field that it lacks has its default.

    ``tiles`` may also be a list of pairs, as files of earlier versions have them.

    Raises:
        TypeError, ValueError, KeyError: it is no record of a Config.
    """
    tiles = record["tiles"]
    pairs = tiles.items() if isinstance(tiles, Mapping) else tiles
    found = Config(
        tuple((axis, tile) for axis, tile in pairs),
        **{name: frozen(value) for name, value in record.items() if name != "tiles"},
    )
    for one in fields(found):
        _check(one.name, getattr(found, one.name), one.default)
    for axis, tile in found.tiles:
        _check("axis", axis, "")
        _check(f"tile of {axis}", tile, 1)
    return found


def _check(name: str, value: Any, like: Any) -> None:
    """That a value is of the type of another one, and no negative number."""
    if like is not MISSING and type(value) is not type(like):
        raise TypeError(f"{name} is {value!r}")
    if isinstance(value, int) and value < 0:
        raise ValueError(f"{name} is {value}")


def frozen(value: Any) -> Any:
    """``value`` with tuples for lists."""
    return tuple(frozen(v) for v in value) if isinstance(value, list) else value
