"""Random terms for property tests: masked, guarded, divided, folded."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import reject
from hypothesis import strategies as st

from superopt.errors import IllTyped
from superopt.rewrite.rule import App
from superopt.rewrite.rule import Extent
from superopt.rewrite.rule import Fold
from superopt.rewrite.rule import Num
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import Rule
from superopt.rewrite.rule import Sym
from superopt.rewrite.rule import Var
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn

AXES = ("m", "n", "k")
LEAVES: tuple[Node, ...] = (
    Input("x", ("m", "n")),
    Input("y", ("n", "k")),
    Input("z", ("m",)),
    Input("u", ("n",)),
    Size("n"),
    Const(Fraction(2)),
    Const(Fraction(-1)),
    Const(Fraction(1)),
)
BINARY = (Fn.ADD, Fn.MUL, Fn.MUL, Fn.SUB, Fn.DIV, Fn.MAX, Fn.MIN)


def positive(t: Node) -> Node:
    return Map(Fn.WHERE, (Map(Fn.EQ, (t, Const(Fraction(0)))), Const(Fraction(1)), t))


@st.composite
def terms(draw: st.DrawFn, steps: int = 10) -> Node:
    """A term in which later nodes read earlier ones, so that they are shared."""
    pool: list[Node] = list(LEAVES)
    for _ in range(draw(st.integers(3, steps))):
        pick = st.sampled_from(pool[-6:] + pool[:4])
        kind = draw(st.sampled_from(["binary", "binary", "fold", "fold", "unary", "where"]))
        a = draw(pick)
        if kind == "binary":
            pool.append(Map(draw(st.sampled_from(BINARY)), (a, draw(pick))))
        elif kind == "fold" and a.axes:
            fn = draw(st.sampled_from([Fn.ADD, Fn.ADD, Fn.MAX, Fn.MIN]))
            pool.append(Reduce(fn, draw(st.sampled_from(a.axes)), a))
        elif kind == "unary":
            fn = draw(st.sampled_from([Fn.EXP, Fn.ABS, Fn.SQRT, Fn.RSQRT, Fn.LOG, Fn.TANH]))
            pool.append(Map(fn, (a,)))
        elif kind == "where":
            mask = Map(Fn.LE, (Index("n"), Index("m")))
            other = draw(st.sampled_from([Const(-INF), Const(Fraction(0))]))
            pool.append(Map(Fn.WHERE, (mask, a, other)) if draw(st.booleans()) else positive(a))
    return pool[-1]


def _pool() -> list[Node]:
    """Values of all kinds: zero or not, signed or not, finite, masked or undefined."""
    x, _, z, u = LEAVES[:4]
    mask = Map(Fn.LE, (Index("n"), Index("m")))
    return [
        *LEAVES,
        Input("w", ("m", "k")),
        Map(Fn.EXP, (x,)),
        Map(Fn.EXP, (z,)),
        Map(Fn.WHERE, (mask, x, Const(-INF))),
        Map(Fn.WHERE, (mask, x, Const(Fraction(0)))),
        Reduce(Fn.MAX, "n", x),
        Reduce(Fn.ADD, "n", Map(Fn.EXP, (x,))),
        positive(Reduce(Fn.ADD, "n", Map(Fn.EXP, (x,)))),
        Map(Fn.MUL, (u, u)),
        Map(Fn.DIV, (Const(Fraction(1)), Size("n"))),
        Map(Fn.DIV, (Const(Fraction(1)), z)),
        Map(Fn.ABS, (z,)),
        Map(Fn.SUB, (z, Reduce(Fn.MIN, "k", Input("w", ("m", "k"))))),
    ]


@st.composite
def instances(draw: st.DrawFn, law: Rule) -> Node:  # noqa: C901  # one case a pattern class
    """The left side of a law with its holes filled, whether or not the needs are met."""
    by: dict[str, Node] = {}
    for name in law.holes:
        by[name] = draw(st.sampled_from(_pool()))

    def truth(pattern: Pattern) -> Node:
        zero = Const(Fraction(0))
        return Map(Fn.LE, (zero, fill(pattern))) if isinstance(pattern, Var) else fill(pattern)

    def fill(pattern: Pattern) -> Node:
        match pattern:
            case Var(name=name):
                return by[name]
            case Num(value=value):
                return Const(value)
            case Sym(name=constant):
                return Named(constant)
            case Extent(axis=axis):
                return Size(axis)
            case Fold(fn=fn, axis=axis, arg=arg):
                return Reduce(fn, axis, fill(arg))
            case App(fn=Fn.WHERE, args=(Var(), a, b)):
                mask = Map(Fn.LE, (Index("n"), Index("m")))
                return Map(Fn.WHERE, (mask, fill(a), fill(b)))
            case App(fn=Fn.AND | Fn.OR as fn, args=args):
                return Map(fn, tuple(truth(a) for a in args))
            case App(fn=fn, args=args):
                return Map(fn, tuple(map(fill, args)))
            case _:
                raise TypeError(pattern)

    try:
        return fill(law.left)
    except IllTyped:
        return reject()
