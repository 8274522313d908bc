"""Walks with clear tiles and limits from memory, at tiles and sizes of every kind of emptiness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace

from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.masks import cleared
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.ranges import narrow
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from tests import samples as s
from tests.emit.cases import Printed
from tests.emit.printed import Sizes

M, N = Index("m"), Index("n")
X = Input("x", ("b", "m", "n"))
WIDTH = Scalar("width", "int32")
LENGTH, FIRST = Input("length", ("b",), "int64"), Input("first", ("b", "m"), "int32")


def lt(a: Node, b: Node) -> Node:
    return Map(Fn.LT, (a, b))


def le(a: Node, b: Node) -> Node:
    return Map(Fn.LE, (a, b))


def both(a: Node, b: Node) -> Node:
    return Map(Fn.AND, (a, b))


CAUSAL = le(N, M)
MASKS: dict[str, Node] = {
    "causal": CAUSAL,
    "late": le(M, N),
    "last": le(N, s.add(M, s.sub(Size("n"), Size("m")))),
    "window": both(CAUSAL, lt(s.sub(M, N), WIDTH)),
    "around": lt(Map(Fn.ABS, (s.sub(M, N),)), s.num(17)),
    "either": both(CAUSAL, Map(Fn.OR, (lt(N, s.num(2)), lt(s.sub(M, N), WIDTH)))),
    "length": lt(N, LENGTH),
    "document": both(le(FIRST, N), CAUSAL),
    "shifted": both(lt(N, s.add(M, FIRST)), le(s.sub(LENGTH, WIDTH), N)),
}


@dataclass(frozen=True)
class Tiled(Printed):
    """The same graph at several tiles (m, n)."""

    tiles: tuple[tuple[int, int], ...] = ((8, 2), (4, 8))

    def tiled(self, graph: KernelGraph) -> tuple[tuple[Config, ...], ...]:
        """The launches of ``graph`` at every choice of tiles."""
        found = []
        for m, n in self.tiles:
            tile = {"m": m, "n": n, "d": 16, "e": 16, "n.part": 4}
            found.append(
                tuple(
                    replace(c, tiles=tuple((a, tile[a]) for a, _ in c.tiles))
                    for c in self.configs(graph)
                )
            )
        return tuple(found)


def sums(mask: Node) -> Tiled:
    """A sum and a maximum of what ``mask`` leaves; looped, from the end, split, and stored."""
    kept = s.where(mask, X, s.num(0))
    seen = s.where(mask, X, s.NEG_INF)
    outputs = (
        Store("sums", ("b", "m"), "fp32", s.total("n", kept)),
        Store("tops", ("b", "m"), "fp32", s.largest("n", seen)),
    )
    rows = ("b", "m")
    carries = (Carry("c0", rows, Fn.ADD, kept), Carry("c1", rows, Fn.MAX, seen))
    stores = tuple(
        replace(o, value=State(c.name, rows)) for o, c in zip(outputs, carries, strict=True)
    )
    read = [p for p in (WIDTH, LENGTH, FIRST) if p in topo([mask])]
    program = Program("masked", (X, *read), outputs)
    graphs = []
    for place, reverse in ((Loop(), False), (Loop(), True), (Split(), False)):
        places = (("b", Grid(tiled=False)), ("m", Grid()), ("n", place))
        walk = Walk("n", carries, reverse=reverse)
        block = BlockGraph(places, (walk,), stores, (Turn("b"), Turn("m")))
        block = cleared(narrow(block))
        assert block.walks[0].clear is not None
        graphs.append(KernelGraph("masked", program.params, ("sums", "tops"), (block,)))
    sizes: tuple[Sizes, ...] = tuple(
        {"b": 1, "m": m, "n": n}
        for m, n in ((21, 21), (17, 9), (9, 19), (1, 9), (3, 1), (2, 0), (8, 8))
    )
    scalars: dict[str, float] = {"width": 7} if WIDTH in read else {}
    return Tiled(program, tuple(graphs), sizes, scalars)


def stored() -> Tiled:
    """A walk that stores masks, too, and keeps its whole range."""
    value = s.where(CAUSAL, s.mul(X, s.num(2)), s.num(0))
    program = Program("stored", (X,), (Store("y", ("b", "m", "n"), None, value),))
    places = (("b", Grid(tiled=False)), ("m", Grid()), ("n", Loop()))
    block = BlockGraph(places, (Walk("n", (), program.outputs),), (), (Turn("b"), Turn("m")))
    graph = KernelGraph("stored", (X,), ("y",), (cleared(narrow(block)),))
    return Tiled(program, (graph,), ({"b": 1, "m": 19, "n": 24}, {"b": 2, "m": 5, "n": 7}))


def ragged() -> Tiled:
    """Nothing but the end of the axis is masked."""
    plain = (s.online_attention(), s.online_attention(split=True))
    graphs = [
        replace(g, kernels=tuple(cleared(k, ragged=("n",)) for k in g.kernels)) for g in plain
    ]
    sizes = tuple({"b": 1, "h": 1, "m": 5, "n": n, "d": 5, "e": 16} for n in (37, 0, 7, 32))
    return Tiled(s.attention(), tuple(graphs), sizes, {}, 2, ((16, 16), (16, 32)))


def attention() -> Tiled:
    """Repaired carries and matrix products through all loops, tiles of m and n apart."""
    graphs = [s.online_attention(causal=True), s.online_attention(causal=True, split=True)]
    graphs = [replace(g, kernels=tuple(map(cleared, g.kernels))) for g in graphs]
    sizes = tuple(
        {"b": 1, "h": 1, "m": m, "n": n, "d": 5, "e": 16} for m, n in ((50, 50), (20, 70), (64, 64))
    )
    program = s.attention(causal=True)
    return Tiled(program, tuple(graphs), sizes, {}, 2, ((16, 16), (32, 16), (16, 32)))


SEGMENTS: dict[str, Callable[[], Tiled]] = {
    **{name: lambda mask=mask: sums(mask) for name, mask in MASKS.items()},  # type: ignore[misc]
    "stored": stored,
    "attention": attention,
    "ragged": ragged,
}
COMPILED = ("late", "document", "attention", "ragged")  # each with another kind of loops
