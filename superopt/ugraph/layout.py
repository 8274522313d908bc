"""How tile values lie over the lanes and warps of a program, as far as their cost depends on it.

A compiler lets lanes follow the innermost axis of what is loaded. So a fold along that axis goes
from lane to lane, and from warp to warp where it is long; one along another axis stays within each
thread. What a matrix instruction of single warps takes as its left operand is in every warp that
works on other columns, and so is what is computed beside it, unless that is worth moving.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from superopt.ugraph.profile import Profile
from superopt.ugraph.steps import Region
from superopt.ugraph.steps import Step
from superopt.ugraph.steps import What


@dataclass(frozen=True)
class Folding:
    """A fold before tiles have lengths: ``region``; the axes that are kept, and those that are
    folded; ``lanes`` and ``product`` as in ``counts.Fold``."""

    region: Region
    kept: tuple[str, ...]
    folded: tuple[str, ...]
    lanes: bool
    product: bool


def foldings(prof: Profile, host: Mapping[str, str]) -> tuple[Folding, ...]:
    """The folds of ``prof`` other than matrix products. ``host``: as in ``pack.hosts``."""
    found: list[Folding] = []
    for region in prof.regions:
        loads = [s.work[-1] for s in region.steps if s.what is What.LOAD and s.work]
        innermost = {host.get(a, a) for a in loads}
        axis = None if region.walk is None else prof.block.nest[region.walk].axis
        products = any(s.what is What.PRODUCT for s in region.steps)
        for step in region.steps:
            if step.what is not What.FOLD:
                continue
            kept = step.result
            if kept is None:
                kept = tuple(a for a in step.work if a != axis)
            folded = tuple(a for a in step.work if a not in kept)
            lanes = bool(innermost.intersection(folded))
            found.append(Folding(region, kept, folded, lanes, products and not lanes))
    return tuple(found)


def beside(region: Region, product: Step) -> int:
    """Ordinary operations per element of a product's computed left operand that its region does
    over the same axes: none where special functions are among them (these are moved)."""
    row, _, depth = product.work
    steps = [s for s in region.steps if set(s.work) == {row, depth}]
    if not product.computed or any(s.special for s in steps):
        return 0
    return sum(s.plain for s in steps if s.what in (What.POINT, What.FOLD))
