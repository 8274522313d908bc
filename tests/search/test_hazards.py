"""Configs that were seen to be miscompiled are recognised, and their neighbours are not."""

from __future__ import annotations

import pytest

from superopt.device import target
from superopt.search.configs import configs
from superopt.search.hazards import miscompiled
from superopt.search.hazards import racing
from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Fn
from tests import samples

H200 = target("h200")


def launch(m: int, k: int, n: int, warps: int, stages: int) -> Config:
    return Config((("m", m), ("k", k), ("n", n)), 1, warps, stages)


def products():
    (block,) = samples.rms_linear_one_walk().kernels
    return racing(block, "bf16")


@pytest.mark.parametrize("stages", [3, 4])
def test_what_was_seen_is_excluded(stages):
    assert miscompiled(products(), launch(128, 64, 256, 8, stages), H200)


@pytest.mark.parametrize(
    "near",
    [
        launch(128, 64, 256, 8, 2),
        launch(128, 32, 256, 8, 3),
        launch(64, 64, 256, 4, 3),
        launch(128, 64, 128, 8, 3),
    ],
)
def test_what_was_seen_to_be_right_is_not(near):
    assert not miscompiled(products(), near, H200)


def test_other_architectures_are_not_concerned():
    assert not miscompiled(products(), launch(128, 64, 256, 8, 3), target("a100"))


def test_a_moved_or_loaded_operand_is_not_concerned():
    (attention,) = samples.online_attention().kernels
    assert racing(attention, "bf16") == ()  # its accumulator is moved in every iteration


def product_of(left: Input, right: Input) -> BlockGraph:
    carry = Carry("acc", ("m", "n"), Fn.ADD, samples.mul(left, right))
    return BlockGraph(
        (("m", Grid()), ("k", Loop()), ("n", Grid())),
        (Walk("k", (carry,)),),
        (Store("out", ("m", "n"), None, carry.state),),
        (Turn("m"), Turn("n")),
    )


@pytest.mark.parametrize(
    ("left", "right", "dtype", "expected"),
    [
        ("fp32", None, "bf16", 1),  # converted in registers
        ("fp32", "bf16", "bf16", 1),
        (None, None, "bf16", 0),
        ("bf16", None, "bf16", 0),  # what the case has anyway
        (None, "fp32", "bf16", 0),  # a right operand goes through shared memory
        ("fp32", "fp32", "bf16", 0),
        ("fp32", None, "fp32", 0),
    ],
)
def test_a_left_operand_of_another_dtype_comes_from_registers(left, right, dtype, expected):
    block = product_of(Input("x", ("m", "k"), left), Input("w", ("k", "n"), right))
    found = racing(block, dtype)
    assert len(found) == expected
    assert miscompiled(found, launch(128, 64, 256, 8, 3), H200) is bool(expected)
    assert not miscompiled(found, launch(128, 64, 256, 8, 2), H200)


def test_no_choice_is_one_of_them():
    graph = samples.rms_linear_one_walk()
    sizes = {"m": 4096, "k": 4096, "n": 4096}
    chosen = configs(graph, sizes, "bf16", H200, 40)
    assert chosen
    assert not any(miscompiled(products(), c, H200) for (c,) in chosen)
