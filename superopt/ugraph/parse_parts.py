"""Reads the parts of graphs that hold no expressions: places and Configs."""

from __future__ import annotations

from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Whole
from superopt.ugraph.lines import Line

_PLACES: dict[str, Place] = {
    "Grid": Grid(),
    "Loop": Loop(),
    "Split": Split(),
    "Whole": Whole(),
}


def read_place(line: Line) -> Place:
    """Where an axis goes.

    Raises:
        ParseError: the line does not say it.
    """
    word = line.name()
    if word == "Pack":
        return Pack(line.name())
    if word not in _PLACES:
        line.fail(f"unknown place {word!r}; known: {', '.join((*_PLACES, 'Pack'))}")
    if word == "Grid" and line.accept("untiled"):
        return Grid(tiled=False)
    if word == "Loop" and line.accept("untiled"):
        return Loop(tiled=False)
    return _PLACES[word]


def read_config(line: Line) -> Config:
    """The Config that the rest of ``line`` says.

    Raises:
        ParseError: it says none.
    """
    tiles: list[tuple[str, int]] = []
    while not line.accept("|"):
        axis = line.name()
        line.expect("=")
        tiles.append((axis, line.integer()))
    numbers = []
    for word in ("parts", "warps", "stages"):
        line.expect(word, "=")
        numbers.append(line.integer())
    parts, warps, stages = numbers
    found = Config(  # arguments are evaluated, and so words are read, in this order
        tuple(tiles),
        parts,
        warps,
        stages,
        descriptors=line.accept("descriptors"),
        group=line.integer() if line.accept("group", "=") else 1,
        dependent=line.accept("dependent"),
        consumers=line.integer() if line.accept("consumers", "=") else 0,
        ring=line.accept("ring"),
        joined=line.accept("joined"),
        persistent=line.integer() if line.accept("persistent", "=") else 0,
        each=line.integer() if line.accept("each", "=") else 0,
        pingpong=line.accept("pingpong"),
        schedule=line.name() if line.accept("schedule", "=") else "",
    )
    line.end()
    return found
