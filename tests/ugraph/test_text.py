from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Const
from superopt.ugraph.node import Hole
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.split import launches
from superopt.ugraph.text import digest
from superopt.ugraph.text import parse
from superopt.ugraph.text import show
from tests import samples
from tests.samples import add
from tests.samples import mul
from tests.samples import num
from tests.ugraph.strategies import nodes
from tests.ugraph.strategies import programs

X = Input("x", ("m", "n"))

COUNT = Carry("count", ("m",), Fn.ADD, samples.where(samples.eq(X, num(0)), num(1), num(0)))
WHOLE = BlockGraph(
    (("m", Grid()), ("n", Loop())),
    (Walk("n", (COUNT, Carry("more", ("m",), Fn.ADD, mul(COUNT.old, num(2))))),),
    (Store("out", ("m",), "int32", add(COUNT.state, num(1))),),
    (Turn("m"),),
)

ODD = BlockGraph(
    (("m", Grid()), ("b", Grid(tiled=False)), ("n", Loop())),
    (
        Walk(
            "n",
            (
                Carry("by", ("m",), Fn.MAX, X, (Move("by", num(2)), Move("z", num(3))), Fn.ADD),
                Carry("z", (), Fn.MUL, Input("of", ("n",)), (), Fn.ADD),
                Carry("of", ("m",), Fn.MIN, X),
            ),
            (),
            (Bound((("m", 1), ("b", -2)), Scalar("w", "int32")), Bound((), num(-3))),
            (Bound((("b", -1),), add(Size("n"), num(1))), Bound((), Size("m"))),
            reverse=True,
        ),
        Walk("n", (), (Store("y", ("n", "m"), "fp32", mul(X, State("by", ("m",)))),)),
    ),
    (Store("max", (), "int32", Map(Fn.MAX, (Const(float("inf")), num(Fraction(-1, 3))))),),
    (Turn("b", reverse=True), Turn("m")),
)

GRAPHS = [
    samples.attention(causal=True),
    samples.rms_linear(),
    samples.online_attention(causal=True),
    samples.online_attention(split=True),
    samples.two_pass_softmax(),
    samples.rms_linear_one_walk(),
    *launches(samples.online_attention(causal=True, split=True)),
    ODD,
    WHOLE,
    BlockGraph((), (), ()),
    Config((("m", 64), ("n.part", 2)), 3, 8, 1),
    Config((("m", 64),), 1, 8, 1, descriptors=True, group=8),
    Config((("m", 64),), 3, 8, 1, dependent=True),
    Config((), descriptors=True, group=2, dependent=True),
    Config((("m", 64),), consumers=2, ring=True, persistent=2, schedule="i1at0"),
    Config((("m", 64),), consumers=2, persistent=1, each=8, pingpong=True, schedule="i1at0"),
    Config(()),
    Hole("a"),
    Input("max", ()),
    Scalar("s", "int32"),
]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: type(g).__name__)
def test_text_is_parsed_back_to_the_identical_graph(graph):
    assert parse(show(graph)) == graph
    assert show(parse(show(graph))) == show(graph)


@given(nodes())
def test_any_node_is_parsed_back_to_itself(node):
    assert parse(show(node)) is node


@given(programs())
def test_any_program_is_parsed_back(program):
    assert parse(show(program)) == program


def test_deep_and_shared_nodes_have_short_texts():
    node: Node = X
    for _ in range(2000):
        node = add(node, X)
    for _ in range(50):
        node = mul(node, node)
    text = show(node)
    assert parse(text) is node
    assert max(map(len, text.splitlines())) < 200


def test_what_a_reader_looks_for_is_there():
    lines = show(samples.online_attention(causal=True)).splitlines()
    assert "  walk n to m + 1" in lines
    assert sum(line.startswith("  walk n") for line in lines) == 1
    assert "    carry l over b h m by add moved by mul of %2" in lines
    assert "      move l with %3" in lines
    assert "  place n Split" in show(samples.online_attention(split=True)).splitlines()
    assert "  order reverse(b) m" in show(ODD).splitlines()
    assert "  walk n from m + -2*b + $w:int32, -3 to -1*b + add(size(n), 1), size(m) backwards" in (
        show(ODD).splitlines()
    )


def test_every_shared_node_is_bound_once_where_it_is_first_used():
    text = show(samples.online_attention(causal=True))
    assert text.count("rsqrt(size(d))") == 1
    assert text.index("let %0") < text.index("carry m")


def test_digests_differ_with_the_graph_and_not_with_the_process():
    graphs = list(GRAPHS)
    assert len({digest(g) for g in graphs}) == len(graphs)
    block = samples.online_attention().kernels[0]
    assert digest(replace(block, order=block.order[::-1])) != digest(block)
    code = (
        "from tests import samples; from superopt.ugraph.text import digest;"
        "print(digest(samples.online_attention(causal=True)))"
    )
    for seed in ("0", "7"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == digest(samples.online_attention(causal=True))
