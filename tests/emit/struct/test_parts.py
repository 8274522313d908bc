"""Wide results leave in parts: half the memory, the same launch, and nothing spilled on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from superopt.emit.ahead import launch_specs
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.parse import parse_as
from superopt.ugraph.scalar import Fn
from superopt.verify.run.compile_kernel import facts_of
from tests import samples
from tests.emit.harness import load
from tests.threads.cases import MATMUL

PARAMS = (Input("x", ("m", "k")), Input("y", ("k", "n")))
SUM = samples.total("k", samples.mul(*PARAMS))
VALUE = samples.mul(SUM, Map(Fn.ERF, (SUM,)))
PROGRAM = Program("wide_linear", PARAMS, (Store("out", ("m", "n"), None, VALUE),))
TEXT = MATMUL.replace("= new(sum0[m n])", "= mul(new(sum0[m n]), erf(new(sum0[m n])))")
GRAPH = KernelGraph("wide_linear", PARAMS, ("out",), (parse_as(BlockGraph, TEXT),))
SIZES = {"m": 4096, "k": 4096, "n": 4096}
WIDE = Config((("m", 64), ("k", 64), ("n", 256)), stages=4, consumers=2, group=8)


def text(config: Config) -> str:
    return emit(PROGRAM, [GRAPH], [Row("one", 0, (config,), tuple(SIZES.items()))], Header(""))


def test_the_text_is_one_whatever_the_tile():
    narrow = replace(WIDE, tiles=(("m", 64), ("k", 64), ("n", 128)))
    body = [
        t.partition("PLANS = ")[0].partition("import functools")[2]
        for t in map(text, (WIDE, narrow))
    ]
    assert body[0] == body[1]
    assert "OUT_PARTS: gl.constexpr = 1 + TILE_N // 256" in body[0]


def test_the_box_of_a_copy_is_a_part():
    assert "(out, (m_tile, _part(n_tile)), launch.consumers)" in text(WIDE)
    for columns, part in ((64, 64), (128, 128), (256, 128)):
        config = replace(WIDE, tiles=(("m", 64), ("k", 64), ("n", columns)))
        (spec,) = launch_specs(GRAPH, (config,), SIZES, "bf16")
        assert dict(spec.signature)["out_desc"].startswith(f"tensordesc<bf16[64, {part}],")
        assert dict(spec.signature)["y_desc"].startswith(f"tensordesc<bf16[64, {columns}],")


@pytest.mark.parametrize("persistent", [0, 1])
def test_four_slots_of_wide_tiles_compile_without_spills(tmp_path: Path, persistent):
    config = replace(WIDE, persistent=persistent)
    module = load(text(config), tmp_path / "wide.py")
    (spec,) = launch_specs(GRAPH, (config,), SIZES, "bf16")
    facts = facts_of(module, spec, "sm_90")
    assert facts.spill_bytes == 0
    assert facts.shared_bytes <= 227 * 1024
