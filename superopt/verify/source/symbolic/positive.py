"""What it says of sizes that a program of a launch runs: none of them is zero.

A launch has as many programs as its grid says, a product of sizes and numbers of tiles. Each is
shown to be at least one by itself, so that later questions need not take the product apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.verify.source.symbolic.formula import TRUE
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.table import Op
from superopt.verify.source.symbolic.table import Table


def positives(
    programs: Poly, known: Sequence[Formula], atoms: Table, prover: Prover
) -> tuple[Formula, ...]:
    """That ``programs``, and what it is made of, is at least one, where ``known`` holds and there
    is a program. Only what is proved."""
    found: dict[Formula, None] = {at_least(programs, ONE): None}
    open_ = [programs]
    while open_:
        for part in _parts(open_.pop(), atoms):
            goal = at_least(part, ONE)
            if goal != TRUE and goal not in found and goal not in known:
                if not prover.proves((*known, *found), goal, atoms, "facts", keep=False):
                    continue
                found[goal] = None
            open_.append(part)
    return tuple(found)


def _parts(poly: Poly, atoms: Table) -> tuple[Poly, ...]:
    """What has to be at least one where ``poly`` is, the simpler questions first."""
    if poly.atom is not None:
        one = atoms.definitions[poly.atom]
        match one.op, one.args:
            case Op.QUOTIENT, (dividend, divisor):
                return (dividend - divisor + ONE,)
            case Op.LEAST, args:
                return args
        return ()
    if len(poly.terms) != 1:
        return ()
    ((factors, _),) = poly.terms
    if len(factors) < 2:
        return tuple(map(atom, factors))
    return (Poly(((factors[1:], 1),)), atom(factors[0]))
