"""Attention of heads in groups, causal or with a bias per head: with and without packed axes."""

from __future__ import annotations

from superopt.repair.apply import repair
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.masks import cleared
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Size
from superopt.ugraph.ranges import narrow
from superopt.ugraph.scalar import Fn
from tests import samples as s

AXES = ("b", "g", "r", "m", "d", "n", "e")


def grouped(causal: bool = True, bias: bool = False, window: int = 0) -> Program:
    """Heads ``r`` of a group ``g`` share keys; queries are the last positions of the sequence.

    ``window``: how many keys each query sees at most (0: any number).
    """
    q = Input("q", ("b", "g", "r", "m", "d"))
    k, v = Input("k", ("b", "g", "n", "d")), Input("v", ("b", "g", "n", "e"))
    slope, shift = Input("slope", ("g", "r"), "fp32"), Input("shift", ("m", "b"), "fp32")
    score = s.mul(s.total("d", s.mul(q, k)), s.rsqrt(Size("d")))
    if bias:
        score = s.add(s.add(score, s.mul(slope, s.sub(Index("n"), Index("m")))), shift)
    here = s.add(Index("m"), s.sub(Size("n"), Size("m")))
    if causal:
        score = s.where(Map(Fn.LE, (Index("n"), here)), score, s.NEG_INF)
    if window:
        near = Map(Fn.LT, (s.sub(here, s.num(window)), Index("n")))
        score = s.where(near, score, s.NEG_INF)
    top = s.largest("n", score)
    e = s.exp(s.sub(score, s.finite(top)))
    over = s.total("n", e)
    out = s.div(s.total("n", s.mul(e, v)), s.positive(over))
    outputs = (
        Store("out", ("b", "g", "r", "m", "e"), None, out),
        Store("total", ("b", "g", "m", "r"), "fp32", over),
    )
    return Program("grouped", (q, k, v, *((slope, shift) if bias else ())), outputs)


def mapped(program: Program, split: bool = False, **places: Place) -> KernelGraph:
    """One walk of ``n``; ``places`` of single axes, else one program a position and tiles of m."""
    usual: dict[str, Place] = {
        "b": Grid(tiled=False),
        "g": Grid(tiled=False),
        "r": Grid(tiled=False),
        "m": Grid(),
        "d": Whole(),
        "n": Split() if split else Loop(),
        "e": Whole(),
    }
    chosen = tuple((a, (usual | places)[a]) for a in AXES)
    order = tuple(Turn(a) for a, p in chosen if isinstance(p, Grid))
    passes = groupings(program.outputs, ["n"])[0]
    block, _ = repair(fuse(program.outputs, chosen, order, passes))
    names = tuple(o.name for o in program.outputs)
    return KernelGraph(program.name, program.params, names, (cleared(narrow(block)),))


def packed(program: Program, split: bool = False) -> KernelGraph:
    """Heads of a group packed into tiles of queries."""
    return mapped(program, split, r=Pack("m"))
