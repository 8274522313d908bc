from __future__ import annotations

from superopt.emit.module import print_graph
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn

X = Input("x", ("m",))
LN2 = Named(Constant.LN2)


def test_a_named_constant_stands_on_the_right_of_a_product_or_sum() -> None:
    for fn, sign in ((Fn.MUL, "*"), (Fn.ADD, "+")):
        for args in ((LN2, X), (X, LN2)):
            store = Store("out", ("m",), None, Map(fn, args))
            block = BlockGraph((("m", Grid()),), (), (store,), (Turn("m"),))
            (kernel,) = print_graph(KernelGraph("one", (X,), ("out",), (block,)))
            assert f"{sign} LN2" in kernel.text
            assert f"LN2 {sign}" not in kernel.text
