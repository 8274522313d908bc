"""Distances between positions as factors, forwards and backwards, in a walk."""

from __future__ import annotations

from fractions import Fraction

from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from tests import samples as s

X = Input("x", ("m", "n"))
AHEAD = s.sub(Index("n"), Index("m"))
BACK = s.add(s.sub(Index("m"), Index("n")), s.sub(Size("n"), Size("m")))
TERMS = {"ahead": s.mul(AHEAD, X), "back": s.mul(s.mul(X, s.num(Fraction(1, 3))), BACK)}
PROGRAM = Program(
    "distances",
    (X,),
    tuple(Store(name, ("m",), "fp32", s.total("n", term)) for name, term in TERMS.items()),
)


def graph(place: Loop | Split) -> KernelGraph:
    """One walk of n with a sum for each direction."""
    carries = {name: Carry(f"{name}_sum", ("m",), Fn.ADD, term) for name, term in TERMS.items()}
    stores = tuple(Store(o.name, o.order, o.dtype, carries[o.name].state) for o in PROGRAM.outputs)
    walk = Walk("n", tuple(carries.values()))
    block = BlockGraph((("m", Grid()), ("n", place)), (walk,), stores, (Turn("m"),))
    return KernelGraph("distances", (X,), tuple(TERMS), (block,))
