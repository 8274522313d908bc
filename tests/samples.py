"""Programs and block graphs built by hand from nodes, for tests of single stages."""

from __future__ import annotations

from fractions import Fraction

from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn


def num(value: int | Fraction) -> Const:
    return Const(Fraction(value))


NEG_INF = Const(-INF)


def add(a: Node, b: Node) -> Node:
    return Map(Fn.ADD, (a, b))


def sub(a: Node, b: Node) -> Node:
    return Map(Fn.SUB, (a, b))


def mul(a: Node, b: Node) -> Node:
    return Map(Fn.MUL, (a, b))


def div(a: Node, b: Node) -> Node:
    return Map(Fn.DIV, (a, b))


def exp(a: Node) -> Node:
    return Map(Fn.EXP, (a,))


def rsqrt(a: Node) -> Node:
    return Map(Fn.RSQRT, (a,))


def eq(a: Node, b: Node) -> Node:
    return Map(Fn.EQ, (a, b))


def where(c: Node, a: Node, b: Node) -> Node:
    return Map(Fn.WHERE, (c, a, b))


def total(axis: str, a: Node) -> Node:
    return Reduce(Fn.ADD, axis, a)


def largest(axis: str, a: Node) -> Node:
    return Reduce(Fn.MAX, axis, a)


def finite(m: Node) -> Node:
    """The guard of an empty maximum: 0 stands in for -inf."""
    return where(eq(m, NEG_INF), num(0), m)


def positive(t: Node) -> Node:
    """The guard of an empty denominator: 1 stands in for 0."""
    return where(eq(t, num(0)), num(1), t)


def softmax(s: Node, axis: str) -> Node:
    e = exp(sub(s, finite(largest(axis, s))))
    return div(e, positive(total(axis, e)))


Q = Input("q", ("b", "h", "m", "d"))
K = Input("k", ("b", "h", "n", "d"))
V = Input("v", ("b", "h", "n", "e"))


def scores(causal: bool = False) -> Node:
    s = mul(total("d", mul(Q, K)), rsqrt(Size("d")))
    return where(Map(Fn.LE, (Index("n"), Index("m"))), s, NEG_INF) if causal else s


def attention(causal: bool = False) -> Program:
    """As a user writes it: the division stands inside the fold."""
    out = total("n", mul(softmax(scores(causal), "n"), V))
    return Program("attention", (Q, K, V), (Store("out", ("b", "h", "m", "e"), None, out),))


def attention_delayed(causal: bool = False) -> Program:
    """The form that rewriting should find: one division, after the fold."""
    s = scores(causal)
    e = exp(sub(s, finite(largest("n", s))))
    out = div(total("n", mul(e, V)), positive(total("n", e)))
    return Program("attention", (Q, K, V), (Store("out", ("b", "h", "m", "e"), None, out),))


def row_softmax() -> Program:
    x = Input("x", ("m", "n"))
    return Program("softmax", (x,), (Store("out", ("m", "n"), None, softmax(x, "n")),))


X = Input("x", ("m", "k"))
G = Input("g", ("k",))
W = Input("w", ("k", "n"))


def rms_scale() -> Node:
    mean = div(total("k", mul(X, X)), Size("k"))
    return rsqrt(add(mean, num(Fraction(1, 100000))))


def rms_linear() -> Program:
    """As a user writes it: the normalised row enters the matmul."""
    out = total("k", mul(mul(mul(X, rms_scale()), G), W))
    return Program("rms_linear", (X, G, W), (Store("out", ("m", "n"), None, out),))


def lora() -> Program:
    a = Input("a", ("k", "r"))
    b = Input("b", ("r", "n"))
    low = total("r", mul(total("k", mul(X, a)), b))
    out = add(total("k", mul(X, W)), low)
    return Program("lora", (X, W, a, b), (Store("out", ("m", "n"), None, out),))


def online_attention(causal: bool = False, split: bool = False) -> KernelGraph:
    """What fusion and repair should arrive at: one walk of n with a repaired carry."""
    s = scores(causal)
    rows = ("b", "h", "m")
    m_new, m_old = State("m", rows), State("m", rows, old=True)
    # At the unit of the producer the state is at its own unit: the identity keeps it there.
    factor = where(eq(m_old, NEG_INF), num(1), exp(sub(m_old, finite(m_new))))
    e = exp(sub(s, finite(m_new)))
    carries = (
        Carry("m", rows, Fn.MAX, s),
        Carry("l", rows, Fn.ADD, e, (Move("l", factor),)),
        Carry("o", (*rows, "e"), Fn.ADD, mul(e, V), (Move("o", factor),)),
    )
    stop = (Bound((("m", 1),), num(1)),) if causal else ()
    value = div(State("o", (*rows, "e")), positive(State("l", rows)))
    places: tuple[tuple[str, Place], ...] = (
        ("b", Grid(tiled=False)),
        ("h", Grid(tiled=False)),
        ("m", Grid()),
        ("d", Whole()),
        ("n", Split() if split else Loop()),
        ("e", Whole()),
    )
    block = BlockGraph(
        places,
        (Walk("n", carries, (), (), stop),),
        (Store("out", ("b", "h", "m", "e"), None, value),),
        (Turn("b"), Turn("h"), Turn("m")),
    )
    return KernelGraph("attention", (Q, K, V), ("out",), (block,))


def two_pass_softmax() -> KernelGraph:
    """Statistics in a first walk, the stores in a second one."""
    x = Input("x", ("m", "n"))
    m_new, m_old = State("m", ("m",)), State("m", ("m",), old=True)
    factor = where(eq(m_old, NEG_INF), num(1), exp(sub(m_old, finite(m_new))))
    e = exp(sub(x, finite(m_new)))
    first = Walk(
        "n", (Carry("m", ("m",), Fn.MAX, x), Carry("l", ("m",), Fn.ADD, e, (Move("l", factor),)))
    )
    value = div(e, positive(State("l", ("m",))))
    second = Walk("n", (), (Store("out", ("m", "n"), None, value),))
    block = BlockGraph((("m", Grid()), ("n", Loop())), (first, second), (), (Turn("m"),))
    return KernelGraph("softmax", (x,), ("out",), (block,))


def rms_linear_one_walk(split: bool = False) -> KernelGraph:
    """Two independent carries in one walk of k; the scale stands in the epilogue."""
    carries = (
        Carry("ss", ("m",), Fn.ADD, mul(X, X)),
        Carry("acc", ("m", "n"), Fn.ADD, mul(mul(X, G), W)),
    )
    mean = div(State("ss", ("m",)), Size("k"))
    value = mul(State("acc", ("m", "n")), rsqrt(add(mean, num(Fraction(1, 100000)))))
    walked = Split() if split else Loop()
    places: tuple[tuple[str, Place], ...] = (("m", Grid()), ("k", walked), ("n", Grid()))
    block = BlockGraph(
        places,
        (Walk("k", carries),),
        (Store("out", ("m", "n"), None, value),),
        (Turn("m"), Turn("n")),
    )
    return KernelGraph("rms_linear", (X, G, W), ("out",), (block,))
