"""What the machine sees of a candidate, without the scalar algebra of its values.

Candidates of one structure differ in where a factor is applied, say, and take the same time;
to verify several of them costs much and tells little.
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.search.outcome import Built
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole


def structures(found: Sequence[Built], sizes: dict[str, int]) -> list[list[int]]:
    """Positions in ``found``, those of one structure together, in the order of the first ones."""
    groups: dict[object, list[int]] = {}
    for index, built in enumerate(found):
        groups.setdefault(structure(built, sizes), []).append(index)
    return list(groups.values())


def structure(built: Built, sizes: dict[str, int]) -> tuple[object, ...]:
    """Places, walks and carries of all kernels. A grid axis of one tile counts as whole."""
    return tuple(
        _kernel(block, ladder[0][0], sizes)
        for block, ladder in zip(built.graph.kernels, built.ladders, strict=True)
    )


def _kernel(block: BlockGraph, config: Config, sizes: dict[str, int]) -> tuple[object, ...]:
    def place(axis: str, given: Place) -> Place:
        one = isinstance(given, Grid) and config.tile.get(axis, 1) >= sizes[axis]
        return Whole() if one else given

    places = sorted((axis, repr(place(axis, given))) for axis, given in block.places)
    return tuple(places), tuple(_walk(w) for w in block.walks), len(block.stores)


def _walk(walk: Walk) -> tuple[object, ...]:
    carries = sorted((c.fold.symbol, tuple(sorted(c.over)), len(c.moves)) for c in walk.carries)
    limits = (walk.reverse, len(walk.start), len(walk.stop))
    return walk.axis, limits, tuple(carries), len(walk.stores)
