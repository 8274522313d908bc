"""Programs in groups: a permutation of tiles, for all sizes and whatever the group."""

from __future__ import annotations

from functools import cache

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
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import spoken
from tests import samples
from tests.threads.cases import MATMUL

SIZES = (("m", 512), ("k", 256), ("n", 512))
SWIZZLED = "m_tile, n_tile = tl.swizzle2d(m_tile, n_tile, m_tiles, n_tiles, GROUP)"


@cache
def text(group: int, consumers: int = 0, order: str = "m n", columns: int = 128) -> str:
    """A matrix product; the plain one alone, or beside one with roles. (Results with 256 columns
    leave in two parts.)"""
    params = (Input("x", ("m", "k")), Input("y", ("k", "n")))
    value = samples.total("k", samples.mul(*params))
    program = Program("matmul", params, (Store("out", ("m", "n"), None, value),))
    block = parse_as(BlockGraph, MATMUL.replace("order m n", f"order {order}"))
    tiles = (("m", 64), ("k", 64), ("n", columns))
    configs = [Config(tiles, group=group)]
    if consumers:
        configs.append(Config(tiles, stages=2, group=group, consumers=consumers))
    rows = [Row("one", 0, (c,), SIZES) for c in configs]
    return emit(program, [KernelGraph("matmul", params, ("out",), (block,))], rows, Header(""))


@pytest.mark.parametrize("order", ["m n", "n m"])
@pytest.mark.parametrize(
    ("group", "consumers", "columns"), [(2, 0, 128), (8, 1, 128), (8, 2, 256), (6, 3, 64)]
)
def test_every_claim_is_proved(group, consumers, columns, order):
    claims = read_symbolic(text(group, consumers, order, columns), "matmul", refute=False).claims
    assert [f"{c}: {spoken(v)}" for c, v in claims if not isinstance(v, Proved)] == []


@pytest.mark.parametrize(
    ("new", "wrong"),
    [
        # The last group has fewer rows than others, so rows and columns are no others' numbers.
        (SWIZZLED.replace("(m_tile, n_tile, m", "(n_tile, m_tile, m"), "every element of out"),
        (SWIZZLED.replace("m_tiles, n_tiles", "n_tiles, m_tiles"), "every element of out"),
        (SWIZZLED.replace("m_tiles, n_tiles", "m_tiles + 1, n_tiles"), "every element of out"),
        (SWIZZLED.replace("m_tiles, n_tiles", "m_tiles, n_tiles + 1"), "every element of out"),
    ],
)
def test_another_permutation_is_refuted(new, wrong):
    changed = text(8)
    assert changed.count(SWIZZLED) == 1
    claims = read_symbolic(changed.replace(SWIZZLED, new), "matmul").claims
    refuted = [c for c, v in claims if isinstance(v, Refuted)]
    assert any(wrong in c for c in refuted), refuted
