"""Pairs that are equal, though not by their structure: all must be accepted."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import pytest

from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
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
from superopt.verify.field.graphs import verify_graph
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import accepted
from tests import samples
from tests.emit.cases import CASES
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
from tests.verify.field.plain import plain
from tests.verify.field.plain import program
from tests.verify.field.plain import walked_sum

X, Y = (Input(n, ("i",)) for n in "xy")
A = Input("a", ("i", "k"))
B = Input("b", ("i",))
C = Input("c", ("k", "j"))
S = Input("s", ("m", "n"))
V = Input("v", ("n", "e"))
SINK = Input("sink", ("m",))
SUM = total("k", exp(A))
LOG_SUM = Map(Fn.LOG, (SUM,))
CHOSEN = total("k", where(eq(Index("k"), Input("id", ("i",), "int32")), sub(A, LOG_SUM), num(0)))
LOG2E, LN2 = Named(Constant.LOG2E), Named(Constant.LN2)
SCALE = Scalar("scale")


def sqrt(x: Node) -> Node:
    return Map(Fn.SQRT, (x,))


def exp2(x: Node) -> Node:
    return Map(Fn.EXP2, (x,))


def log(x: Node) -> Node:
    return Map(Fn.LOG, (x,))


def log2(x: Node) -> Node:
    return Map(Fn.LOG2, (x,))


def silu(x: Node) -> Node:
    return mul(x, Map(Fn.SIGMOID, (x,)))


def gelu(x: Node) -> Node:
    half = num(Fraction(1, 2))
    return mul(mul(half, x), add(num(1), Map(Fn.ERF, (mul(x, rsqrt(num(2))),))))


def naive(s: Node, axis: str) -> Node:
    return div(exp(s), total(axis, exp(s)))


def lse(s: Node, axis: str) -> Node:
    m = largest(axis, s)
    sums = total(axis, exp(sub(s, finite(m))))
    return where(eq(sums, num(0)), NEG_INF, add(log(positive(sums)), finite(m)))


def lse_base2(s: Node, axis: str) -> Node:
    """The logarithm of base-2 sums about the base-2 maximum, times ln 2."""
    scaled = mul(s, LOG2E)
    m = largest(axis, scaled)
    sums = total(axis, exp2(sub(scaled, finite(m))))
    return where(eq(sums, num(0)), NEG_INF, mul(LN2, add(log2(positive(sums)), finite(m))))


def base2(s: Node, axis: str) -> Node:
    scaled = mul(s, LOG2E)
    e = exp2(sub(scaled, largest(axis, scaled)))
    return div(e, total(axis, e))


def layer_norm(x: Node, axis: str) -> Node:
    mean = div(total(axis, x), Size(axis))
    centred = sub(x, mean)
    variance = div(total(axis, mul(centred, centred)), Size(axis))
    return mul(centred, rsqrt(add(variance, num(Fraction(1, 1000)))))


def moments_norm(x: Node, axis: str) -> Node:
    """The same from raw moments."""
    mean = div(total(axis, x), Size(axis))
    square = div(total(axis, mul(x, x)), Size(axis))
    variance = sub(square, mul(mean, mean))
    return mul(sub(x, mean), rsqrt(add(variance, num(Fraction(1, 1000)))))


def tree(s: Node, inner: str, outer: str) -> Node:
    """Softmax over two axes: of each row of parts, then of the parts' maxima and sums."""
    m = largest(inner, s)
    sums = total(inner, exp(sub(s, m)))
    m_all = largest(outer, m)
    weight = exp(sub(m, m_all))
    return div(mul(exp(sub(s, m)), weight), total(outer, mul(sums, weight)))


def masked(s: Node) -> Node:
    return where(Map(Fn.LE, (Index("n"), Index("m"))), s, NEG_INF)


def with_sink(s: Node) -> Node:
    m = Map(Fn.MAX, (largest("n", s), SINK))
    e = exp(sub(s, m))
    return div(total("n", mul(e, V)), add(total("n", e), exp(sub(SINK, m))))


def sink_without_maximum(s: Node) -> Node:
    return div(total("n", mul(exp(s), V)), add(total("n", exp(s)), exp(SINK)))


