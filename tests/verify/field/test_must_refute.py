"""Pairs that are not equal, which tools of this kind have accepted: none may be accepted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.verify.field.graphs import verify_graph
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import accepted
from tests import samples
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import div
from tests.samples import eq
from tests.samples import exp
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

X, Y, Z = (Input(n, ("i",)) for n in "xyz")
A = Input("a", ("i", "k"))
B = Input("b", ("i", "k"))
C = Input("c", ("k", "j"))
S = Input("s", ("m", "n"))
V = Input("v", ("n", "e"))
SINK = Input("sink", ("m",))


def silu(x: Node) -> Node:
    return mul(x, Map(Fn.SIGMOID, (x,)))


def log(x: Node) -> Node:
    return Map(Fn.LOG, (x,))


def position(which: str) -> Node:
    """Where a row of ``A`` is not below its neighbour ``B``: the first or the last index."""
    at = where(Map(Fn.LE, (B, A)), Index("k"), num(-1))
    return Reduce(Fn.MAX if which == "max" else Fn.MIN, "k", at)


def tanh(x: Node) -> Node:
    return Map(Fn.TANH, (x,))


def clamp(x: Node, low: int, high: int) -> Node:
    return Map(Fn.MIN, (Map(Fn.MAX, (x, num(low))), num(high)))


def product(x: str, y: str) -> Node:
    """x @ y of square operands, by axis names: sum over k of x[i, k] y[k, j]."""
    return total("k", mul(Input(x, ("i", "k")), Input(y, ("k", "j"))))


def mlp(first: str, second: str) -> Node:
    """exp(silu(first @ second) @ v) with all operands square."""
    hidden = total("k", mul(Input(first, ("i", "k")), Input(second, ("k", "j"))))
    return exp(total("j", mul(silu(hidden), Input("v", ("j", "e")))))


def rms(x: Node, axis: str, over: Node | None) -> Node:
    squares = total(axis, mul(x, x))
    mean = squares if over is None else div(squares, over)
    return mul(x, rsqrt(add(mean, num(Fraction(1, 1000)))))


def masked(s: Node, compare: Fn, left: Node, right: Node) -> Node:
    return where(Map(compare, (left, right)), s, NEG_INF)


def weights(s: Node) -> Node:
    return total("n", mul(softmax(s, "n"), V))


def with_sink(s: Node, times: int) -> Node:
    m = Map(Fn.MAX, (largest("n", s), SINK))
    e = exp(sub(s, m))
    sink = mul(num(times), exp(sub(SINK, m)))
    return div(total("n", mul(e, V)), add(total("n", e), sink))


def capped(s: Node) -> Node:
    return mul(num(2), tanh(div(s, num(2))))


M, N = Index("m"), Index("n")
CAUSAL = Map(Fn.LE, (N, M))
WINDOW = Scalar("w", "int32")
EPS = num(Fraction(1, 1000))


def sqrt(x: Node) -> Node:
    return Map(Fn.SQRT, (x,))


PAIRS: dict[str, tuple[Node, Node]] = {
    "x+z for y+y": (add(Y, Y), add(X, Z)),
    "exp(exp x) for exp(exp y)": (exp(exp(X)), exp(exp(Y))),
    "silu(silu x) for silu(silu y)": (silu(silu(X)), silu(silu(Y))),
    "operands of an inner product": (mlp("x", "w"), mlp("w", "x")),
    "x*y for x*x": (mul(X, X), mul(X, Y)),
    "full denominator": (
        total("k", mul(div(A, B), C)),
        total("k", div(mul(A, C), total("k", B))),
    ),
    "L2 norm for RMS": (rms(A, "k", Size("k")), rms(A, "k", None)),
    "clamp": (clamp(X, 0, 1), clamp(X, -2, 2)),
    "missing 1/n": (div(total("k", A), Size("k")), total("k", A)),
    "eps moved through a root": (
        div(X, add(sqrt(mul(Y, Y)), EPS)),
        div(X, sqrt(add(mul(Y, Y), EPS))),
    ),
    "softcap and mask exchanged": (
        weights(where(CAUSAL, capped(S), NEG_INF)),
        weights(capped(where(CAUSAL, S, NEG_INF))),
    ),
    "sink twice": (with_sink(S, 1), with_sink(S, 2)),
    "< for <=": (weights(masked(S, Fn.LE, N, M)), weights(masked(S, Fn.LT, N, M))),
    "window off by one": (
        weights(masked(S, Fn.LT, sub(M, N), WINDOW)),
        weights(masked(S, Fn.LE, sub(M, N), WINDOW)),
    ),
    "x@w for w@x": (product("x", "w"), product("w", "x")),
    "abs dropped": (Map(Fn.ABS, (X,)), X),
    "abs of one of several": (
        largest("k", Map(Fn.ABS, (A,))),
        Map(Fn.MAX, (largest("k", A), Map(Fn.ABS, (total("k", A),)))),
    ),
    "base of an exponential": (exp(X), Map(Fn.EXP2, (X,))),
    "lse in the wrong base": (
        Map(Fn.LOG, (total("k", exp(A)),)),
        Map(Fn.LOG2, (total("k", exp(A)),)),
    ),
    "log2e twice": (
        exp(X),
        Map(Fn.EXP2, (mul(mul(X, Named(Constant.LOG2E)), Named(Constant.LOG2E)),)),
    ),
    "max for min": (largest("k", A), Map(Fn.MUL, (num(-1), largest("k", mul(num(-1), A))))),
    "a threshold": (where(Map(Fn.LT, (X, Y)), X, Y), where(Map(Fn.LT, (Y, X)), X, Y)),
    "tanh of something else": (tanh(add(X, Y)), tanh(sub(X, Y))),
    "guard that is too eager": (
        div(total("k", A), where(eq(total("k", A), num(1)), num(1), total("k", B))),
        div(total("k", A), total("k", A)),
    ),
    "logarithm of another factor": (mul(X, log(Y)), mul(X, log(X))),
    "base of a logarithm in a product": (mul(X, log(Y)), mul(X, Map(Fn.LOG2, (Y,)))),
    "last index for the first": (position("min"), position("max")),
    "exponent of a square": (mul(exp(X), exp(X)), exp(mul(X, X))),
}


# Axes have names, so the transposed use of an operand cannot even be said: it has no meaning.
UNSAYABLE = ("operands of an inner product", "x@w for w@x")


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("seed", [0, 7])
def test_an_unequal_pair_is_refuted(name, seed):
    spec, wrong = PAIRS[name]
    both = program(spec, wrong)
    meaning = Program("p", both.params, program(spec).outputs)
    verdict = verify_graph(meaning, candidate(spec, wrong), seed)
    assert not accepted(verdict)
    assert isinstance(verdict, Unknown if name in UNSAYABLE else Refuted), verdict


def candidate(spec: Node, wrong: Node) -> KernelGraph:
    """The wrong value in a graph with the parameters of both and the spec's output."""
    both = program(spec, wrong)
    store = Store("out0", program(spec).outputs[0].order, None, wrong)
    return plain(Program("p", both.params, (store,)))


