"""Graphs with recurrences: whose steps mix, that read another one, of numbers, beside folds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import ONE
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Scan
from superopt.ugraph.scalar import Fn
from tests import samples as s
from tests.emit.printed import Printed
from tests.emit.printed import Sizes

G, K, Q = Input("g", ("b", "n"), "fp32"), Input("k", ("b", "n", "d")), Input("q", ("n", "d", "b"))
V, W = Input("v", ("b", "n", "e")), Input("w", ("d", "e"))
PLACES: dict[str, Place] = {
    "b": Grid(tiled=False),
    "n": Loop(tiled=False),
    "d": Whole(),
    "e": Grid(),
}
SIZES = (
    {"b": 2, "n": 7, "d": 5, "e": 6},
    {"b": 1, "n": 1, "d": 4, "e": 4},
    {"b": 2, "n": 0, "d": 3, "e": 5},
)
LONG = {"b": 1, "n": 300, "d": 4, "e": 4}


def _printed(
    name: str, values: dict[str, Node], params: tuple[Input, ...], more: tuple[Sizes, ...] = ()
) -> Printed:
    stores = tuple(
        Store(out, tuple(a for a in "bnde" if a in v.axes), "fp32", v) for out, v in values.items()
    )
    program = Program(name, params, stores)
    axes = [a for a in PLACES if any(a in p.order for p in params)]
    order = tuple(Turn(a) for a in axes if isinstance(PLACES[a], Grid))
    graphs = []
    for passes in groupings(stores, ["n"])[:2]:
        block = fuse(stores, [(a, PLACES[a]) for a in axes], order, passes)
        graphs.append(KernelGraph(name, params, tuple(values), (block,)))
    sizes = tuple({a: n[a] for a in axes} for n in (*SIZES, *more))
    return Printed(program, tuple(graphs), sizes)


def delta_case() -> Printed:
    """A memory that corrects what it holds, read at every position and at the end."""
    small = s.mul(s.num(Fraction(1, 8)), K)
    kept = s.exp(s.mul(s.num(-1), s.mul(G, G)))
    out, into = s.mul(s.num(-1), small), s.mul(kept, K)
    states = Recur("n", (("d",),), (kept, s.mul(small, V), out, into), first=s.mul(W, W))
    values = {"read": s.total("d", s.mul(Q, states)), "end": replace(states, last=True)}
    return _printed("delta", values, (G, K, Q, V, W), (LONG,))


def steps_case() -> Printed:
    """Steps with and without each of their parts, one recurrence on another, folds beside them."""
    half = s.num(Fraction(1, 2))
    running = Recur("n", (), (half, s.mul(K, V)))
    read = s.total("d", s.mul(K, running))
    second = Recur("n", (), (s.mul(half, G), read), last=True)
    mixed = Recur("n", (("d", "e"), ("e",)), (ZERO, s.mul(K, W), half, half, G, s.mul(half, W)))
    dropped = Recur("n", (), (ZERO, s.mul(G, K)), last=True)
    kept = Recur("n", (), (ONE, s.add(s.mul(K, W), Index("n"))), first=W)
    values: dict[str, Node] = {
        "second": second,
        "mixed": replace(mixed, last=True),
        "total": s.total("n", s.mul(kept, V)),
        "prefix": Scan(Fn.ADD, "n", s.mul(read, V)),
        "largest": s.largest("n", s.add(kept, V)),
        "dropped": s.mul(dropped, W),
    }
    case = _printed("steps", values, (G, K, V, W))
    whole = {**PLACES, "e": Whole()}
    graphs = tuple(
        replace(
            g,
            kernels=tuple(
                replace(k, places=tuple((a, whole[a]) for a, _ in k.places), order=(Turn("b"),))
                for k in g.kernels
            ),
        )
        for g in case.graphs
    )
    return replace(case, graphs=graphs)


def numbers_case() -> Printed:
    """A state that is one number for each program."""
    decay, half = s.exp(s.mul(s.num(-1), s.mul(G, G))), s.num(Fraction(1, 2))
    states = Recur("n", (), (decay, G), first=half)
    values = {"states": states, "end": replace(states, last=True)}
    return _printed("numbers", values, (G,), (LONG,))
