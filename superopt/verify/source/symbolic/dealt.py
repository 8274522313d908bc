"""Loops in which the programs of a launch deal tiles out among themselves, read as the tiles.

P programs take tiles ``wave * P + place``, one in each wave, where ``place`` depends on the program
and the wave. If place is one of the P, and the place of the place is the program, then programs and
places of a wave are each other's image; and a number is ``wave * P + place`` for one wave and one
place (Euclid). So each tile is one program's, in one wave, and there are enough waves if they are
as many as tiles fill. What is proved of any tile, and of two, then holds of programs and waves.

Roles that differ by their number c of C alone may take those tiles in turn, each the waves that
are c modulo C. That is one role for each wave, so each tile is one role's, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass

from superopt.verify.source.load import KernelText
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.descriptors import same_form
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import equal
from superopt.verify.source.symbolic.formula import polys
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import Poly

AT_ONCE = "_at_once"  # the function of a launcher that says how many programs deal out tiles
# In another form, nothing is said of them.
FORM = """
def _at_once(tiles, device, each):
    if tiles >= LARGEST // 2:
        raise ValueError(f'a launch has {tiles} tiles; they are counted in 32 bits')
    programs = min(tiles, _multiprocessors(device))
    if each:
        return max(programs, triton.cdiv(tiles, each))
    return triton.cdiv(tiles, triton.cdiv(tiles, programs))


def _multiprocessors(device):
    return torch.cuda.get_device_properties(device).multi_processor_count
"""


def is_at_once(text: KernelText) -> bool:
    """Whether the launcher counts programs in the form that is known."""
    return all(same_form(text.functions.get(n), FORM) for n in (AT_ONCE, "_multiprocessors"))


@dataclass(frozen=True)
class Deal:
    """The statements of such a loop: those that say which ``tile`` it is, by name, and what is done
    with it if it is below ``count``."""

    before: tuple[ast.stmt, ...]
    tile: str
    count: ast.expr
    body: tuple[ast.stmt, ...]


def deal(call: ast.Call, body: Sequence[ast.stmt]) -> Deal | None:
    """The parts of a loop over ``call``, if it is one that asks how many programs there are."""
    *before, last = body
    if not any("num_programs" in ast.unparse(node) for node in (call, *before)):
        return None
    match last:
        case ast.If(
            test=ast.Compare(left=ast.Name(id=tile), ops=[ast.Lt()], comparators=[count]),
            body=inner,
            orelse=[],
        ) if before and all(isinstance(s, ast.Assign) for s in before):
            return Deal(tuple(before), tile, count, tuple(inner))
        case _:
            return None


@dataclass(frozen=True)
class Alike:
    """Roles that differ by a number alone, ``which`` of 0 .. ``count`` - 1, as ``inside`` says."""

    which: Poly
    count: int
    inside: tuple[Formula, ...]


def in_turn(test: ast.expr, wave: str) -> tuple[ast.expr, ast.expr] | None:
    """(count, which) of a condition that says whose turn ``wave`` is; None if it is another one."""
    match test:
        case ast.Compare(
            left=ast.BinOp(left=ast.Name(id=name), op=ast.Mod(), right=count),
            ops=[ast.Eq()],
            comparators=[which],
        ) if name == wave:
            return count, which
        case _:
            return None


def depends(atoms: Atoms, found: Iterable[Poly], name: str) -> bool:
    """Whether one of ``found`` is computed from the atom ``name``."""
    seen: dict[str, None] = {}
    open_ = [a for p in found for a in p.atoms]
    while open_:
        if (one := open_.pop()) in seen:
            continue
        seen[one] = None
        made = atoms.definitions[one]
        made_of = [*made.args, *made.upper, *polys(made.condition)]
        open_ += [a for p in made_of for a in p.atoms]
    return name in seen


def is_fair(tile: Poly, wave: Poly, waves: Poly, pid: Poly, programs: Poly, atoms: Atoms) -> bool:
    """Whether ``tile`` names each number from 0 on once, for one wave and one of the programs;
    where ``waves`` times ``programs`` of them are what the caller asks for."""
    place = tile - wave * programs
    again = atoms.instance(place, {**atoms.fixed(), _name(pid): place}, "~")
    goals = at_least(place, ZERO), below(place, programs), equal(again, pid)
    return all(map(atoms.follows, goals)) and atoms.follows(below(wave, waves))


def waves_of(count: Poly, programs: Poly, atoms: Atoms) -> Poly:
    """How many waves ``count`` tiles fill."""
    return atoms.divided(count + programs - ONE, programs)[0]


def _name(poly: Poly) -> str:
    assert poly.atom is not None
    return poly.atom
