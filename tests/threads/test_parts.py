"""Wide results leave in two parts, through half of the shared memory."""

from __future__ import annotations

from dataclasses import replace

from superopt.threads.build import of_config
from superopt.threads.build import shared_bytes
from superopt.threads.parts import is_wide
from superopt.threads.parts import parted
from superopt.threads.parts import parts
from superopt.threads.parts import wide_axes
from superopt.ugraph.levels import Config
from tests.threads.cases import block
from tests.threads.cases import config

SHARED = 227 * 1024  # of a multiprocessor, sm_90


def test_the_widest_tiles_leave_in_two_parts():
    assert [parts(n) for n in (16, 64, 128, 256)] == [1, 1, 1, 2]


def test_columns_of_the_grid_are_parted_and_whole_ones_are_not():
    matmul, attention = block("matmul"), block("plain")
    assert parted(matmul, matmul.stores[0]) == "n"
    assert parted(attention, attention.stores[0]) == ""
    wide = Config((("m", 64), ("k", 64), ("n", 256)), consumers=2)
    assert wide_axes(matmul, wide) == {"n"}
    assert is_wide(wide)
    assert not wide_axes(matmul, replace(wide, tiles=(("m", 64), ("k", 64), ("n", 128))))
    assert not is_wide(replace(wide, consumers=0))


def test_a_wide_result_has_half_of_the_memory_so_four_slots_fit():
    matmul = block("matmul")
    bytes_of = {
        (n, slots): shared_bytes(
            of_config(matmul, replace(config(matmul, n=n), consumers=2, stages=slots), "bf16"),
            "bf16",
        )
        for n in (128, 256)
        for slots in (3, 4)
    }
    slot = {n: 2 * (2 * 64 * 64 + 64 * n) for n in (128, 256)}
    for n in (128, 256):
        assert bytes_of[n, 4] - bytes_of[n, 3] == slot[n]
        assert bytes_of[n, 3] - 3 * slot[n] == 2 * 2 * 64 * 128  # both consumers' parts
    assert bytes_of[256, 4] + 1024 <= SHARED
