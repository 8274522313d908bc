"""What a search offers beside its kernels: substitutes, by name and with their measured error."""

from __future__ import annotations

from superopt.approximate.measure import deviations
from superopt.approximate.per_tile import per_tile
from superopt.approximate.per_tile import rounded_axes
from superopt.approximate.write import deviation_lines
from superopt.errors import NoRepair
from superopt.spec import Spec

TILE = 128  # positions that share a scale


def offers(spec: Spec, seed: int = 0) -> tuple[str, ...]:
    """One text for each substitute of ``spec``. None of them is searched: whoever wants one asks
    for it by name."""
    found: list[str] = []
    for axis in rounded_axes(spec.program):
        if not any(case.sizes[axis] and case.sizes[axis] % TILE == 0 for case in spec.cases):
            continue
        try:
            other = per_tile(spec.program, axis)
        except NoRepair:
            continue  # there is nothing to offer
        measured = deviations(spec.program, other, axis, TILE, spec.dtype, seed)
        found.append(
            f"per-tile scale: one pass over {axis}, of which {TILE} positions at a time are "
            "rounded with a scale of their own. It does not compute this operator. "
            + " ".join(line.strip() for one in measured for line in deviation_lines(one))
            + f" To have it: superopt approximate FILE:{spec.name} --tile {TILE} --out OTHER.py, "
            "then superopt search OTHER.py"
        )
    return tuple(found)
