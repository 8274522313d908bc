"""Tiles that programs take one after the other: each is dealt out once, and work evenly."""

from __future__ import annotations

from textwrap import dedent
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.emit.names import Namer
from superopt.emit.struct.waves import Waves
from superopt.emit.struct.waves import needed


def dealt(tiles: int, programs: int) -> list[list[int]]:
    """The tiles of every program, by the text."""
    waves = Waves.named(Namer())
    text = dedent("\n".join(waves.around([f"    had.append({waves.tile})"])))
    found = []
    for program in range(programs):
        gl = SimpleNamespace(
            cdiv=lambda a, b: -(-a // b),
            where=lambda c, a, b: a if c else b,
            program_id=lambda _, p=program: p,
            num_programs=lambda _: programs,
        )
        had: list[int] = []
        exec(text, {"gl": gl, "had": had, waves.tiles: tiles})
        found.append(had)
    return found


@given(st.integers(0, 300), st.integers(1, 40))
def test_every_tile_is_that_of_one_program_once(tiles, programs):
    found = dealt(tiles, programs)
    assert sorted(t for had in found for t in had) == list(range(tiles))
    # What runs at the same time are neighbours.
    assert all(t // programs == wave for had in found for wave, t in enumerate(had))


@pytest.mark.parametrize(("rows", "heads"), [(32, 128), (24, 128), (128, 32)])
def test_programs_have_alike_much_of_tiles_that_grow_shorter(rows, heads):
    """As tiles under a diagonal do, within each head; nobody has more than half a tile too much."""
    work = [rows - i % rows for i in range(heads * rows)]
    mean = sum(work) / 132
    assert max(sum(work[t] for t in had) for had in dealt(len(work), 132)) < mean + rows / 2 + 1
    assert max(sum(work[p::132]) for p in range(132)) > 1.05 * mean  # in the same order each time


def test_what_decides_about_names_is_found_backwards():
    lines = [
        "    pid = tile",
        "    m_tiles = gl.cdiv(m_size, 64)",
        "    m_tile = pid % m_tiles",
        "    pid = pid // m_tiles",
        "    h_at = pid",
        "    n_stop = gl.minimum(",
        "        n_size,",
        "        m_tile * 64,",
        "    )",
        "    a, b = gl.swizzle2d(m_tile, h_at)",
    ]
    assert needed(lines, {"h_at"}) == lines[:2] + lines[3:5]
    assert needed(lines, {"m_tile"}) == lines[:3]
    assert needed(lines, {"n_stop"}) == [*lines[:3], *lines[5:9]]
    assert needed(lines, {"b"}) == [*lines[:5], lines[9]]
    assert needed(lines, {"m_size"}) == []


@pytest.mark.parametrize("taken", ["wave", "tile"])
def test_names_are_those_of_nothing_else(taken):
    names = Namer()
    names.fresh(taken)
    assert taken not in vars(Waves.named(names)).values()
