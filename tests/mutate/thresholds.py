"""A kernel that compares data, as no shipped spec does."""

from __future__ import annotations

from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from tests import samples as s
from tests.emit.printed import Printed


def thresholds_case() -> Printed:
    """The sum of squares of what is less than another value, and of products of what is at most a
    limit."""
    x, y, limit = Input("x", ("m", "n")), Input("y", ("m", "n")), Input("limit", ("m",))
    less = s.where(Map(Fn.LT, (x, y)), s.mul(x, x), s.num(0))
    kept = s.where(Map(Fn.LE, (x, limit)), s.mul(x, y), s.num(0))
    carries = (Carry("less_", ("m",), Fn.ADD, less), Carry("kept_", ("m",), Fn.ADD, kept))
    meant = (("less", less), ("kept", kept))
    program = Program(
        "thresholds",
        (x, y, limit),
        tuple(Store(name, ("m",), "fp32", s.total("n", term)) for name, term in meant),
    )
    stores = tuple(
        Store(name, ("m",), "fp32", c.state) for (name, _), c in zip(meant, carries, strict=True)
    )
    places = (("m", Grid()), ("n", Loop()))
    block = BlockGraph(places, (Walk("n", carries),), stores, (Turn("m"),))
    graph = KernelGraph("thresholds", program.params, ("less", "kept"), (block,))
    return Printed(program, (graph,), ({"m": 5, "n": 37}, {"m": 3, "n": 8}))
