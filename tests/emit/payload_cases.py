"""Graphs with lists and what goes with them: of one rank and of several, shared and row by row."""

from __future__ import annotations

from superopt.repair.apply import repair
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.masks import cleared
from superopt.ugraph.node import Best
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.payload import with_payloads
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import topo
from tests import samples as s
from tests.emit.printed import Printed

X, Y = Input("x", ("m", "n")), Input("y", ("m", "n"))
ROW, TABLE, CUBE = Input("w", ("n",)), Input("v", ("n", "e")), Input("u", ("m", "n", "e"))
LABEL = Input("label", ("n",), "int32")


def at(value: Node, place: Node) -> Node:
    """``value`` at a place on n, as ``gather`` writes it."""
    return s.total("n", s.where(s.eq(Index("n"), place), value, s.num(0)))


def places(value: Node) -> Node:
    """Where the best along n are."""
    return Best("n", "t", "n", (value, Index("n")), at=True)


def program(name: str, ranks: int, scores: Node, *values: Node) -> Program:
    """What goes with the best ``scores``; of one rank, as ``argmax`` has it."""
    where = places(scores)
    if ranks == 1:
        where = Reduce(Fn.MAX, "t", where)
    read = [at(v, where) for v in values]
    stores = tuple(
        Store(f"out{i}", r.axes, "int32" if r.kind is Kind.INT else "fp32", r)
        for i, r in enumerate(read)
    )
    params = tuple(n for n in topo([scores, *values]) if isinstance(n, Input))
    return Program(name, params, stores, (("t", ranks),))


def graph(spec: Program, place: Place, axes: tuple[str, ...], tiled: bool = True) -> KernelGraph:
    """One kernel of ``spec`` by payloads, with the fewest walks; ``axes``: in tile order."""
    made = with_payloads(spec)
    home = {"m": Grid(tiled), "e": Grid(), "n": place, "t": Whole()}
    placed = tuple((a, home[a]) for a in axes)
    (passes, *_) = groupings(made.outputs, [] if place == Whole() else ["n"])
    turns = tuple(Turn(a) for a, p in placed if isinstance(p, Grid))
    block, _ = repair(fuse(made.outputs, placed, turns, passes))
    ready = block if place == Split() else cleared(block, ["n"])
    outputs = tuple(o.name for o in spec.outputs)
    return KernelGraph(spec.name, spec.params, outputs, (ready,), spec.fixed)


def graphs(spec: Program, *axes: str) -> tuple[KernelGraph, ...]:
    """Every place of the walked axis, rows in tiles and alone, dimensions in two orders."""
    return (
        *(graph(spec, p, axes) for p in (Loop(), Split())),
        *(graph(spec, p, axes[::-1], False) for p in (Split(), Whole())),
    )


def taking_case() -> Printed:
    """Several payloads of a list of several ranks, with rows of their own and without."""
    made = program("taking", 5, X, Y, ROW, LABEL)
    sizes = tuple({"m": m, "n": n, "t": 5} for m, n in ((3, 18), (2, 0)))
    return Printed(made, graphs(made, "m", "n", "t"), sizes)


def leading_case() -> Printed:
    """Rows of a table that all rows share, and of their own, at the first of the largest."""
    made = program("leading", 1, X, TABLE, CUBE)
    sizes = tuple({"m": m, "n": n, "e": 5, "t": 1} for m, n in ((3, 18), (1, 1)))
    return Printed(made, graphs(made, "m", "n", "e", "t"), sizes)
