"""What a kernel graph does, in a few words that are computed from the graph alone."""

from __future__ import annotations

from collections.abc import Sequence

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Walk
from superopt.ugraph.pack import hosts


def structure(graph: KernelGraph) -> tuple[str, ...]:
    """One line a kernel: its walks, what each carries and repairs, where it begins and stops.

    A split kernel is one line here, though two functions are launched for it.
    """
    return tuple(_kernel(block) for block in graph.kernels)


def _kernel(block: BlockGraph) -> str:
    split = [axis for axis, place in block.places if isinstance(place, Split)]
    walks = [_walk(walk, split) for walk in block.walks]
    together = [f"{axis} packed into {into}" for axis, into in hosts(block.places).items()]
    return "; ".join([*(walks or ["no walk"]), *together])


def _walk(walk: Walk, split: list[str]) -> str:
    words = [f"{'split walk' if walk.axis in split else 'walk'} of {walk.axis}"]
    words += _limits(walk.start, walk.stop)
    if walk.clear is not None:
        words += ["clear", *_limits(walk.clear.start, walk.clear.stop)]
    repaired = sum(bool(c.moves) for c in walk.carries)
    if walk.carries:
        words.append(f"with {len(walk.carries)} carries, {repaired} repaired")
    if walk.stores:
        words.append("that stores")
    if walk.inner:
        words.append(f"around a {', a '.join(_walk(w, split) for w in walk.inner)}")
    return " ".join(words)


def _limits(start: Sequence[Bound], stop: Sequence[Bound]) -> list[str]:
    return [
        f"{word} {', '.join(map(_bound, bounds))}"
        for word, bounds in (("from", start), ("to", stop))
        if bounds
    ]


def _bound(bound: Bound) -> str:
    """The positions of other axes that a limit follows."""
    terms = [a if c == 1 else f"{c}*{a}" for a, c in bound.terms]
    return " + ".join(terms) or "a length"
