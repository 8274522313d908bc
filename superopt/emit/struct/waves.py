"""Programs that take several tiles of the grid, one after the other.

There are P programs. A wave is P tiles in the order of the grid, one for each program: in the
order of programs, and in every other wave in the opposite one. If P is at most the number of
multiprocessors, what runs at the same time are neighbours, which share operands in the L2, as they
are where each tile has its program; and where the work of a tile falls (or grows) along the order,
what a program has too much of in one wave it lacks in the next. If there are more, the device deals
them out, and waves are not turned: programs with more work shall come first.

Each role finds out by itself which tiles it has and how long their walks are, so no role waits
for another one between two tiles. Rings go on: how often a ring has been filled is counted on.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass
from textwrap import dedent

from superopt.emit.names import Namer
from superopt.emit.struct.dialect import used
from superopt.emit.writer import INDENT
from superopt.syntax import parsed

HOST = '''

def _at_once(tiles, device, each):
    """How many programs take ``tiles`` tiles: as few as fill the waves that one on each
    multiprocessor would, or (``each``) more, so that none takes more than so many. Raises
    ValueError where roles should not have been taken."""
    if tiles >= LARGEST // 2:
        raise ValueError(f"a launch has {tiles} tiles; they are counted in 32 bits")
    programs = min(tiles, _multiprocessors(device))
    if each:
        return max(programs, triton.cdiv(tiles, each))
    return triton.cdiv(tiles, triton.cdiv(tiles, programs))


@functools.lru_cache(maxsize=64)
def _multiprocessors(device):
    """How many multiprocessors a device has."""
    return torch.cuda.get_device_properties(device).multi_processor_count

'''
HERE = "gl.program_id(0)"
ALL = "gl.num_programs(0)"


@dataclass(frozen=True)
class Waves:
    """Names of the numbers of a loop over tiles. ``tiles``: how many there are, which the entry
    tells the roles. ``wave``: how many the program has had. ``place``: of the program in the wave.
    ``tile``: the number of the tile in hand. ``turned``: every other wave is."""

    tiles: str
    wave: str
    place: str
    tile: str
    turned: bool = True

    @classmethod
    def named(cls, names: Namer, turned: bool = True) -> Waves:
        """With names that nothing else has."""
        tiles, wave, place, tile = map(names.fresh, ("tiles", "wave", "place", "tile"))
        return cls(tiles, wave, place, tile, turned)

    def around(self, body: list[str]) -> list[str]:
        """The loop over all tiles of a program, each of which is ``body``."""
        wave, place, tile = self.wave, self.place, self.tile
        other = f"gl.where({wave} % 2 == 0, {HERE}, {ALL} - 1 - {HERE})"
        return [
            f"{INDENT}for {wave} in range(0, gl.cdiv({self.tiles}, {ALL})):",
            f"{INDENT * 2}{place} = {other if self.turned else HERE}",
            f"{INDENT * 2}{tile} = {wave} * {ALL} + {place}",
            f"{INDENT * 2}if {tile} < {self.tiles}:",
            *(INDENT * 2 + line if line else "" for line in body),
        ]

    def every(self, count: str, which: str, body: list[str]) -> list[str]:
        """``body`` for every tile whose number is ``which`` modulo ``count``, of those that the
        program has."""
        return [
            f"{INDENT}if {self.wave} % {count} == {which}:",
            *(INDENT + line if line else "" for line in body),
        ]


def needed(lines: list[str], names: Collection[str]) -> list[str]:
    """Those of ``lines``, assignments all, that decide what ``names`` are."""
    found: list[str] = []
    wanted = set(names)
    for statement in reversed(parsed(dedent("\n".join(lines))).body):
        assert isinstance(statement, ast.Assign)
        (target,) = statement.targets
        made = used(ast.unparse(target))
        if made & wanted:
            wanted = wanted - made | used(ast.unparse(statement.value))
            assert statement.end_lineno is not None
            found[:0] = lines[statement.lineno - 1 : statement.end_lineno]
    return found
