"""Configs that were seen to be miscompiled are recognised, and their neighbours are not."""

from __future__ import annotations

import pytest

from superopt.device import target
from superopt.search.configs import configs
from superopt.search.hazards import miscompiled
from superopt.search.hazards import racing
from superopt.ugraph.levels import Config
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


def test_no_choice_is_one_of_them():
    graph = samples.rms_linear_one_walk()
    sizes = {"m": 4096, "k": 4096, "n": 4096}
    chosen = configs(graph, sizes, "bf16", H200, 40)
    assert chosen
    assert not any(miscompiled(products(), c, H200) for (c,) in chosen)
