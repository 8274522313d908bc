"""Graphs with axes that share a tile dimension, to be printed."""

from __future__ import annotations

from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from tests import grouped as g
from tests import samples as s
from tests.emit.printed import Printed


def packed_case() -> Printed:
    """Heads of a group in the tiles of queries: tiles begin and end within a query's heads."""
    program = g.grouped(bias=True)
    sizes = (
        {"b": 1, "g": 1, "r": 3, "m": 11, "n": 37, "d": 5, "e": 18},
        {"b": 1, "g": 1, "r": 4, "m": 8, "n": 32, "d": 16, "e": 16},
        {"b": 2, "g": 1, "r": 11, "m": 2, "n": 5, "d": 3, "e": 4},
        {"b": 1, "g": 2, "r": 0, "m": 3, "n": 2, "d": 3, "e": 4},
    )
    both = {"b": Pack("m"), "r": Pack("m")}  # two axes, though the keys differ along one
    return Printed(program, (g.packed(program, split=True), g.mapped(program, **both)), sizes)


def packed_window_case() -> Printed:
    """A window: walks of packed rows begin late and end early."""
    program = g.grouped(window=20)
    sizes = (
        {"b": 1, "g": 1, "r": 3, "m": 41, "n": 75, "d": 5, "e": 18},
        {"b": 1, "g": 1, "r": 16, "m": 2, "n": 64, "d": 4, "e": 4},
    )
    return Printed(program, (g.packed(program),), sizes)


def columns_case() -> Printed:
    """Columns of two axes in one dimension, and a store that has them the other way round."""
    x, w = Input("x", ("m", "k")), Input("w", ("k", "c", "n"))
    scale, shift = Input("scale", ("c",), "fp32"), Input("shift", ("n",), "fp32")
    total = s.total("k", s.mul(x, w))

    def stores(value: Node) -> tuple[Store, ...]:
        shifted = s.add(s.mul(value, scale), s.add(shift, Index("n")))
        return (
            Store("out", ("m", "c", "n"), None, shifted),
            Store("turned", ("n", "m", "c"), "fp32", value),
        )

    program = Program("columns", (x, w, scale, shift), stores(total))
    walk = Walk("k", (Carry("acc", ("m", "c", "n"), Fn.ADD, s.mul(x, w)),))
    places = (("m", Grid()), ("k", Loop()), ("c", Grid()), ("n", Pack("c")))
    order = (Turn("m"), Turn("c", reverse=True))
    block = BlockGraph(places, (walk,), stores(State("acc", ("m", "c", "n"))), order)
    graph = KernelGraph("columns", program.params, ("out", "turned"), (block,))
    sizes = (
        {"m": 19, "k": 37, "c": 3, "n": 11},
        {"m": 16, "k": 16, "c": 2, "n": 16},
        {"m": 1, "k": 5, "c": 5, "n": 1},
        {"m": 3, "k": 0, "c": 1, "n": 9},
    )
    return Printed(program, (graph,), sizes)
