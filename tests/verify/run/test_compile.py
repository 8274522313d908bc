from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from superopt.source import Facts
from superopt.source import LaunchSpec
from superopt.verify.run.compile_ahead import Compiler
from superopt.verify.run.trial import NotCompiled

KERNEL = Path(__file__).parent / "kernels" / "row_softmax.py"

SIGNATURE = (
    ("x", "*bf16"),
    ("out", "*bf16"),
    ("M", "i32"),
    ("N", "i32"),
    ("x_m", "i32"),
    ("x_n", "constexpr"),
    ("out_m", "i32"),
    ("out_n", "constexpr"),
    ("TILE_M", "constexpr"),
    ("TILE_N", "constexpr"),
)


def launch(m, n):
    constants = (("x_n", 1), ("out_n", 1), ("TILE_M", m), ("TILE_N", n))
    return LaunchSpec("row_softmax_0", SIGNATURE, constants, 4, 2, ("x_m", "out_m"))


@pytest.fixture(scope="module")
def compiler():
    with Compiler(jobs=2) as shared:
        yield shared


def test_facts_of_several_launches(compiler):
    small, large = compiler.compile(KERNEL, [launch(16, 64), launch(32, 256)], "sm_90")
    assert isinstance(small, Facts)
    assert isinstance(large, Facts)
    assert (small.function, small.target) == ("row_softmax_0", "sm_90")
    assert 8 <= small.registers <= 255
    assert small.spill_bytes == 0
    assert large.registers > small.registers
    assert large.shared_bytes >= 0


@pytest.mark.parametrize("target", ["sm_80", "sm_100"])
def test_other_targets(compiler, target):
    (facts,) = compiler.compile(KERNEL, [launch(16, 64)], target)
    assert isinstance(facts, Facts)
    assert facts.target == target


def test_a_refusal_is_a_value(compiler):
    odd, good, missing = compiler.compile(
        KERNEL, [launch(16, 63), launch(16, 64), replace(launch(16, 64), function="none")], "sm_90"
    )
    assert isinstance(odd, NotCompiled)
    assert "power of 2" in odd.why
    assert isinstance(good, Facts)
    assert isinstance(missing, NotCompiled)
    (wrong,) = compiler.compile(KERNEL, [launch(16, 64)], "h200")
    assert isinstance(wrong, NotCompiled)
    assert "sm_90" in wrong.why


def test_a_hang_costs_one_launch():
    with Compiler(jobs=1, seconds=0.001) as hurried:
        (late,) = hurried.compile(KERNEL, [launch(16, 32)], "sm_90")
        assert isinstance(late, NotCompiled)
        assert "within" in late.why
