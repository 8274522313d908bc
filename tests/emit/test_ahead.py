from __future__ import annotations

import pytest

from superopt.emit.ahead import launch_specs
from superopt.errors import NotEmittable
from superopt.ugraph.levels import Config
from tests import samples as s
from tests.emit.cases import CASES
from tests.grouped import grouped
from tests.grouped import packed

TARGETS = ("sm_90-bf16", "sm_80-fp16", "sm_100-fp32")
ALL = [f"{n}-{t}" for n in CASES for t in TARGETS] + ["rms-matrix_units"]
ALL += ["softmax-free_of_masks", "softmax-keeps_nan", "attention-copies", "attention-dependent"]


@pytest.mark.parametrize("check", ALL)
def test_compiled(compiled: dict[str, str], check: str) -> None:
    assert compiled[check] == ""


def test_specification_of_a_launch() -> None:
    config = Config((("m", 4), ("n", 64)), warps=8, stages=3)
    (spec,) = launch_specs(s.two_pass_softmax(), (config,), {"m": 1, "n": 1024}, "fp16")
    assert spec.function == "softmax_g0_k0"
    assert (spec.warps, spec.stages) == (8, 3)
    assert spec.signature == (
        ("x_ptr", "*fp16"),
        ("out_ptr", "*fp16"),
        ("x_stride_m", "i64"),
        ("out_stride_m", "i64"),
        ("m_size", "constexpr"),
        ("n_size", "i32"),
        ("TILE_M", "constexpr"),
        ("TILE_N", "constexpr"),
        ("EVEN_M", "constexpr"),
        ("EVEN_N", "constexpr"),
    )
    assert dict(spec.constexprs) == {
        "m_size": 1,
        "TILE_M": 4,
        "TILE_N": 64,
        "EVEN_M": False,
        "EVEN_N": True,
    }
    assert spec.divisible == ("x_stride_m", "out_stride_m", "n_size")


def test_split_is_two_launches_and_whole_axes_follow_their_size() -> None:
    parts = Config((("m", 16), ("d", 0), ("n", 32), ("e", 0)), parts=5)
    combining = Config((("m", 16),))
    sizes = {"b": 1, "h": 2, "m": 16, "n": 100, "d": 40, "e": 8}
    graph = s.online_attention(split=True)
    first, second = launch_specs(graph, (parts, combining), sizes, "bf16", index=2)
    assert (first.function, second.function) == ("attention_g2_k0", "attention_g2_k1")
    assert dict(first.constexprs)["TILE_D"] == 64
    assert dict(first.constexprs)["TILE_E"] == 16  # a matrix product has it
    assert dict(second.constexprs)["TILE_E"] == 8
    assert dict(second.constexprs)["TILE_N_PART"] == 8
    assert dict(first.signature)["part0_o_ptr"] == "*fp32"


def test_packed_sizes_and_groups_are_constants() -> None:
    config = Config((("m", 16), ("d", 16), ("n", 16), ("e", 16)))
    sizes = {"b": 2, "g": 2, "r": 4, "m": 12, "n": 40, "d": 16, "e": 16}
    (spec,) = launch_specs(packed(grouped()), (config,), sizes, "bf16")
    known = dict(spec.constexprs)
    assert known["r_size"] == 4
    assert dict(spec.signature)["m_size"] == "i32"
    assert known["EVEN_M"]  # 48 joint positions, though 16 does not divide 12
    tiles = (("m", 16), ("k", 16), ("n", 16))
    for group in (1, 8):
        many = Config(tiles, group=group)
        shape = {"m": 32, "k": 32, "n": 32}
        (spec,) = launch_specs(s.rms_linear_one_walk(), (many,), shape, "bf16")
        assert dict(spec.constexprs)["GROUP"] == group


def test_what_is_missing_is_named() -> None:
    graph = s.two_pass_softmax()
    config = Config((("m", 4), ("n", 64)))
    with pytest.raises(NotEmittable, match="1 launches got 0 configs"):
        launch_specs(graph, (), {}, "fp32")
    with pytest.raises(NotEmittable, match="size of axis 'n' is unknown"):
        launch_specs(graph, (config,), {"m": 4}, "fp32")
    with pytest.raises(NotEmittable, match="tile of 'n'"):
        launch_specs(graph, (Config((("m", 4),)),), {"m": 4, "n": 4}, "fp32")
