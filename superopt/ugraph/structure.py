"""What a kernel graph does, in a few words that are computed from the graph alone."""

from __future__ import annotations

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Walk


def structure(graph: KernelGraph) -> tuple[str, ...]:
    """One line a kernel: its walks, what each carries and repairs, where it begins and stops.

    A split kernel is one line here, though two functions are launched for it.
    """
    return tuple(_kernel(block) for block in graph.kernels)


def _kernel(block: BlockGraph) -> str:
    split = [axis for axis, place in block.places if isinstance(place, Split)]
    walks = [_walk(walk, split) for walk in block.walks]
    return "; ".join(walks) if walks else "no walk"


def _walk(walk: Walk, split: list[str]) -> str:
    words = [f"{'split walk' if walk.axis in split else 'walk'} of {walk.axis}"]
    if walk.start:
        words.append("from " + ", ".join(_bound(b) for b in walk.start))
    if walk.stop:
        words.append("to " + ", ".join(_bound(b) for b in walk.stop))
    repaired = sum(bool(c.moves) for c in walk.carries)
    if walk.carries:
        words.append(f"with {len(walk.carries)} carries, {repaired} repaired")
    if walk.stores:
        words.append("that stores")
    return " ".join(words)


def _bound(bound: Bound) -> str:
    """The positions of other axes that a limit follows."""
    terms = [a if c == 1 else f"{c}*{a}" for a, c in bound.terms]
    return " + ".join(terms) or "a length"
