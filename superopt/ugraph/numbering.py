"""In which order the programs of a launch are numbered, beyond what ``BlockGraph.order`` says.

``Config.group`` is the number of rows of a well-known order for tiled matrix products: programs
that run at once then form a block of tiles, not a line of them, and share what they read in the
L2. It permutes programs, so it changes no value.
"""

from __future__ import annotations

from itertools import pairwise

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid


def neighbours(block: BlockGraph) -> tuple[str, str] | None:
    """The grid axes whose tiles ``Config.group`` groups where programs take so many each: as
    ``grouped``, or a tiled axis and the one before it that has a tile for each position."""
    pairs = pairwise(t.axis for t in block.order)
    return grouped(block) or next(((a, b) for a, b in pairs if block.place[b] == Grid()), None)


def grouped(block: BlockGraph) -> tuple[str, str] | None:
    """The grid axes whose programs ``Config.group`` numbers in groups, the slower one first.

    They are the fastest neighbours in the order that are both tiled; None if there are none.
    """
    tiled = [t.axis for t in block.order if block.place[t.axis] == Grid()]
    axes = [t.axis for t in block.order]
    pairs = [(a, b) for a, b in pairwise(axes) if a in tiled and b in tiled]
    return pairs[-1] if pairs else None
