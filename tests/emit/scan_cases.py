"""Graphs with prefixes: every fold of a scan, in tiles that go on from one another; a decay."""

from __future__ import annotations

from fractions import Fraction

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
from superopt.ugraph.node import Input
from superopt.ugraph.node import Scan
from superopt.ugraph.scalar import Fn
from tests import samples as s
from tests.emit.printed import Printed

X, COUNTS = Input("x", ("m", "n")), Input("i", ("m", "n"), "int32")
W, G = Input("w", ("n", "e")), Input("g", ("m", "n"), "fp32")
SIZES = ({"m": 5, "n": 37, "e": 3}, {"m": 4, "n": 16, "e": 2}, {"m": 1, "n": 1, "e": 1})


def _graph(program: Program, place: Place) -> KernelGraph:
    """One kernel with the fewest walks, repaired."""
    axes = dict.fromkeys(a for p in program.params if isinstance(p, Input) for a in p.order)
    places = tuple((a, place if a == "n" else Grid(tiled=a == "m")) for a in axes)
    (passes, *_) = groupings(program.outputs, [] if place == Whole() else ["n"])
    order = tuple(Turn(a) for a in axes if a != "n")
    block, _ = repair(fuse(program.outputs, places, order, passes))
    outputs = tuple(o.name for o in program.outputs)
    return KernelGraph(program.name, program.params, outputs, (cleared(block, ["n"]),))


def scans_case() -> Printed:
    """All folds, of reals and of integers, and prefixes of prefixes."""
    folds = {"sums": Fn.ADD, "products": Fn.MUL, "tops": Fn.MAX, "lows": Fn.MIN}
    values = {name: Scan(fn, "n", X) for name, fn in folds.items()}
    values["twice"] = Scan(Fn.MAX, "n", s.sub(values["sums"], X))
    stores = [Store(name, ("m", "n"), "fp32", v) for name, v in values.items()]
    for name, fn in {"count": Fn.ADD, "most": Fn.MAX}.items():
        stores.append(Store(name, ("m", "n"), "int64", Scan(fn, "n", COUNTS)))
    stores.append(Store("last", ("m",), "fp32", s.total("n", s.mul(values["sums"], X))))
    stores.append(Store("total", ("m",), "fp32", s.total("n", X)))
    program = Program("scans", (X, COUNTS), tuple(stores))
    sizes = tuple({a: n for a, n in size.items() if a != "e"} for size in SIZES)
    return Printed(program, tuple(_graph(program, p) for p in (Loop(), Whole())), sizes)


def decay_case() -> Printed:
    """What later positions still take away: in one walk, in parts, and whole."""
    decay = s.mul(s.num(Fraction(-1, 8)), s.mul(G, G))
    weight = s.exp(s.sub(s.total("n", decay), Scan(Fn.ADD, "n", decay)))
    value = s.total("n", s.mul(weight, W))
    program = Program("decay", (G, W), (Store("out", ("m", "e"), "fp32", value),))
    graphs = tuple(_graph(program, place) for place in (Loop(), Split(), Whole()))
    return Printed(program, graphs, SIZES)
