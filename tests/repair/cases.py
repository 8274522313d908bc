"""Premature folds to repair: values over ``x, y: m n``, ``w: n e``, ``u: n``, walked along n."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from superopt.repair.apply import repair
from superopt.repair.record import Repair
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.evaluate import evaluate_kernels
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.split import launches
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import div
from tests.samples import eq
from tests.samples import exp
from tests.samples import finite
from tests.samples import largest
from tests.samples import mul
from tests.samples import num
from tests.samples import positive
from tests.samples import rsqrt
from tests.samples import softmax
from tests.samples import sub
from tests.samples import total
from tests.samples import where

X, Y = Input("x", ("m", "n")), Input("y", ("m", "n"))
W, U = Input("w", ("n", "e")), Input("u", ("n",))
PARAMS = (X, Y, W, U)
N = Size("n")
EPS = num(Fraction(1, 100000))


def square(a: Node) -> Node:
    return mul(a, a)


def absolute(a: Node) -> Node:
    return Map(Fn.ABS, (a,))


def mapped(fn: Fn, *args: Node) -> Node:
    return Map(fn, args)


TOP = largest("n", X)
E = exp(sub(X, finite(TOP)))
L = total("n", E)
BARE = exp(sub(X, TOP))  # as a user writes it who thinks of no empty row
MASK = Map(Fn.LE, (Index("n"), Index("m")))
MASKED = where(MASK, X, NEG_INF)
AMAX = largest("n", absolute(X))
RMS = rsqrt(add(div(total("n", square(X)), N), EPS))
MEAN = div(total("n", X), N)
CENTRED = sub(X, MEAN)
VARIANCE = div(total("n", square(CENTRED)), N)
NORMED = mul(CENTRED, rsqrt(add(VARIANCE, EPS)))
DECAY = mul(num(-1), absolute(X))
LEFT = sub(total("n", DECAY), Scan(Fn.ADD, "n", DECAY))  # what is still to come after a position
STABLE = add(Y, LEFT)
BOTH = div(total("n", total("m", X)), mul(N, Size("m")))


@dataclass(frozen=True)
class Case:
    """``value`` over ``axes``; ``ranks`` of its repairs. ``wild``: inputs may be hostile."""

    name: str
    axes: tuple[str, ...]
    value: Node
    ranks: tuple[int, ...]
    tolerance: float = 1e-9


def scaled_exp2() -> Node:
    s = mul(X, num(Fraction(3, 2)))
    m = largest("n", s)
    return total("n", mul(mapped(Fn.EXP2, sub(s, finite(m))), W))


def scale_outside() -> Node:
    """A scale taken out of the maximum, as rewriting may: the guard is about a product."""
    scale = rsqrt(Size("e"))
    m = mul(scale, largest("n", MASKED))
    return total("n", mul(exp(sub(mul(scale, MASKED), finite(m))), W))


REPAIRED = (
    Case("logsumexp", ("m",), add(finite(TOP), mapped(Fn.LOG, L)), (1,)),
    Case("softmax of a masked row", ("m", "e"), total("n", mul(softmax(MASKED, "n"), W)), (1, 1)),
    Case("normalised inside", ("m", "e"), total("n", mul(softmax(X, "n"), W)), (1, 1)),
    Case("no guards", ("m", "e"), total("n", mul(div(BARE, total("n", BARE)), W)), (1, 1)),
    Case("masked after exp", ("m",), total("n", where(MASK, E, num(0))), (1,)),
    Case("guard around", ("m",), total("n", where(eq(TOP, NEG_INF), num(0), BARE)), (1,)),
    Case("base 2", ("m", "e"), scaled_exp2(), (1,)),
    Case("scaled maximum", ("m", "e"), scale_outside(), (1,)),
    Case("minimum", ("m",), total("n", exp(sub(Reduce(Fn.MIN, "n", X), X))), (1,)),
    Case("fold inside", ("m",), total("n", total("e", mul(E, W))), (1,)),
    Case("l2 norm", ("m",), total("n", square(div(X, positive(AMAX)))), (1,)),
    Case("l2 norm, no guard", ("m",), total("n", square(div(X, AMAX))), (1,)),
    Case("l2 norm, eps", ("m",), total("n", square(div(X, mapped(Fn.MAX, AMAX, EPS)))), (1,)),
    Case("amax scale", ("m", "e"), total("n", mul(div(X, positive(AMAX)), W)), (1,)),
    Case("rms", ("m", "e"), total("n", mul(mul(mul(X, RMS), U), W)), (1,)),
    Case("rms, no eps", ("m",), total("n", mul(mul(X, rsqrt(total("n", square(X)))), U)), (1,)),
    Case("amax of rms", ("m",), largest("n", absolute(mul(X, RMS))), (1,)),
    Case("relu of rms", ("m",), total("n", mapped(Fn.MAX, mul(X, RMS), num(0))), (1,)),
    Case("max minus sum", ("m",), largest("n", sub(Y, total("n", X))), (1,)),
    Case("max minus max", ("m",), largest("n", sub(Y, TOP)), (1,)),
    Case("max of abs of a difference", ("m",), largest("n", absolute(CENTRED)), (2,)),
    Case("amax of a layer norm", ("m",), largest("n", absolute(NORMED)), (3, 2), 1e-7),
    Case("max of a tanh", ("m",), largest("n", mapped(Fn.TANH, sub(X, MEAN))), (1,)),
    Case("min of a difference", ("m",), Reduce(Fn.MIN, "n", mul(sub(MEAN, X), RMS)), (1,)),
    Case("variance over two axes", (), total("n", total("m", square(sub(X, BOTH)))), (3,)),
    Case("deferred mean", ("m",), total("n", mul(MEAN, Y)), (1,)),
    Case("variance", ("m",), VARIANCE, (3,)),
    Case("third moment", ("m",), total("n", mul(square(CENTRED), CENTRED)), (4,), 1e-7),
    Case(
        "layer norm, matmul",
        ("m", "e"),
        total("n", mul(NORMED, W)),
        (3, 2),
        1e-7,
    ),
    Case("entropy", ("m",), div(total("n", mul(sub(X, finite(TOP)), E)), L), (2, 1)),
    Case("decay", ("m", "e"), total("n", mul(exp(LEFT), W)), (1,)),
    Case("decay, distance", ("m", "e"), total("n", mul(mul(LEFT, exp(LEFT)), W)), (2,)),
    Case(
        "decay, stabilised",
        ("m", "e"),
        total("n", mul(exp(sub(STABLE, largest("n", STABLE))), W)),
        (1, 1),
    ),
    Case("features plus eps", ("m", "e"), total("n", mul(add(E, EPS), W)), (2,)),
)

REFUSED = (
    ("softmax of a softmax", total("n", mul(softmax(softmax(X, "n"), "n"), W)), "no finite rank"),
    ("tanh of a quotient", total("n", mapped(Fn.TANH, div(X, positive(AMAX)))), "tanh"),
    ("sigmoid of a difference", total("n", mapped(Fn.SIGMOID, sub(X, TOP))), "sigmoid"),
    ("max of abs of a weighted difference", largest("n", absolute(mul(CENTRED, U))), "abs"),
    ("min of abs of a difference", Reduce(Fn.MIN, "n", absolute(CENTRED)), "abs"),
    ("exponential of a product", total("n", exp(mul(X, MEAN))), "exp"),
    ("choice by a moving value", total("n", where(mapped(Fn.LT, X, MEAN), X, Y)), "condition"),
    ("exponential that cannot be deferred", total("n", mul(MEAN, exp(X))), "overflow"),
    ("product fold", Reduce(Fn.MUL, "n", sub(X, TOP)), "fold by mul"),
)

BY_NAME = {c.name: c for c in REPAIRED}


def fused(axes: tuple[str, ...], value: Node, split: bool = False) -> BlockGraph:
    """The naive fusion into one walk."""
    stores = (Store("out", axes, None, value),)
    (passes, *_) = groupings(stores, ("n",))
    assert len(passes) == 1
    inner = tuple(a for a in ("m", "e") if a not in axes)
    places: tuple[tuple[str, Place], ...] = (
        *((a, Grid(tiled=a == "m")) for a in axes),
        *((a, Whole()) for a in inner),
        ("n", Split() if split else Loop()),
    )
    return fuse(stores, places, tuple(Turn(a) for a in axes), passes)


def repaired(case: Case, split: bool = False) -> tuple[BlockGraph, tuple[Repair, ...]]:
    return repair(fused(case.axes, case.value, split))


def spec(case: Case) -> Program:
    return Program("case", PARAMS, (Store("out", case.axes, None, case.value),))


def arrays(n: int, kind: str, seed: int) -> dict[str, np.ndarray]:
    """Inputs at three rows; ``kind`` says what the first tiles hold."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(3, n))
    if kind == "large":
        x *= 300
    elif kind == "late":
        x[:, -1:] += 1000
    elif kind == "zero":
        x[:, :4] = 0
    elif kind == "falling":
        x = -np.sort(-x, axis=1)
    return {
        "x": x,
        "y": rng.normal(size=(3, n)),
        "w": rng.normal(size=(n, 2)),
        "u": rng.normal(size=n),
    }


def run(
    case: Case, block: BlockGraph, given: Mapping[str, np.ndarray], n: int, dtype: type
) -> tuple[np.ndarray, np.ndarray]:
    """What the spec says (float64) and what the block computes (``dtype``)."""
    sizes = {"m": 3, "n": n, "e": 2}
    program = spec(case)
    want = evaluate_program(program, FloatDomain(np.float64), given, sizes)["out"]
    graph = KernelGraph("case", PARAMS, ("out",), (block,))
    config = Config((("m", 2), ("n", 3), ("e", 1)), parts=4)
    typed = {k: v.astype(dtype) for k, v in given.items()}
    configs = tuple(config for _ in launches(graph))
    got = evaluate_kernels(graph, FloatDomain(dtype), typed, sizes, configs)["out"]
    return want, got
