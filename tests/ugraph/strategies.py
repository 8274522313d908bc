"""Random nodes and programs for property tests."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn

PARAMS: tuple[Input | Scalar, ...] = (
    Input("x", ("m", "n")),
    Input("w", ("n", "k")),
    Input("g", ("n",), "fp32"),
    Input("ids", ("m",), "int32"),
    Scalar("scale"),
    Scalar("limit", "int32"),
)
SIZES = {"m": 3, "n": 4, "k": 2}

LEAVES = st.sampled_from(
    [
        *PARAMS,
        *(Index(a) for a in SIZES),
        *(Size(a) for a in SIZES),
        Const(Fraction(2)),
        Const(Fraction(-1, 3)),
        Const(-INF),
        Named(Constant.LOG2E),
    ]
)
UNARY = (Fn.EXP, Fn.TANH, Fn.ABS, Fn.SIGMOID, Fn.RSQRT)
BINARY = (Fn.ADD, Fn.SUB, Fn.MUL, Fn.MAX, Fn.MIN, Fn.DIV)


def _larger(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    unary = st.builds(lambda f, a: Map(f, (a,)), st.sampled_from(UNARY), parts)
    binary = st.builds(lambda f, a, b: Map(f, (a, b)), st.sampled_from(BINARY), parts, parts)
    compare = st.sampled_from((Fn.LT, Fn.LE, Fn.EQ))
    where = st.builds(
        lambda f, a, b, c, d: Map(Fn.WHERE, (Map(f, (a, b)), c, d)),
        compare,
        parts,
        parts,
        parts,
        parts,
    )
    folds = st.sampled_from((Fn.ADD, Fn.MAX, Fn.MIN))
    along = st.integers(0, 2)
    folded = st.builds(_fold, folds, along, parts)
    return st.one_of(unary, binary, where, folded, st.builds(_scan, folds, along, parts))


def _fold(fn: Fn, which: int, node: Node) -> Node:
    return Reduce(fn, node.axes[which % len(node.axes)], node) if node.axes else node


def _scan(fn: Fn, which: int, node: Node) -> Node:
    return Scan(fn, node.axes[which % len(node.axes)], node) if node.axes else node


def nodes() -> st.SearchStrategy[Node]:
    return st.recursive(LEAVES, _larger, max_leaves=12)


def programs() -> st.SearchStrategy[Program]:
    return st.lists(nodes(), min_size=1, max_size=2).map(
        lambda values: Program(
            "random",
            PARAMS,
            tuple(Store(f"out{i}", v.axes, None, v) for i, v in enumerate(values)),
        )
    )
