"""Graphs to print: those of the samples, and small ones that no sample covers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.masks import cleared
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from tests import nested
from tests import samples as s
from tests.emit import distances
from tests.emit import list_cases
from tests.emit import payload_cases
from tests.emit import recurrence_cases
from tests.emit import scan_cases
from tests.emit.packed_cases import columns_case
from tests.emit.packed_cases import packed_case
from tests.emit.packed_cases import packed_window_case
from tests.emit.printed import Printed
from tests.emit.printed import whole

ATTENTION_SIZES = (
    {"b": 2, "h": 1, "m": 19, "n": 37, "d": 5, "e": 24},
    {"b": 1, "h": 2, "m": 32, "n": 32, "d": 16, "e": 16},
    {"b": 1, "h": 3, "m": 1, "n": 17, "d": 1, "e": 1},
    {"b": 2, "h": 1, "m": 3, "n": 0, "d": 4, "e": 4},
    {"b": 0, "h": 1, "m": 3, "n": 2, "d": 4, "e": 4},
)


def attention_case() -> Printed:
    graphs = (s.online_attention(), s.online_attention(split=True))
    return Printed(s.attention(), graphs, ATTENTION_SIZES)


def causal_case() -> Printed:
    graphs = (s.online_attention(causal=True), s.online_attention(causal=True, split=True))
    tall = {"b": 1, "h": 1, "m": 37, "n": 19, "d": 5, "e": 24}  # lanes past the end are not masked
    return Printed(s.attention(causal=True), graphs, (*ATTENTION_SIZES[:4], tall))


def softmax_case() -> Printed:
    sizes = ({"m": 5, "n": 11}, {"m": 4, "n": 8}, {"m": 1, "n": 1}, {"m": 3, "n": 0})
    straight = s.two_pass_softmax()
    (block,) = straight.kernels
    first, second = block.walks
    there_and_back = replace(block, walks=(first, replace(second, reverse=True)))
    graphs = (
        straight,
        whole(s.row_softmax(), ("m",)),
        replace(straight, kernels=(there_and_back,)),
        replace(straight, kernels=(cleared(there_and_back),)),
    )
    return Printed(s.row_softmax(), graphs, sizes)


def rms_case() -> Printed:
    sizes = ({"m": 19, "k": 37, "n": 21}, {"m": 16, "k": 32, "n": 16}, {"m": 1, "k": 1, "n": 1})
    split = s.rms_linear_one_walk(split=True)  # one of its states lacks a grid axis
    graphs = (s.rms_linear_one_walk(), whole(s.rms_linear(), ("m",)), split)
    return Printed(s.rms_linear(), graphs, sizes)


def nested_case() -> Printed:
    """Walks inside walks: the rows of a matrix product are folded as they come."""
    program = nested.probabilities()
    sizes = (
        {"m": 19, "k": 37, "n": 41},
        {"m": 16, "k": 32, "n": 32},
        {"m": 1, "k": 1, "n": 1},
        {"m": 3, "k": 0, "n": 5},
    )
    plain = nested.graph(program, nested.ROWS)
    return Printed(program, (plain, nested.graph(program, nested.ROWS, ("k", "n"))), sizes)


def nested_split_case() -> Printed:
    """A walk inside one that is split, and inside one that is not."""
    program = nested.normaliser()
    sizes = ({"m": 19, "k": 37, "n": 70}, {"m": 16, "k": 32, "n": 96}, {"m": 1, "k": 1, "n": 1})
    places = (nested.PARTS, nested.ROWS)
    return Printed(program, tuple(nested.graph(program, p) for p in places), sizes)


def nested_wide_case() -> Printed:
    """Two products in one walk, of which the first one takes a walk itself; a mask around it."""
    causal = s.attention_delayed(causal=True)
    graphs = (nested.graph(causal, nested.WIDE), nested.graph(causal, nested.WIDE, ("d",)))
    return Printed(causal, graphs, ATTENTION_SIZES)


def window_case() -> Printed:
    """Two outputs, a run-time scalar, a window with both limits, walked from the end."""
    scale, width = Scalar("scale"), Scalar("width", "int32")
    rows = ("m",)
    q, k, v = Input("q", ("m", "d")), Input("k", ("n", "d")), Input("v", ("n", "e"))
    late = Map(Fn.LE, (Index("n"), Index("m")))
    early = Map(Fn.LT, (s.sub(Index("m"), width), Index("n")))
    raw = s.mul(s.total("d", s.mul(q, k)), scale)
    score = s.where(Map(Fn.AND, (late, early)), raw, s.NEG_INF)

    def lse(m: Node, total: Node) -> Node:
        return s.add(m, Map(Fn.LOG, (total,)))

    def outputs(m: Node, total: Node, value: Node) -> tuple[Store, ...]:
        return (
            Store("o", ("m", "e"), None, s.div(value, s.positive(total))),
            Store("lse", ("m",), "fp32", lse(m, total)),
        )

    top = s.largest("n", score)
    e = s.exp(s.sub(score, s.finite(top)))
    program = Program(
        "window",
        (q, k, v, scale, width),
        outputs(top, s.total("n", e), s.total("n", s.mul(e, v))),
    )
    new, old = State("m", rows), State("m", rows, old=True)
    factor = s.where(s.eq(old, s.NEG_INF), s.num(1), s.exp(s.sub(old, s.finite(new))))
    moving = s.exp(s.sub(score, s.finite(new)))
    walk = Walk(
        "n",
        (
            Carry("m", rows, Fn.MAX, score),
            Carry("l", rows, Fn.ADD, moving, (Move("l", factor),)),
            Carry("o", ("m", "e"), Fn.ADD, s.mul(moving, v), (Move("o", factor),)),
        ),
        (),
        (Bound((("m", 1),), s.sub(s.num(1), width)),),
        (Bound((("m", 1),), s.num(1)),),
        reverse=True,
    )
    stores = outputs(new, State("l", rows), State("o", ("m", "e")))
    places = (("e", Whole()), ("m", Grid()), ("n", Loop()), ("d", Whole()))
    block = BlockGraph(places, (walk,), stores, (Turn("m", reverse=True),))
    graph = KernelGraph("window", program.params, ("o", "lse"), (block,))
    sizes = (
        {"m": 41, "n": 50, "d": 5, "e": 18},
        {"m": 45, "n": 37, "d": 5, "e": 18},
        {"m": 32, "n": 16, "d": 16, "e": 16},
    )
    return Printed(program, (graph,), sizes, {"scale": 0.37, "width": 21})


def layer_norm_case() -> Printed:
    """A repair of rank two: p = sum (x - mean) w moves by the change of the mean times q."""
    x, w = Input("x", ("m", "k")), Input("w", ("k", "n"))
    size = Size("k")
    mean = s.div(s.total("k", x), size)
    program = Program(
        "centred",
        (x, w),
        (Store("out", ("m", "n"), None, s.total("k", s.mul(s.sub(x, mean), w))),),
    )
    new, old = State("mu", ("m",)), State("mu", ("m",), old=True)
    here, before = s.div(new, size), s.div(old, size)
    one = s.num(1)
    walk = Walk(
        "k",
        (
            Carry("mu", ("m",), Fn.ADD, x),
            Carry(
                "p",
                ("m", "n"),
                Fn.ADD,
                s.mul(s.sub(x, here), w),
                (Move("p", one), Move("q", s.sub(before, here))),
            ),
            Carry("q", ("n",), Fn.ADD, w, (Move("q", one),)),
        ),
    )
    places = (("m", Grid()), ("k", Loop()), ("n", Grid()))
    store = Store("out", ("m", "n"), None, State("p", ("m", "n")))
    block = BlockGraph(places, (walk,), (store,), (Turn("n"), Turn("m")))
    graph = KernelGraph("centred", program.params, ("out",), (block,))
    return Printed(program, (graph,), ({"m": 19, "k": 37, "n": 21}, {"m": 1, "k": 1, "n": 1}))


def decode_case() -> Printed:
    """No row axis in the tile: products are summed without a matrix unit, states are scalars."""
    q, k = Input("q", ("h", "d")), Input("k", ("h", "n", "d"))
    score = s.total("d", s.mul(q, k))
    program = Program("scores", (q, k), (Store("top", ("h",), None, s.largest("n", score)),))
    walk = Walk("n", (Carry("m", ("h",), Fn.MAX, score),))
    places = (("h", Grid(tiled=False)), ("d", Whole()), ("n", Split()))
    store = Store("top", ("h",), None, State("m", ("h",)))
    block = BlockGraph(places, (walk,), (store,), (Turn("h"),))
    graph = KernelGraph("scores", program.params, ("top",), (block,))
    return Printed(program, (graph,), ({"h": 3, "n": 17, "d": 5}, {"h": 1, "n": 5, "d": 1}))


def two_kernels_case() -> Printed:
    """Intermediates in both dtypes, a scalar result, an operand that must be turned."""
    x, w = Input("x", ("m", "k")), Input("w", ("n", "k"), "fp32")
    y = s.mul(Map(Fn.TANH, (s.total("k", s.mul(w, x)),)), s.num(Fraction(1, 3)))
    kept = Store("y", ("n", "m"), None, y)
    sums = Store("sums", ("n",), "fp32", s.total("m", kept.as_input()))
    final = Store("out", (), "fp32", s.total("n", sums.as_input()))
    plain = s.total("n", s.total("m", y))
    program = Program("chain", (x, w), (Store("out", (), "fp32", plain),))
    places = (("k", Loop()), ("n", Grid()), ("m", Grid()))
    walk = Walk("k", (Carry("acc", ("m", "n"), Fn.ADD, s.mul(w, x)),))
    value = s.mul(Map(Fn.TANH, (State("acc", ("m", "n")),)), s.num(Fraction(1, 3)))
    first = BlockGraph(
        places, (walk,), (Store("y", ("n", "m"), None, value),), (Turn("n"), Turn("m"))
    )
    second = BlockGraph((("n", Grid()), ("m", Whole())), (), (sums,), (Turn("n"),))
    third = BlockGraph((("n", Whole()),), (), (final,), ())
    graph = KernelGraph("chain", (x, w), ("out",), (first, second, third))
    return Printed(program, (graph,), ({"m": 19, "k": 37, "n": 21}, {"m": 1, "k": 2, "n": 1}))


REAL_FUNCTIONS: dict[str, Callable[[Node], Node]] = {
    "abs": lambda x: Map(Fn.ABS, (x,)),
    "exp": lambda x: Map(Fn.EXP, (x,)),
    "exp2": lambda x: Map(Fn.EXP2, (x,)),
    "log": lambda x: Map(Fn.LOG, (Map(Fn.ABS, (x,)),)),
    "log2": lambda x: Map(Fn.LOG2, (Map(Fn.ABS, (x,)),)),
    "sqrt": lambda x: Map(Fn.SQRT, (Map(Fn.ABS, (x,)),)),
    "rsqrt": lambda x: Map(Fn.RSQRT, (s.add(Map(Fn.ABS, (x,)), s.num(1)),)),
    "tanh": lambda x: Map(Fn.TANH, (x,)),
    "sigmoid": lambda x: Map(Fn.SIGMOID, (x,)),
    "erf": lambda x: Map(Fn.ERF, (x,)),
    **{fn.symbol: lambda x, fn=fn: Map(fn, (x,)) for fn in GRIDS},
    "binary": lambda x: Map(
        Fn.MAX, (Map(Fn.MIN, (s.mul(x, x), s.num(2))), s.div(x, s.add(s.mul(x, x), s.num(1))))
    ),
    "named": lambda x: s.mul(s.sub(x, Named(Constant.PI)), Named(Constant.LN2)),
}


def functions_case() -> Printed:
    """Every scalar function, from a tensor with values around 0 and beyond the usual range."""
    x = Input("x", ("a", "b"))
    outputs = tuple(Store(name, ("a", "b"), "fp32", f(x)) for name, f in REAL_FUNCTIONS.items())
    program = Program("functions", (x,), outputs)
    return Printed(program, (whole(program, ("a",)),), ({"a": 5, "b": 13},))


def kinds_case() -> Printed:
    """Integers and truth values: inputs, comparisons, logic, folds of integers, bool outputs."""
    ids, keep = Input("ids", ("a", "b"), "int32"), Input("keep", ("b",), "bool")
    byte, long = Input("byte", ("a",), "int8"), Input("long", ("b",), "int64")
    same = s.eq(ids, Index("b"))
    both = Map(Fn.OR, (Map(Fn.AND, (same, keep)), Map(Fn.NOT, (Map(Fn.LT, (ids, byte)),))))
    outputs = (
        Store("flag", ("a", "b"), "bool", both),
        Store("total", ("a",), "int32", s.total("b", s.add(ids, byte))),
        Store("most", ("b",), "int32", s.largest("a", ids)),
        Store("real", ("a", "b"), None, s.where(keep, s.div(ids, Size("b")), s.num(-1))),
        Store("long2", ("b",), "int64", s.mul(long, s.num(2))),
        Store("least", ("a",), "fp32", Reduce(Fn.MIN, "b", s.mul(ids, s.num(Fraction(1, 2))))),
        Store(
            "times", ("a",), "fp32", Reduce(Fn.MUL, "b", s.where(keep, s.num(Fraction(3, 2)), ids))
        ),
    )
    x = Input("x", ("a",))
    program = Program("kinds", (x, ids, keep, byte, long), outputs)
    return Printed(program, (whole(program),), ({"a": 3, "b": 5}, {"a": 4, "b": 8}))


def names_case() -> Printed:
    """Names that clash with Python, Triton and each other, are long, or are not in ASCII."""
    long = "an_axis_with_a_name_that_is_longer_than_any_line_of_a_printed_file_may_be_" + "x" * 40
    axes = ("lambda", "M", "m", long)
    tl, out, given = Input("tl", axes), Input("out", ("m",)), Input(f"{long}_given", (long,))
    largest = s.largest(long, s.mul(given, s.num(2)))
    value = s.add(s.mul(tl, out), s.mul(Named(Constant.PI), largest))
    value = s.add(value, s.sub(Named(Constant.LN2), out))
    program = Program(
        "größe",
        (tl, out, given, Scalar("pid")),
        (Store("plan", axes, None, s.mul(value, Scalar("pid"))),),
    )
    sizes = {"lambda": 3, "M": 5, "m": 2, long: 4}
    return Printed(program, (whole(program, ("M",)),), (sizes,), {"pid": 0.5})


def integers_case() -> Printed:
    """Integers that are folded in walks, one of them split: exact beyond what fp32 holds."""
    x = Input("x", ("m", "n"), "int32")
    folds = {Fn.ADD: "sum", Fn.MAX: "most", Fn.MIN: "least"}
    carries = tuple(Carry(name, ("m",), fn, x) for fn, name in folds.items())
    values = [Map(Fn.ADD, (c.state, Const(Fraction(1)))) for c in carries]
    stores = tuple(
        Store(f"{c.name}_", ("m",), "int64", v) for c, v in zip(carries, values, strict=True)
    )
    program = Program(
        "integers",
        (x,),
        tuple(
            Store(f"{name}_", ("m",), "int64", s.add(Reduce(fn, "n", x), s.num(1)))
            for fn, name in folds.items()
        ),
    )

    def graph(place: Loop | Split) -> KernelGraph:
        places = (("m", Grid()), ("n", place))
        block = BlockGraph(places, (Walk("n", carries),), stores, (Turn("m"),))
        return KernelGraph("integers", (x,), tuple(t.name for t in stores), (block,))

    return Printed(program, (graph(Loop()), graph(Split())), ({"m": 5, "n": 37}, {"m": 3, "n": 8}))


def distances_case() -> Printed:
    graphs = (distances.graph(Loop()), distances.graph(Split()))
    return Printed(distances.PROGRAM, graphs, ({"m": 9, "n": 37}, {"m": 1, "n": 3}))


CASES: dict[str, Callable[[], Printed]] = {
    "distances": distances_case,
    "attention": attention_case,
    "causal": causal_case,
    "packed": packed_case,
    "packed_window": packed_window_case,
    "columns": columns_case,
    "softmax": softmax_case,
    "rms": rms_case,
    "nested": nested_case,
    "nested_split": nested_split_case,
    "nested_wide": nested_wide_case,
    "window": window_case,
    "layer_norm": layer_norm_case,
    "decode": decode_case,
    "two_kernels": two_kernels_case,
    "functions": functions_case,
    "kinds": kinds_case,
    "names": names_case,
    "integers": integers_case,
    "scans": scan_cases.scans_case,
    "decay": scan_cases.decay_case,
    "delta": recurrence_cases.delta_case,
    "steps": recurrence_cases.steps_case,
    "numbers": recurrence_cases.numbers_case,
    "listing": list_cases.listing_case,
    "ties": list_cases.ties_case,
    "taking": payload_cases.taking_case,
    "leading": payload_cases.leading_case,
}
