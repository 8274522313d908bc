from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from superopt.ugraph.carry import Carry
from superopt.ugraph.cost import BYTES
from superopt.ugraph.described import aligned
from superopt.ugraph.described import described
from superopt.ugraph.described import inner_axes
from superopt.ugraph.described import with_descriptors
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Clear
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Input
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.split import launches
from tests import samples as s


def product(left: Input, right: Input, single: tuple[str, ...] = ()) -> BlockGraph:
    """A matrix product of tiles m x k and k x n; ``single``: axes with one position a program."""
    grid = tuple((a, Grid(tiled=False)) for a in single)
    places = (*grid, ("m", Grid()), ("k", Loop()), ("n", Grid()))
    axes = (*single, "m", "n")
    walk = Walk("k", (Carry("p", axes, Fn.ADD, s.mul(left, right)),))
    turns = tuple(Turn(a) for a in axes)
    return BlockGraph(places, (walk,), (Store("out", axes, None, State("p", axes)),), turns)


def names(block: BlockGraph) -> list[str]:
    return [t.name for t in described(block)]


def test_operands_of_matrix_products_are_described():
    blocks = {
        "attention": s.online_attention(),
        "causal": s.online_attention(causal=True),
        "split": s.online_attention(split=True),
        "rms": s.rms_linear_one_walk(),
        "softmax": s.two_pass_softmax(),
    }
    found = {n: [sorted(names(b)) for b in launches(g)] for n, g in blocks.items()}
    assert found == {
        "attention": [["k", "q", "v"]],
        "causal": [["k", "q", "v"]],
        "split": [["k", "q", "v"], []],
        "rms": [["w", "x"]],  # not the weights of the norm, which have one axis
        "softmax": [[]],
    }


def test_what_descriptors_cannot_tell_keeps_pointers():
    x, w = Input("x", ("m", "k")), Input("w", ("k", "n"))
    assert names(product(x, w)) == ["x", "w"]
    assert names(product(Input("x", ("k", "m")), Input("w", ("n", "k")))) == ["x", "w"]
    # Stepping from one row to the next is no box of neighbours in memory.
    assert names(product(Input("x", ("m", "k", "a")), w, ("a",))) == ["w"]
    long = ("a", "b", "c", "d", "m", "k")
    assert names(product(Input("x", long), w, long[:4])) == ["w"]
    assert names(product(Input("x", long[1:]), w, long[1:4])) == ["x", "w"]
    assert names(product(Input("x", ("m", "k"), "int8"), w)) == ["w"]


def test_packed_axes_keep_pointers():
    block = product(Input("x", ("m", "k")), Input("w", ("g", "k", "n")), ("g",))
    assert names(block) == ["x", "w"]
    places = tuple((a, Pack("m") if a == "g" else p) for a, p in block.places)
    assert names(replace(block, places=places)) == []


def test_a_range_that_ends_within_a_tile_for_all_rows_keeps_pointers():
    block = product(Input("x", ("m", "k")), Input("w", ("k", "n")))
    (walk,) = block.walks
    fixed, moving = Bound((), Size("m")), Bound((("m", 1),), s.num(1))
    assert names(replace(block, walks=(replace(walk, stop=(moving,)),))) == ["x", "w"]
    assert names(replace(block, walks=(replace(walk, stop=(fixed,)),))) == []
    assert names(replace(block, walks=(replace(walk, start=(fixed,)),))) == []
    apart = replace(walk, start=(fixed,), clear=Clear(start=(fixed,)))
    assert names(replace(block, walks=(apart,))) == ["x", "w"]


@given(
    st.lists(st.sampled_from([0, 1, 2, 3, 4, 8, 12, 16, 40]), min_size=1, max_size=4),
    st.sampled_from(["fp32", "fp16", "bf16"]),
)
def test_aligned_is_what_strides_say(shape, dtype):
    axes = tuple("abcd"[: len(shape)])
    sizes = dict(zip(axes, shape, strict=True))
    size = BYTES[dtype]
    strides = np.zeros(shape, {2: np.int16, 4: np.int32}[size]).strides
    outer = [by for by, n in zip(strides[:-1], shape[:-1], strict=True) if n > 1]
    wanted = 0 not in shape and all(by % 16 == 0 for by in outer)
    assert aligned(Input("x", axes), sizes, dtype) == wanted


def test_strides_stay_below_the_limit():
    huge = {"b": 2, "m": 1 << 20, "k": 1 << 20}
    assert not aligned(Input("x", ("b", "m", "k")), huge, "bf16")
    assert aligned(Input("x", ("b", "m", "k")), huge | {"b": 1}, "bf16")


def test_only_launches_with_operands_ask_for_descriptors():
    graph = s.online_attention(split=True)
    asked = with_descriptors(graph, (Config(()), Config((), warps=8)))
    assert asked == (Config((), descriptors=True), Config((), warps=8))
    assert set(inner_axes(graph)) == {"d", "e"}
    assert inner_axes(s.two_pass_softmax()) == ()
