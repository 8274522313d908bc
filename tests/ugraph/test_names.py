from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.names import canonical
from superopt.ugraph.names import rename
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.split import launches
from superopt.ugraph.walk import transform
from tests.samples import add
from tests.samples import attention
from tests.samples import lora
from tests.samples import mul
from tests.samples import online_attention
from tests.samples import sub
from tests.ugraph.strategies import programs

X, Y = Input("x", ("m",)), Input("y", ("m",))


def swapped(program: Program, seed: int) -> Program:
    """The arguments of commutative functions in random order."""
    random = Random(seed)

    def swap(node):
        if isinstance(node, Map) and node.fn.value.commutative and random.random() < 0.5:
            return Map(node.fn, node.args[::-1])
        return node

    values = transform([s.value for s in program.outputs], swap)
    outputs = tuple(replace(s, value=values[s.value]) for s in program.outputs)
    return replace(program, outputs=outputs)


@settings(max_examples=150)
@given(
    programs(),
    st.permutations(["n", "k", "m", "q"]),
    st.permutations(["x", "zz", "w", "scale", "out0", "t3", "limit", "a"]),
    st.integers(0, 1000),
)
def test_canonical_form_forgets_names_and_the_order_of_operands(program, axes, tensors, seed):
    to_axes = dict(zip(["m", "n", "k"], axes, strict=False))
    names = ["x", "w", "g", "ids", "scale", "limit", "out0", "out1"]
    other = swapped(rename(program, to_axes, dict(zip(names, tensors, strict=True))), seed)
    assert canonical(other)[0] == canonical(program)[0]


@given(programs())
def test_names_lead_back_up_to_the_order_of_operands(program):
    canon, names = canonical(program)
    back = names.back(canon)
    assert back.params == program.params
    assert [s.name for s in back.outputs] == [s.name for s in program.outputs]
    assert canonical(back)[0] == canon
    assert canonical(canon)[0] == canon


def test_names_are_numbered_by_first_appearance_in_the_signature():
    canon, names = canonical(attention())
    assert [p.name for p in canon.params] == ["t0", "t1", "t2"]
    assert canon.params[1].order == ("a0", "a1", "a4", "a3")
    assert names.axes["a4"] == "n"
    assert names.tensors["t3"] == "out"


def test_order_matters_where_the_function_does_not_commute():
    def form(node):
        return canonical(Program("p", (X, Y), (Store("o", ("m",), None, node),)))[0]

    assert form(add(X, Y)) == form(add(Y, X))
    assert form(sub(X, Y)) != form(sub(Y, X))
    assert form(Map(Fn.LT, (X, Y))) != form(Map(Fn.LT, (Y, X)))
    assert form(add(X, X)) != form(add(X, Y))


def test_everything_that_holds_names_is_renamed_and_back():
    axes = {"b": "n", "n": "b", "m": "row", "e": "m"}
    tensors = {"q": "k", "k": "q", "out": "result"}
    graph = online_attention(causal=True, split=True)
    there = rename(graph, axes, tensors, {"m": "top"})
    assert there.outputs == ("result",)
    assert there.kernels[0].walks[0].axis == "b"
    assert there.kernels[0].walks[0].carries[0].name == "top"
    back = {v: k for k, v in axes.items()}, {v: k for k, v in tensors.items()}
    assert rename(there, *back, {"top": "m"}) == graph
    parts, combining = launches(graph)
    for block in (parts, combining):
        renamed = rename(block, axes, tensors)
        assert "b.part" in renamed.place
        assert "n.part" not in renamed.place
    assert rename(Config((("n", 4), ("n.part", 2))), axes, {}) == Config((("b", 4), ("b.part", 2)))
    assert rename(State("n", ("n",)), {"n": "k"}, {"n": "z"}) is State("n", ("k",))
    assert rename(Scalar("s", "int32"), {}, {"s": "t"}) is Scalar("t", "int32")


def test_intermediates_do_not_take_a_name_of_the_user():
    program = Program("p", (Input("s0", ("m",)),), (Store("y", ("m",), None, X),))
    _, names = canonical(replace(program, outputs=(Store("y", ("m",), None, program.params[0]),)))
    inner = Input("s0", ("a0",), "fp32")
    back = names.back(mul(inner, Input("t0", ("a0",))))
    assert back is mul(Input("s0_", ("m",), "fp32"), Input("s0", ("m",)))


def test_both_associations_stay_what_they_are():
    canon, _ = canonical(lora())
    assert len(canon.params) == 4
