"""What the machine sees of a candidate, without the scalar algebra of its values.

Candidates of one structure differ in where a factor is applied, say, and take the same time;
to verify several of them costs much and tells little.
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.search.outcome import Built
from superopt.ugraph.carry import Carry
from superopt.ugraph.contraction import factors
from superopt.ugraph.contraction import vectors
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Input
from superopt.ugraph.node import Reduce
from superopt.ugraph.pack import joined
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo


def structures(found: Sequence[Built], sizes: dict[str, int]) -> list[list[int]]:
    """Positions in ``found``, those of one structure together, in the order of the first ones.

    Within a structure the first of each way to place vectors on the sides of products comes
    before the others: where operands overflow in one of them, they may not in the next.
    """
    groups: dict[object, dict[object, list[int]]] = {}
    for index, built in enumerate(found):
        group = groups.setdefault(structure(built, sizes), {})
        group.setdefault(_sides(built), []).append(index)
    return [_firsts_first(list(group.values())) for group in groups.values()]


def _firsts_first(lists: Sequence[Sequence[int]]) -> list[int]:
    return [*(some[0] for some in lists), *sorted(i for some in lists for i in some[1:])]


def _sides(built: Built) -> tuple[object, ...]:
    """On which sides of products vectors stand."""
    found: list[object] = []
    for block in built.graph.kernels:
        folds = [Reduce(c.fold, w.axis, c.term) for w in block.nest for c in w.carries]
        folds += [n for n in topo(block.roots()) if isinstance(n, Reduce)]
        found.append(tuple(sorted(vectors(fold) for fold in folds)))
    return tuple(found)


def structure(built: Built, sizes: dict[str, int]) -> tuple[object, ...]:
    """Places, walks and carries of all kernels. A grid axis of one tile counts as whole."""
    return tuple(
        _kernel(block, ladder[0][0], sizes)
        for block, ladder in zip(built.graph.kernels, built.ladders, strict=True)
    )


def _kernel(block: BlockGraph, config: Config, sizes: dict[str, int]) -> tuple[object, ...]:
    def place(axis: str, given: Place) -> Place:
        positions = sizes[axis] * joined(axis, block.places, sizes)
        one = isinstance(given, Grid) and config.tile.get(axis, 1) >= positions
        return Whole() if one else given

    places = sorted((axis, repr(place(axis, given))) for axis, given in block.places)
    return tuple(places), tuple(_walk(w) for w in block.walks), len(block.stores)


def _walk(walk: Walk) -> tuple[object, ...]:
    carries = sorted(
        (c.fold.symbol, tuple(sorted(c.over)), len(c.moves), _computed(walk, c))
        for c in walk.carries
    )
    limits = (walk.reverse, len(walk.start), len(walk.stop))
    inner = tuple(_walk(w) for w in walk.inner)
    return walk.axis, limits, tuple(carries), len(walk.stores), inner


def _computed(walk: Walk, carry: Carry) -> int:
    """How many factors of a summed product do not come from memory as they are: a matrix unit
    waits for those."""
    if carry.fold is not Fn.ADD:
        return 0
    varying = [f for f in factors(carry.term) if walk.axis in f.axes]
    return sum(not isinstance(f, Input) for f in varying) + max(0, len(varying) - 2)