PAIRS: dict[str, tuple[Node, Node]] = {
    "a root squared": (mul(sqrt(X), sqrt(X)), X),
    "root of a product": (sqrt(mul(exp(X), exp(Y))), exp(mul(num(Fraction(1, 2)), add(X, Y)))),
    "sum of exponents": (exp(add(X, Y)), mul(exp(X), exp(Y))),
    "safe and naive softmax": (softmax(S, "n"), naive(S, "n")),
    "a tree of softmaxes": (div(exp(S), total("m", total("n", exp(S)))), tree(S, "n", "m")),
    "base two": (softmax(S, "n"), base2(S, "n")),
    "lse": (lse(S, "n"), log(total("n", exp(S)))),
    "lse in base two": (lse(S, "n"), lse_base2(S, "n")),
    "masked lse": (lse(masked(S), "n"), lse_base2(masked(S), "n")),
    "delayed division": (
        total("n", mul(softmax(S, "n"), V)),
        div(total("n", mul(exp(S), V)), total("n", exp(S))),
    ),
    "a scale folded into the exponent": (
        softmax(mul(S, SCALE), "n"),
        base2(mul(S, SCALE), "n"),
    ),
    "a factor out of a fold": (total("k", mul(mul(A, B), C)), mul(B, total("k", mul(A, C)))),
    "raw moments": (layer_norm(A, "k"), moments_norm(A, "k")),
    "absolute value of a product": (
        Map(Fn.ABS, (mul(X, Y),)),
        mul(Map(Fn.ABS, (X,)), Map(Fn.ABS, (Y,))),
    ),
    "even power": (mul(Map(Fn.ABS, (X,)), Map(Fn.ABS, (X,))), mul(X, X)),
    "gelu": (gelu(add(X, Y)), gelu(add(Y, X))),
    "tanh is odd": (Map(Fn.TANH, (sub(X, Y),)), mul(num(-1), Map(Fn.TANH, (sub(Y, X),)))),
    "silu of silu": (silu(silu(add(X, Y))), silu(silu(add(Y, X)))),
    "sigmoid by hand": (
        Map(Fn.SIGMOID, (X,)),
        div(exp(X), add(num(1), exp(X))),
    ),
    "nested maxima": (
        Map(Fn.MAX, (Map(Fn.MAX, (X, Y)), X)),
        Map(Fn.MAX, (Y, X)),
    ),
    "a sink": (with_sink(S), sink_without_maximum(S)),
    "a mean of sizes": (
        div(total("k", A), mul(Size("k"), num(2))),
        mul(total("k", A), div(num(Fraction(1, 2)), Size("k"))),
    ),
    "a mask after a scale": (
        softmax(masked(mul(S, rsqrt(Size("n")))), "n"),
        softmax(mul(masked(S), rsqrt(Size("n"))), "n"),
    ),
    "an entropy": (
        total("k", mul(div(exp(A), SUM), sub(A, LOG_SUM))),
        sub(
            div(total("k", mul(exp(A), A)), SUM),
            mul(div(total("k", exp(A)), SUM), mul(Map(Fn.LOG2, (SUM,)), Named(Constant.LN2))),
        ),
    ),
    "a probability raised": (
        mul(exp(sub(X, log(Y))), sub(X, log(Y))),
        mul(exp(add(X, mul(num(-1), log(Y)))), add(mul(num(-1), log(Y)), X)),
    ),
    "a chosen logarithm": (
        mul(exp(CHOSEN), mul(CHOSEN, X)),
        mul(X, mul(exp(CHOSEN), CHOSEN)),
    ),
    "the index of a maximum": (
        Reduce(Fn.MIN, "k", where(eq(A, largest("k", A)), Index("k"), Size("k"))),
        Reduce(Fn.MIN, "k", where(eq(largest("k", A), A), Index("k"), Size("k"))),
    ),
    "a maximum over two axes, one of them empty": (
        largest("j", largest("k", mul(A, C))),
        largest("k", largest("j", mul(C, A))),
    ),
    "opposite comparisons": (
        where(Map(Fn.LT, (X, Y)), X, Y),
        where(Map(Fn.NOT, (Map(Fn.LE, (Y, X)),)), X, Y),
    ),
    "an unused undefined arm": (
        where(eq(mul(X, num(0)), num(0)), X, div(Y, num(0))),
        X,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("seed", [0, 5])
def test_an_equal_pair_is_accepted(name, seed):
    spec, other = PAIRS[name]
    both = program(spec, other)
    meaning = Program("p", both.params, program(spec).outputs)
    store = Store("out0", meaning.outputs[0].order, None, other)
    verdict = verify_graph(meaning, plain(Program("p", both.params, (store,))), seed)
    assert accepted(verdict), verdict


SAMPLES = {
    "online attention": (samples.attention(), samples.online_attention()),
    "causal": (samples.attention(True), samples.online_attention(True)),
    "split": (samples.attention(), samples.online_attention(split=True)),
    "causal split": (samples.attention(True), samples.online_attention(True, split=True)),
    "delayed": (samples.attention_delayed(), samples.online_attention()),
    "two passes": (samples.row_softmax(), samples.two_pass_softmax()),
    "scale of a norm behind a matmul": (samples.rms_linear(), samples.rms_linear_one_walk()),
    "low rank": (samples.lora(), plain(samples.lora())),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_accepted_quickly(name):
    started = time.process_time()
    verdict = verify_graph(*SAMPLES[name], seed=1)
    assert isinstance(verdict, Sampled)
    assert accepted(verdict), verdict
    assert time.process_time() - started < 3


def test_a_matmul_in_parts_of_its_folded_axis():
    case = CASES["rms"]()
    graph = case.graphs[2]
    assert any(isinstance(p, Split) for block in graph.kernels for _, p in block.places)
    assert accepted(verify_graph(case.program, graph, 1))


def test_low_rank_as_one_matmul():
    """x w + (x a) b = x (w + a b), in one walk of k."""
    meaning = samples.lora()
    low_a, low_b = Input("a", ("k", "r")), Input("b", ("r", "n"))
    joined = mul(samples.X, add(samples.W, total("r", mul(low_a, low_b))))
    graph = walked_sum(meaning, "k", {"acc": joined}, State("acc", ("m", "n")))
    assert accepted(verify_graph(meaning, graph, 0))


def test_a_norm_deferred_by_moments():
    """Layer norm in front of a matmul as two sums and their combination at the end."""
    x, w = samples.X, samples.W
    meaning = program(total("k", mul(layer_norm(x, "k"), w)))
    terms = {"s": x, "ss": mul(x, x), "p": mul(x, w), "q": w}
    s, ss = State("s", ("m",)), State("ss", ("m",))
    p, q = State("p", ("m", "n")), State("q", ("n",))
    mean = div(s, Size("k"))
    variance = sub(div(ss, Size("k")), mul(mean, mean))
    value = mul(rsqrt(add(variance, num(Fraction(1, 1000)))), sub(p, mul(mean, q)))
    assert accepted(verify_graph(meaning, walked_sum(meaning, "k", terms, value), 0))


@pytest.mark.parametrize("empty", [num(0), NEG_INF])
def test_stable_norm_by_the_largest_element(empty):
    """sum x^2 as A^2 sum (x / A)^2, rescaled whenever the largest element A grows."""
    x = samples.X
    meaning = program(Map(Fn.SQRT, (total("k", mul(x, x)),)))
    a_new, a_old = State("a", ("m",)), State("a", ("m",), old=True)
    size = where(eq(a_new, num(0)), num(1), a_new)
    ratio = where(eq(a_old, empty), num(1), div(a_old, size))
    unit = Carry("a", ("m",), Fn.MAX, Map(Fn.ABS, (x,)))
    scaled = div(x, size)
    sums = Carry("t", ("m",), Fn.ADD, mul(scaled, scaled), (Move("t", mul(ratio, ratio)),))
    value = mul(where(eq(a_new, NEG_INF), num(0), size), Map(Fn.SQRT, (State("t", ("m",)),)))
    places = (("m", samples.Grid()), ("k", Loop()))
    store = Store("out0", ("m",), None, value)
    block = BlockGraph(places, (Walk("k", (unit, sums)),), (store,), (Turn("m"),))
    graph = KernelGraph("p", meaning.params, ("out0",), (block,))
    verdict = verify_graph(meaning, graph, 0)
    # The maximum starts at -inf, so a guard that looks for 0 multiplies nothing by -inf.
    assert accepted(verdict) == (empty is NEG_INF), verdict


def test_backwards_is_the_same():
    graph = samples.online_attention()
    (block,) = graph.kernels
    (walk,) = block.walks
    turned = replace(graph, kernels=(replace(block, walks=(replace(walk, reverse=True),)),))
    assert accepted(verify_graph(samples.attention(), turned, 0))


def test_a_guard_that_is_needless_may_be_absent():
    """exp(-inf - 0) is 0 and 0 times an empty sum is 0."""
    graph = samples.online_attention(causal=True)
    (block,) = graph.kernels
    (walk,) = block.walks
    carries = []
    for c in walk.carries:
        moves = tuple(
            replace(m, factor=m.factor.args[2]) for m in c.moves if isinstance(m.factor, Map)
        )
        carries.append(replace(c, moves=moves))
    bare = replace(graph, kernels=(replace(block, walks=(replace(walk, carries=tuple(carries)),)),))
    assert accepted(verify_graph(samples.attention(causal=True), bare, 0))


def test_one_run_is_like_another():
    pair = SAMPLES["causal"]
    assert verify_graph(*pair, seed=3) == verify_graph(*pair, seed=3)


def test_min_is_the_opposite_of_max():
    low = Reduce(Fn.MIN, "k", A)
    assert accepted(verify_graph(program(low), plain(program(low)), 0))


def test_a_division_by_a_sum_inside_an_exponent():
    """e^(x - log(sum)) is e^x times an inverse, which no term of the program stands for."""
    inner = exp(sub(X, Map(Fn.LOG, (Reduce(Fn.ADD, "i", exp(X)),))))
    meaning = program(exp(inner))
    assert accepted(verify_graph(meaning, plain(meaning), 0))
