"""At which sizes, tiles and parts a text is read: by what is empty, and by remainder.

Tiles are 2 or 4 positions and differ between walked and other axes; every axis has tiles with
lanes past its end in some trial, exactly full ones in another.
"""

from __future__ import annotations

from collections.abc import Iterator

from superopt.ugraph.best import listed
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.node import Map
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.split import launches
from superopt.ugraph.walk import topo
from superopt.verify.field.trials import Trial
from superopt.verify.field.trials import axes_of
from superopt.verify.field.trials import divides_by_nothing
from superopt.verify.field.trials import positions
from superopt.verify.field.trials import walked_axes

PARTS = 3
EXTREMA = (Fn.MAX, Fn.MIN)
FEW = {Fn.SQRT: 3, Fn.RSQRT: 3, Fn.ABS: 4, Fn.LT: 4, Fn.LE: 4, Fn.EQ: 4}
RANKED = 3
GROUP = 2  # rows of tiles that are numbered together, where a launch is


def text_trials(program: Program, graph: KernelGraph) -> Iterator[Trial]:
    """The choices, those first that refute most wrong texts.

    Parts of a split axis are several tiles, one short tile, and none, which begins at the end or
    past it. Axes with a program for each position have several positions in one trial.
    """
    axes = axes_of(program)
    walked = [a for a in axes if a in walked_axes(graph)]
    cut = [a for a in axes if a not in walked and a in _cut(graph)]
    lone = [a for a in axes if a not in walked and a not in cut and a in _lone(graph)]
    whole = [a for a in axes if a not in (*walked, *cut, *lone)]
    costly = _costly(program)

    def sizes(many: int, tiled: int, single: int, inner: int) -> dict[str, int]:
        found = {a: max(1, many - i % 2 * 2) for i, a in enumerate(walked)}
        found |= {a: min(found[a], few) for a, few in costly.items() if a in found}
        found |= {a: tiled + i % 2 for i, a in enumerate(cut)}
        found |= dict.fromkeys(cut[:-2], max(1, single - 1))  # many axes in tiles are many elements
        found |= {a: max(1, single - i % 2) if single > 1 else 1 for i, a in enumerate(lone)}
        return found | {a: inner + i % 2 for i, a in enumerate(whole)} | dict(program.fixed)

    yield text_trial("remainder", graph, sizes(5, 6, 1, 2), 2 if costly else 4, 2)
    yield text_trial("programs", graph, sizes(3, 3, 3, 2), 2, 2)
    yield text_trial("parts", graph, sizes(9, 3, 1, 3), 2, 4)
    if positions(program):  # parts that begin inside of a tile of rows, before what they see
        yield text_trial("diagonal", graph, sizes(5, 6, 1, 2), 2, 4)
    yield text_trial("full", graph, sizes(4, 2, 1, 2), 2, 2)
    yield text_trial("single", graph, dict.fromkeys(axes, 1) | dict(program.fixed), 2, 4)
    for axis in (*walked, *cut[:1]):
        empty = sizes(2, 2, 1, 2) | {axis: 0}
        if not divides_by_nothing(program, empty) and not _has_no_number(program, axis):
            yield text_trial(f"no {axis}", graph, empty, 2, 4)


def _costly(program: Program) -> dict[str, int]:
    """The folded axes whose every position brings a root or a choice, and how many may be.

    The bound doubles with every root; all choices must fall both ways; candidates for a list of
    the best must come in every order.
    """
    nodes = topo([s.value for s in program.outputs])
    folded = {n.axis for n in nodes if isinstance(n, Reduce)}
    found: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, Map) and node.fn in FEW and node.args[0].kind is Kind.REAL:
            few = {a: FEW[node.fn] for a in node.axes if a in folded}
            found |= {a: min(n, found.get(a, n)) for a, n in few.items()}
    return found | dict.fromkeys(listed([s.value for s in program.outputs], program.fixed), RANKED)


def _has_no_number(program: Program, axis: str) -> bool:
    """Whether an extremum of integers is taken over ``axis``: over nothing it is no integer."""
    return any(
        isinstance(n, Reduce) and n.axis == axis and n.fn in EXTREMA and n.kind is Kind.INT
        for n in topo([s.value for s in program.outputs])
    )


def text_trial(
    label: str, graph: KernelGraph, sizes: dict[str, int], walked: int, tiled: int
) -> Trial:
    """One choice: ``walked`` positions in tiles that follow one another, ``tiled`` in others."""
    configs = []
    for block in launches(graph):
        tiles: dict[str, int] = {}
        for axis, place in block.places:
            if place == Grid(tiled=False) or isinstance(place, Pack):
                continue
            if isinstance(place, Loop | Split):
                tiles[axis] = walked
            elif isinstance(place, Grid):
                tiles[axis] = tiled
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
