"""Graphs with lists of the best: in a walk, in parts, whole; beside sums, and with many ties."""

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
from tests import samples as s
from tests.emit.printed import Printed

X, WHOLE = Input("x", ("m", "n")), Input("i", ("m", "n"), "int32")
COUNT = 5
SIZES = tuple({"m": m, "n": n, "t": COUNT} for m, n in ((5, 37), (4, 16), (1, 1), (3, 0)))


def lists(value: Node, into: str = "t") -> tuple[Node, Node]:
    """The values and the places of the best along n."""
    pair = (value, Index("n"))
    return Best("n", into, "n", pair), Best("n", into, "n", pair, at=True)


def listing(name: str, value: Node) -> Program:
    """The best of a value, where they are, and how much of all powers they are."""
    values, places = lists(value)
    peak = s.largest("n", value)
    centre = s.where(s.eq(peak, s.NEG_INF), s.num(0), peak)
    share = s.div(
        s.total("t", s.exp(s.sub(values, centre))), s.total("n", s.exp(s.sub(value, centre)))
    )
    stores = (
        Store("values", ("m", "t"), "fp32", values),
        Store("places", ("m", "t"), "int32", places),
        Store("share", ("m",), "fp32", share),
    )
    params = (X,) if value is X else (WHOLE,)
    return Program(name, params, stores, (("t", COUNT),))


def graph(program: Program, place: Place, axes: tuple[str, ...], tiled: bool) -> KernelGraph:
    """One kernel with the fewest walks, repaired; ``axes``: in tile order."""
    home = {"m": Grid(tiled), "n": place, "t": Whole()}
    places = tuple((a, home[a]) for a in axes)
    (passes, *_) = groupings(program.outputs, [] if place == Whole() else ["n"])
    block, _ = repair(fuse(program.outputs, places, (Turn("m"),), passes))
    ready = block if place == Split() else cleared(block, ["n"])
    outputs = tuple(o.name for o in program.outputs)
    return KernelGraph(program.name, program.params, outputs, (ready,), program.fixed)


def graphs(program: Program) -> tuple[KernelGraph, ...]:
    """Every place of the axis, rows in tiles and alone, ranks behind and before other axes."""
    straight = ("m", "n", "t")
    return (
        *(graph(program, p, straight, True) for p in (Loop(), Split(), Whole())),
        *(graph(program, p, straight, False) for p in (Loop(), Whole())),
        *(graph(program, p, ("t", "n", "m"), True) for p in (Split(), Whole())),
    )


def listing_case() -> Printed:
    program = listing("listing", X)
    return Printed(program, graphs(program), SIZES)


def ties_case() -> Printed:
    """Whole numbers as reals: of equal ones the lowest position comes first."""
    program = listing("ties", s.div(WHOLE, s.num(1)))
    return Printed(program, graphs(program), SIZES)
