"""Walks that go back: over a row that was just walked, and of which the caches hold the end.

A kernel that walks an axis twice and reads the same tensor both times finds it in the caches only
if all of it stays there. Where it does not, the last tiles are still there, and are the first ones
to be overwritten if the second walk begins at the other end. Its meaning is that of the same walk
in the other direction: a fold takes its tiles in any order; a scan does not.
"""

from __future__ import annotations

from dataclasses import replace

from superopt.rewrite.fuse import Passes
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Input
from superopt.ugraph.scans import roots
from superopt.ugraph.scans import scans
from superopt.ugraph.walk import topo


def revisits(passes: Passes) -> bool:
    """Whether some axis is walked more than once."""
    axes = [axis for axis, _ in passes]
    return len(set(axes)) < len(axes)


def turned(block: BlockGraph) -> BlockGraph:
    """``block`` with walks that go back over what the walk of their axis before them has read.

    A walk without such a predecessor, or with scans along its axis, keeps its direction.
    """
    before: dict[str, Walk] = {}
    walks: list[Walk] = []
    for walk in block.walks:
        last = before.get(walk.axis)
        if last is not None and _read(last) & _read(walk) and not _ordered(walk):
            walk = replace(walk, reverse=not last.reverse)
        before[walk.axis] = walk
        walks.append(walk)
    return replace(block, walks=tuple(walks))


def _read(walk: Walk) -> set[Input]:
    """The tensors of which every tile of ``walk`` reads other elements."""
    return {n for n in topo(walk.roots()) if isinstance(n, Input) and walk.axis in n.order}


def _ordered(walk: Walk) -> bool:
    """Whether the tiles of ``walk`` have to come in the order of positions."""
    return any(scans(roots(one), walk.axis) for one in walk.nest)
