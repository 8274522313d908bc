"""Walks in several loops: their text, their results in the interpreter, and that they compile."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from superopt.emit.block import print_block
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.masks import cleared
from superopt.ugraph.ranges import narrow
from tests import samples as s
from tests.emit.conftest import verdicts
from tests.emit.segment_cases import COMPILED
from tests.emit.segment_cases import SEGMENTS


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    directory = tmp_path_factory.mktemp("interpreted_segments")
    return verdicts("tests.emit.interpreted_segments", directory)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return verdicts("tests.emit.compiled_segments", tmp_path_factory.mktemp("compiled_segments"))


@pytest.mark.parametrize("check", [f"{n}-{c}" for n in SEGMENTS for c in ("numbers", "nan")])
def test_interpreted(interpreted: dict[str, str], check: str) -> None:
    assert interpreted[check] == ""


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(compiled: dict[str, str], name: str) -> None:
    assert compiled[name] == ""


def loops(block: BlockGraph) -> list[str]:
    """The loops of a kernel, each with its body."""
    text = print_block(block, "kernel").text
    found = re.split(r"\n(?= +for | {4}if not)", text)[1:]
    return [loop.split("\n    tl.store")[0] for loop in found]


def test_a_causal_walk_masks_in_its_last_loop_only() -> None:
    clear, masked = loops(cleared(s.online_attention(causal=True).kernels[0]))
    assert clear.startswith("    for n_first in range(0, n_clear, TILE_N):")
    assert masked.startswith("    for n_first in range(n_clear, n_stop, TILE_N):")
    assert "n_at" not in clear
    assert "n_in" not in clear
    assert "n_at[None, :] <= m_at[:, None]" in masked
    assert "where_3_in = tl.where(n_in[None, :]" in masked


def test_from_the_end_the_masked_loop_is_the_first() -> None:
    block = cleared(s.online_attention(causal=True).kernels[0])
    backwards = replace(block, walks=(replace(block.walks[0], reverse=True),))
    masked, clear = loops(backwards)
    assert "<= m_at" in masked
    assert "<= m_at" not in clear


def test_masked_tiles_at_both_ends_share_a_loop() -> None:
    window = SEGMENTS["window"]().graphs[0].kernels[0]
    clear, masked = loops(window)
    assert "range(n_clear_first, n_clear, TILE_N)" in clear
    assert "range(n_start, n_stop - n_skipped, TILE_N)" in masked
    assert "n_first = tl.where(n_from < n_clear_first, n_from, n_from + n_skipped)" in masked
    assert "width" in masked
    assert "width" not in clear


def test_without_masks_the_ragged_end_may_have_a_loop_of_its_own() -> None:
    block = cleared(s.online_attention().kernels[0], ragged=("n",))
    assert "    n_clear = n_size // TILE_N * TILE_N\n" in print_block(block, "kernel").text
    clear, guard, last = loops(block)
    assert "n_in" not in clear
    assert guard == "    if not EVEN_N:"
    assert last.startswith("        for n_first in range(n_clear, n_size, TILE_N):")
    assert "n_in" in last


def test_loops_of_one_walk_use_the_same_names_for_the_same_values() -> None:
    clear, masked = loops(cleared(s.online_attention(causal=True).kernels[0]))
    assert "        k = tl.load(" in clear
    assert "        k = tl.load(" in masked
    assert "_2 = tl.dot" not in masked


def test_limits_from_memory_are_wide_cut_and_loaded_once() -> None:
    text = print_block(SEGMENTS["shifted"]().graphs[0].kernels[0], "kernel").text
    assert text.count("tl.load(first_ptr") == 1
    assert text.count("tl.load(length_ptr") == 1
    assert re.search(r"m_at \+ \(?first\w*\.to\(tl\.int64\)", text)
    for line in re.findall(r"n_(?:last|least)\w* = [^=]*", text):
        assert "tl.minimum(tl.maximum(" in line
        assert "n_size" in line


def test_without_clear_tiles_nothing_changes() -> None:
    block = narrow(s.online_attention(causal=True).kernels[0])
    assert len(loops(block)) == 1
    plain = s.online_attention().kernels[0]
    assert print_block(cleared(plain), "kernel").text == print_block(plain, "kernel").text
