"""A Config as JSON and back: the one form of it in every file that superopt writes."""

from __future__ import annotations

from collections.abc import Mapping
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
    rest = {name: frozen(value) for name, value in record.items() if name != "tiles"}
    return Config(tuple((axis, tile) for axis, tile in pairs), **rest)


def frozen(value: Any) -> Any:
    """``value`` with tuples for lists."""
    return tuple(frozen(v) for v in value) if isinstance(value, list) else value
