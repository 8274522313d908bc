"""Consumers that take the tiles of a program in turn: their text, its launch, the compiler."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from superopt.emit.ahead import launch_specs
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.struct.kernel import print_threads
from superopt.threads.build import of_config
from superopt.threads.build import shared_bytes
from superopt.verify.run.compile_kernel import facts_of
from superopt.verify.source.concurrent.read import planned
from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.verdict import Proved
from tests import samples
from tests.emit.harness import load
from tests.emit.struct.test_launch import WIDE as ROWS
from tests.emit.struct.test_launch import compiled
from tests.emit.struct.test_launch import online
from tests.emit.struct.test_launch import row
from tests.emit.struct.test_parts import GRAPH
from tests.emit.struct.test_parts import SIZES
from tests.emit.struct.test_parts import WIDE
from tests.emit.struct.test_parts import text
from tests.threads.cases import block
from tests.threads.cases import config

SQUARE = replace(
    WIDE, tiles=(("m", 128), ("k", 64), ("n", 128)), stages=5, persistent=1, pingpong=True
)


def consumer(name: str, **how: int | bool) -> str:
    """The text of the consumer of a case."""
    chosen = replace(config(block(name)), consumers=2, persistent=1, pingpong=True, stages=3, **how)
    printed = print_threads(of_config(block(name), chosen, "bf16"), "f").kernel.text
    _, _, rest = printed.partition("def f_consumer(")
    return rest.partition("@gluon.jit")[0]


def test_others_tiles_count_for_rings_and_for_nothing_else():
    said = consumer("matmul")
    before, _, rest = said.partition("if wave % CONSUMERS == CONSUMER:\n")
    mine, _, behind = rest.partition("\n            k_filled = k_filled + k_count\n")
    assert "k_count = gl.cdiv(k_size, TILE_K)" in before
    assert "mbarrier" not in before + behind
    assert all(line.startswith(" " * 16) for line in mine.splitlines())


def test_the_next_walk_begins_when_the_last_product_is_issued():
    """Not when it is done: the matrix unit would idle."""
    said = consumer("matmul")
    passed = "mbarrier.arrive(walks.index((CONSUMER + 1) % CONSUMERS))"
    begun, *others = said.split(passed)
    assert len(others) == 2  # behind the loop, and where the walk has no tile
    assert begun.count("warpgroup_mma(") == said.count("warpgroup_mma(")
    assert "num_outstanding=0" in others[0]
    assert others[0].rstrip().endswith("else:")
    # Of a product that needs what is computed, the last one is issued behind the loop.
    said = consumer("plain")
    *_, last, rest = said.split("warpgroup_mma(")
    assert passed in rest
    assert passed not in last


def test_nothing_is_split_and_each_has_a_buffer_for_its_results():
    graph = of_config(block("matmul"), replace(config(block("matmul")), consumers=2), "bf16")
    chosen = replace(graph.config, persistent=1, pingpong=True)
    alone = of_config(block("matmul"), chosen, "bf16")
    assert (graph.split, alone.split, alone.rows) == ("m", "", "m")
    printed = print_threads(alone, "f")
    assert printed.rows == ""
    assert "TILE_M * CONSUMERS" not in printed.kernel.text
    assert (
        "out_tiles = gl.allocate_shared_memory(\n        out_desc.dtype,\n        [CONSUMERS, "
        in (printed.kernel.text)
    )
    empty = r"mbarrier.init\(x_y_empty.index\(slot\), count=(\w+)\)"
    assert re.findall(empty, printed.kernel.text) == ["1"]
    assert re.findall(empty, print_threads(graph, "f").kernel.text) == ["CONSUMERS"]
    # Of what comes one tile, not two; of what leaves as much.
    x, out = (2 * alone.config.tile["m"] * alone.config.tile[a] for a in "kn")
    assert shared_bytes(graph, "bf16") - shared_bytes(alone, "bf16") == 2 * x
    assert shared_bytes(alone, "bf16") > 2 * out


def test_kinds_of_one_file_take_what_they_take_of_shared_memory(tmp_path: Path):
    several = replace(ROWS, persistent=1)
    rows = [several, replace(several, pingpong=True), replace(several, persistent=2, pingpong=True)]
    plain = row(replace(ROWS, consumers=0), target="sm_90")
    source = emit(samples.attention(), [online(False)], [*map(row, rows), plain], Header(""))
    assert "programs = b_size * h_size * triton.cdiv(m_size, m_tile * 2)" in source
    assert "programs = b_size * h_size * triton.cdiv(m_size, m_tile)\n" in source
    module = load(source, tmp_path / "kinds.py")
    found = {}
    module._without_roles = lambda launch, *asked: found.setdefault(
        launch.roles, [n for *_, n in asked[-1]]
    )
    q = module.torch.randn((1, 2, 40, 128))
    if module.INTERPRETED:
        for plan in module.PLANS[:3]:
            module.attention(q, q, q, plan=plan)
        slots = ROWS.stages
        assert found == {
            "persistent1": [2, slots, slots, 2],
            "persistent1_pingpong": [1, slots, slots, 2],
            "persistent2_pingpong": [2, slots, slots, 2],
        }
    claims = dict(read_symbolic(source, "attention").claims)
    assert all(isinstance(verdict, Proved) for verdict in claims.values())
    assert len(planned(read_text(source), 0)) == 3


@pytest.mark.parametrize(
    "chosen", [SQUARE, replace(SQUARE, tiles=WIDE.tiles, stages=4)], ids=["128x128", "64x256"]
)
def test_they_compile_without_spills(tmp_path: Path, chosen):
    """A message that products are serialised raises."""
    module = load(text(chosen), tmp_path / "square.py")
    (spec,) = launch_specs(GRAPH, (chosen,), SIZES, "bf16")
    facts = facts_of(module, spec, "sm_90")
    assert facts.function == "wide_linear_g0_k0_roles2_persistent1_pingpong"
    assert facts.spill_bytes == 0
    graph = of_config(GRAPH.kernels[0], chosen, "bf16")
    assert 0 <= facts.shared_bytes - shared_bytes(graph, "bf16") <= 1024


@pytest.mark.parametrize(("name", "tiles"), [("behind", {}), ("gated", {"m": 64, "n": 128})])
def test_two_products_and_what_is_computed_beside_them_compile(tmp_path: Path, name, tiles):
    chosen = config(block(name), **tiles)
    facts = compiled(tmp_path, name, tiles=chosen.tiles, persistent=1, pingpong=True)
    assert facts.spill_bytes == 0