def test_two_outputs_swapped():
    meaning = program(mul(X, Y), add(X, Y))
    first, second = meaning.outputs
    swapped = (
        Store(first.name, first.order, None, second.value),
        Store(second.name, second.order, None, first.value),
    )
    verdict = verify_graph(meaning, plain(Program("p", meaning.params, swapped)), 0)
    assert isinstance(verdict, Refuted)


def test_an_output_that_is_never_stored():
    meaning = program(mul(X, Y), add(X, Y))
    half = plain(Program("p", meaning.params, meaning.outputs[:1]))
    missing = replace(half, outputs=tuple(s.name for s in meaning.outputs))
    assert isinstance(verify_graph(meaning, missing, 0), Refuted)


def test_outputs_in_another_order():
    meaning = program(mul(X, Y), add(X, Y))
    turned = plain(Program("p", meaning.params, meaning.outputs[::-1]))
    assert isinstance(verify_graph(meaning, turned, 0), Refuted)


def test_guards_are_needed_where_all_is_masked():
    """Without its guard a fully masked row is undefined, and the spec defines it."""
    s = masked(S, Fn.LE, add(N, num(1)), M)
    unguarded = exp(sub(s, largest("n", s)))
    wrong = div(total("n", mul(unguarded, V)), positive(total("n", unguarded)))
    right = weights(s)
    assert isinstance(verify_graph(program(right), candidate(right, wrong), 0), Refuted)


def test_a_stale_accumulator_is_refuted():
    """Online softmax without the rescaling of its sums."""
    graph = samples.online_attention()
    (block,) = graph.kernels
    (walk,) = block.walks
    m, total_, out = walk.carries
    for stale in (total_, out):
        carries = tuple(replace(c, moves=()) if c is stale else c for c in (m, total_, out))
        wrong = _with_carries(graph, carries)
        assert isinstance(verify_graph(samples.attention(), wrong, 0), Refuted)


def _with_carries(graph: KernelGraph, carries: tuple[Carry, ...]) -> KernelGraph:
    (block,) = graph.kernels
    (walk,) = block.walks
    return replace(graph, kernels=(replace(block, walks=(replace(walk, carries=carries),)),))
