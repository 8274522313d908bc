"""A program, graphs that compute it, and the file that they are printed into."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field

from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.ugraph.contraction import matrix_axes
from superopt.ugraph.contraction import tile_axes
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Input
from superopt.ugraph.split import launches

Sizes = dict[str, int]


@dataclass(frozen=True)
class Printed:
    """A program, the graphs that compute it, and the sizes to run it at."""

    program: Program
    graphs: tuple[KernelGraph, ...]
    sizes: tuple[Sizes, ...]
    scalars: dict[str, float] = field(default_factory=dict)
    parts: int = 3

    def configs(self, graph: KernelGraph, least: int = 4) -> tuple[Config, ...]:
        """Small tiles for every launch."""
        found = []
        for block in launches(graph):
            matrix = matrix_axes(block)
            tiles = tuple((a, 16 if a in matrix else least) for a in tile_axes(block))
            split = any(isinstance(p, Split) for _, p in block.places)
            found.append(Config(tiles, self.parts if split else 1))
        return tuple(found)

    def text(self, descriptors: bool = False) -> str:
        rows = [
            Row(f"case{i}", i, self.configs(g), tuple(self.sizes[0].items()))
            for i, g in enumerate(self.graphs)
        ]
        header = Header("the spec", "the derivation")
        return emit(self.program, self.graphs, rows, header, descriptors)


def whole(program: Program, grid: tuple[str, ...] = ()) -> KernelGraph:
    """The simplest mapping: one kernel, every axis entirely in the tile but those of ``grid``."""
    axes = dict.fromkeys(a for p in program.params if isinstance(p, Input) for a in p.order)
    places = tuple((a, Grid() if a in grid else Whole()) for a in axes)
    block = BlockGraph(places, (), program.outputs, tuple(Turn(a) for a in grid))
    names = tuple(o.name for o in program.outputs)
    return KernelGraph(program.name, program.params, names, (block,))
