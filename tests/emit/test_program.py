"""Which tile each program takes: every one exactly once, whatever the order and the group."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import triton.language as tl
from hypothesis import given
from hypothesis import strategies as st

from superopt.emit.block import print_block
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.node import Input

AXES = ("a", "b", "m", "n")


def copying(places: tuple[tuple[str, Place], ...], order: tuple[Turn, ...]) -> BlockGraph:
    """A kernel that copies a tensor."""
    return BlockGraph(places, (), (Store("out", AXES, None, Input("x", AXES)),), order)


def swizzle(*numbers: int) -> tuple[int, int]:
    """Triton's own function, on Python numbers."""
    found: dict[str, object] = {"core": SimpleNamespace(minimum=min)}
    exec(inspect.getsource(tl.swizzle2d.fn).removeprefix("@jit\n"), found)
    return found["swizzle2d"](*numbers)  # type: ignore[operator,no-any-return]


FAKE = SimpleNamespace(cdiv=lambda a, b: -(-a // b), swizzle2d=swizzle)


def numbered(block: BlockGraph, known: dict[str, int], programs: int) -> list[tuple[int, ...]]:
    """The tile of every program, by the printed lines that say so."""
    text = print_block(block, "copy").text.partition("):\n")[2]
    lines = [line.strip() for line in text.splitlines()]
    lines = lines[: next(i for i, line in enumerate(lines) if "_first =" in line)]
    found = []
    for program in range(programs):
        tl_ = SimpleNamespace(**vars(FAKE), program_id=lambda _, p=program: p)
        names: dict[str, object] = {**known, "tl": tl_}
        exec("\n".join(lines), names)
        found.append(
            tuple(names[f"{a}_tile" if f"{a}_tile" in names else f"{a}_at"] for a in order(block))
        )
    return found


def order(block: BlockGraph) -> list[str]:
    return [t.axis for t in block.order]


@given(
    st.permutations(AXES),
    st.tuples(*[st.booleans()] * 4),
    st.tuples(*[st.integers(1, 5)] * 4),
    st.integers(1, 4),
    st.sampled_from([None, "a", "b"]),
)
def test_every_tile_is_taken_once(
    axes: list[str],
    reverse: tuple[bool, ...],
    sizes: tuple[int, ...],
    group: int,
    packed: str | None,
) -> None:
    size = dict(zip(AXES, sizes, strict=True))
    places: dict[str, Place] = {"a": Grid(tiled=False), "b": Grid(), "m": Grid(), "n": Grid()}
    if packed is not None:
        places[packed] = Pack("m")
    turns = tuple(Turn(a, r) for a, r in zip(axes, reverse, strict=True) if a != packed)
    block = copying(tuple(places.items()), turns)
    counts = {a: size[a] if a == "a" else -(-size[a] // 2) for a in order(block)}
    if packed is not None:
        counts["m"] = -(-size["m"] * size[packed] // 2)
    known = {f"{a}_size": n for a, n in size.items()} | {f"TILE_{a.upper()}": 2 for a in AXES}
    programs = 1
    for count in counts.values():
        programs *= count
    found = numbered(block, known | {"GROUP": group}, programs)
    assert len(set(found)) == programs
    assert all(0 <= at < n for tile in found for at, n in zip(tile, counts.values(), strict=True))


def test_a_group_is_a_block_of_tiles() -> None:
    places: dict[str, Place] = {
        "a": Grid(tiled=False),
        "b": Grid(tiled=False),
        "m": Grid(),
        "n": Grid(),
    }
    block = copying(tuple(places.items()), tuple(Turn(a) for a in AXES))
    known = {"a_size": 1, "b_size": 1, "m_size": 6, "n_size": 4, "TILE_M": 2, "TILE_N": 1}
    found = [tile[2:] for tile in numbered(block, known | {"GROUP": 2}, 12)]
    assert found[:8] == [(m, n) for n in range(4) for m in range(2)]
    assert found[8:] == [(2, n) for n in range(4)]
    plain = [tile[2:] for tile in numbered(block, known | {"GROUP": 1}, 12)]
    assert plain == [(m, n) for m in range(3) for n in range(4)]
