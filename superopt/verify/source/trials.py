"""At which sizes, tiles and parts a text is read: by what is empty, and by remainder.

Tiles are 2 or 4 positions and differ between walked and other axes; every axis has tiles with
lanes past its end in some trial, exactly full ones in another. In two trials all tiles differ, and
an axis that is kept whole is wider than all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from types import MappingProxyType

from superopt.ugraph.best import listed
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.node import Best
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.split import launches
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo
from superopt.verify.field.trials import Trial
from superopt.verify.field.trials import axes_of
from superopt.verify.field.trials import divides_by_nothing
from superopt.verify.field.trials import positions
from superopt.verify.field.trials import walked_axes

PARTS = 3
EXTREMA = (Fn.MAX, Fn.MIN)
FEW = {Fn.SQRT: 3, Fn.RSQRT: 3, Fn.ABS: 4, Fn.LT: 4, Fn.LE: 4, Fn.EQ: 4}
EXPONENTIALS, LOGARITHMS = (Fn.EXP, Fn.EXP2), (Fn.LOG, Fn.LOG2)
FEW_SUMMED = 4  # exponentials in an exponent
FEW_MOVES = 5  # positions of an axis whose every tile takes a root: parts have one tile then
RANKED = 3  # candidates for a list, in every order of which it is read
MORE = 3  # candidates than there are ranks, and one for a remainder
MANY = 5  # of a walked axis: more are several tiles for each part
# Tiles, and sizes beside which another axis' tile, for the tile or in a remainder, is wrong: they
# are no multiples of their tile, but of any smaller one.
UNEQUAL = {2: (6, 6), 4: (6, 10), 8: (12, 12)}
FEW_EACH = 2  # positions of each folded axis that is kept whole, where many axes are folded
FOLDED_MOST = 2  # folded axes, beside which others may be wide
WIDE = 17  # more positions than any tile, and than the least one of a matrix unit
NONE: Mapping[str, int] = MappingProxyType({})
GROUP = 2  # rows of tiles that are numbered together, where a launch is


def text_trials(
    program: Program, graph: KernelGraph, longer: bool = False, row: int = 1
) -> Iterator[Trial]:
    """The choices, those first that refute most wrong texts.

    ``longer``: lists of the best have more candidates than ranks, though fields have too few
    points for all orders of so many. ``row``: rows of workspaces are a multiple of it (those of
    which descriptors are made must be).

    Parts of a split axis are several tiles (one, where every tile takes a root), one short tile,
    and none, which begins at the end or past it. Axes with a program for each position have
    several positions in one trial.
    """
    axes = axes_of(program)
    walked = [a for a in axes if a in walked_axes(graph)]
    cut = [a for a in axes if a not in walked and a in _cut(graph)]
    lone = [a for a in axes if a not in walked and a not in cut and a in _lone(graph)]
    whole = [a for a in axes if a not in (*walked, *cut, *lone)]
    costly = _costly(program)
    rooted = dict.fromkeys(_rooted(graph), FEW_MOVES)
    lists = listed([s.value for s in program.outputs], program.fixed)
    costly |= dict.fromkeys(lists, RANKED)

    folded = {n.axis for n in topo([s.value for s in program.outputs]) if isinstance(n, Reduce)}
    if len(folded) > FOLDED_MOST:
        costly |= {a: min(FEW_MOVES, costly.get(a, FEW_MOVES)) for a in folded}
    rows = _workspace_rows(graph)

    def even(found: dict[str, int]) -> dict[str, int]:
        return found | {a: -(-n // row) * row for a, n in found.items() if a in rows}

    def sizes(many: int, tiled: int, single: int, inner: int) -> dict[str, int]:
        found = {a: max(1, many - i % 2 * 2) for i, a in enumerate(walked)}
        found |= {a: min(found[a], few) for a, few in (rooted | costly).items() if a in found}
        found |= {a: tiled + i % 2 for i, a in enumerate(cut)}
        found |= dict.fromkeys(cut[:-2], max(1, single - 1))  # many axes in tiles are many elements
        found |= {a: max(1, single - i % 2) if single > 1 else 1 for i, a in enumerate(lone)}
        found |= {a: inner + i % 2 for i, a in enumerate(whole)}
        if len(folded) > FOLDED_MOST:
            found |= {a: min(found[a], FEW_EACH) for a in folded if a in whole}
        if longer:  # parts have more, too, where there are many
            found |= {a: n * (PARTS if many > MANY else 1) + MORE | 1 for a, n in lists.items()}
        return even(found | dict(program.fixed))

    yield text_trial("remainder", graph, sizes(5, 6, 1, 2), 2 if costly else 4, 2)
    yield text_trial("programs", graph, sizes(3, 3, 3, 2), 2, 2)
    yield text_trial("parts", graph, sizes(9, 3, 1, 3), 2, 4)
    if positions(program):  # parts that begin inside of a tile of rows, before what they see
        yield text_trial("diagonal", graph, sizes(5, 6, 1, 2), 2, 4)
    yield text_trial("full", graph, sizes(6, 2, 1, 2), 2, 2)  # every part has one tile
    yield text_trial("single", graph, even(dict.fromkeys(axes, 1) | dict(program.fixed)), 2, 4)
    block_axes = [a for a in axes if a in walked or a in cut]
    wide = [a for a in whole if a not in costly and a not in dict(program.fixed)]

    for turn in (0, 1):
        order = block_axes[::-1] if turn else block_axes
        tile = {a: tuple(UNEQUAL)[i % len(UNEQUAL)] for i, a in enumerate(order)}
        some = sizes(2, 2, 1, 2) | {a: UNEQUAL[t][turn] for a, t in tile.items() if a not in costly}
        if len(folded) <= FOLDED_MOST:  # the bound multiplies sums of sums out
            some |= dict.fromkeys(wide[turn::2], WIDE)
        yield text_trial(f"unequal {turn}", graph, even(some | dict(program.fixed)), 2, 2, tile)
    for axis in (*walked, *cut[:1]):
        empty = sizes(2, 2, 1, 2) | {axis: 0}
        if not divides_by_nothing(program, empty) and not _has_no_number(program, axis):
            yield text_trial(f"no {axis}", graph, empty, 2, 4)


def _costly(program: Program) -> dict[str, int]:
    """The folded axes whose every position brings a root, a choice or an exponential in an
    exponent, and how many may be.

    The bound doubles with every root; all choices must fall both ways. An exponential of a sum
    of exponentials has a degree that doubles with each of them.
    """
    nodes = topo([s.value for s in program.outputs])
    folded = {n.axis for n in nodes if isinstance(n, Reduce | Recur)}
    found: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, Map) and node.fn in FEW and _reads_real(node):
            few = {a: FEW[node.fn] for a in node.axes if a in folded}
            found |= {a: min(n, found.get(a, n)) for a, n in few.items()}
        if isinstance(node, Map) and node.fn in EXPONENTIALS:
            folds = [n for n in topo(node.args, _in_exponent) if isinstance(n, Reduce)]
            steep = [n.axis for n in folds if any(map(_grows, topo([n], _in_exponent)))]
            found |= {a: min(FEW_SUMMED, found.get(a, FEW_SUMMED)) for a in steep}
    return found


def _reads_real(node: Map) -> bool:
    """Whether an operand is real; in ``0 < x`` it is not the first one."""
    return any(a.kind is Kind.REAL for a in node.args)


def _grows(node: Node) -> bool:
    return isinstance(node, Map) and node.fn in EXPONENTIALS


def _in_exponent(node: Node) -> Sequence[Node]:
    """The nodes that ``node`` reads, but none of those of which it takes the logarithm."""
    return () if isinstance(node, Map) and node.fn in LOGARITHMS else children(node)


def _rooted(graph: KernelGraph) -> frozenset[str]:
    """The walked axes along which states move by roots of other states, one in every tile."""
    walks = [walk for block in graph.kernels for walk in block.nest]
    return frozenset(
        walk.axis
        for walk in walks
        for node in topo([m.factor for c in walk.carries for m in c.moves])
        if isinstance(node, Map) and node.fn in (Fn.SQRT, Fn.RSQRT)
    )


def _workspace_rows(graph: KernelGraph) -> frozenset[str]:
    """The innermost axes of what one kernel writes for another."""
    stores = (s for block in graph.kernels for s in block.all_stores)
    return frozenset(s.order[-1] for s in stores if s.order and s.name not in graph.outputs)


def ranks_of(program: Program) -> dict[str, int]:
    """The axes of the ranks of lists of the best, and how many each has."""
    nodes = topo([s.value for s in program.outputs])
    into = {n.into for n in nodes if isinstance(n, Best)}
    return {a: n for a, n in program.fixed if a in into}


def _has_no_number(program: Program, axis: str) -> bool:
    """Whether an extremum of integers is taken over ``axis``: over nothing it is no integer."""
    return any(
        isinstance(n, Reduce) and n.axis == axis and n.fn in EXTREMA and n.kind is Kind.INT
        for n in topo([s.value for s in program.outputs])
    )


def text_trial(
    label: str,
    graph: KernelGraph,
    sizes: dict[str, int],
    walked: int,
    tiled: int,
    own: Mapping[str, int] = NONE,
) -> Trial:
    """One choice: ``walked`` positions in tiles that follow one another, ``tiled`` in others;
    ``own``: by axis, other numbers."""
    configs = []
    for block in launches(graph):
        tiles: dict[str, int] = {}
        for axis, place in block.places:
            if place in (Grid(tiled=False), Loop(tiled=False)) or isinstance(place, Pack):
                continue
            if isinstance(place, Loop | Split):
                tiles[axis] = own.get(axis, walked)
            elif isinstance(place, Grid):
                tiles[axis] = own.get(axis, tiled)
            else:
                tiles[axis] = 1 << max(0, sizes.get(axis, PARTS) - 1).bit_length()
        split = any(isinstance(place, Split) for _, place in block.places)
        configs.append(Config(tuple(tiles.items()), PARTS if split else 1, group=GROUP))
    return Trial(label, tuple(sizes.items()), tuple(configs))


def _cut(graph: KernelGraph) -> frozenset[str]:
    """Axes that the programs of some kernel share out in tiles."""
    tiled = {a for block in graph.kernels for a, p in block.places if p == Grid(tiled=True)}
    return frozenset(tiled)


def _lone(graph: KernelGraph) -> frozenset[str]:
    """Axes of which a program of some kernel has one position."""
    single = {a for block in graph.kernels for a, p in block.places if p == Grid(tiled=False)}
    packed = {a for block in graph.kernels for a, p in block.places if isinstance(p, Pack)}
    return frozenset(single | packed)
