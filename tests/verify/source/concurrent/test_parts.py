"""Results that leave in parts are read in parts; what could go wrong there is refuted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.parse import parse_as
from superopt.verify.readings import judge_file
from superopt.verify.source.concurrent.read import read_concurrent
from superopt.verify.source.load import read_text
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from tests import samples
from tests.threads.cases import MATMUL

PARAMS = (Input("x", ("m", "k")), Input("y", ("k", "n")))
VALUE = samples.total("k", samples.mul(*PARAMS))
PROGRAM = Program("matmul", PARAMS, (Store("out", ("m", "n"), None, VALUE),))
GRAPH = KernelGraph("matmul", PARAMS, ("out",), (parse_as(BlockGraph, MATMUL),))
SIZES = (("m", 512), ("k", 256), ("n", 512))
WIDE = Config((("m", 64), ("k", 64), ("n", 256)), stages=3, consumers=2)
KINDS = {"one tile each": WIDE, "several tiles each": replace(WIDE, persistent=1)}
WAIT = "tma.store_wait(pendings=0)\n"


def text(config: Config) -> str:
    return emit(PROGRAM, [GRAPH], [Row("one", 0, (config,), SIZES)], Header(""))


def read(source: str, config: Config):
    return read_concurrent(read_text(source), PROGRAM, GRAPH, [config]).verdict


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_read(kind):
    source = text(KINDS[kind])
    assert source.count("for part in gl.static_range(OUT_PARTS):") == 1
    assert isinstance(read(source, KINDS[kind]), Sampled)


def test_every_reading_of_the_file_accepts():
    read = judge_file(text(WIDE), PROGRAM, (GRAPH,))
    assert read.wanting() == []
    assert read.open == ()


MUTANTS = {
    "the first part twice": ("out_parts[part]", "out_parts[0]"),
    "one part alone": ("static_range(OUT_PARTS)", "static_range(1)"),
    "parts that overlap": ("+ part * (TILE_N // (1 + TILE_N // 256))", "+ part * (TILE_N // 4)"),
    "even and odd columns": ("2, TILE_N // 2]).permute([0, 2, 1])", "TILE_N // 2, 2])"),
    "no fence": ("fence_async_shared()\n", "pass\n"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", MUTANTS)
def test_wrong_parts_are_refuted(what, kind):
    (old, new), source = MUTANTS[what], text(KINDS[kind])
    assert source.count(old) == 1
    assert isinstance(read(source.replace(old, new), KINDS[kind]), Refuted)


@pytest.mark.parametrize("kind", KINDS)
def test_the_part_before_has_left_before_the_next_is_written(kind):
    source = text(KINDS[kind])
    before, loop, after = source.partition("for part in gl.static_range(OUT_PARTS):\n")
    assert after.strip().startswith(WAIT.strip())
    found = read(before + loop + after.replace(WAIT, "pass\n", 1), KINDS[kind])
    assert isinstance(found, Refuted)
    assert "may still read it" in found.what
