"""``superopt approximate``: a substitute for an operator, by name, with its measured error."""

from __future__ import annotations

import sys
from pathlib import Path

from superopt.approximate.measure import deviations
from superopt.approximate.per_tile import per_tile
from superopt.approximate.per_tile import rounded_axes
from superopt.approximate.write import deviation_lines
from superopt.approximate.write import substitute_text
from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED
from superopt.errors import NoRepair
from superopt.errors import UserError
from superopt.loading import load_one


def run_approximate(target: str, tile: int, out: Path | None, seed: int) -> int:
    """Write the spec of the substitute; 0, or 1 if there is none, with the reason."""
    spec = load_one(target)
    axes = rounded_axes(spec.program)
    if len(axes) != 1:
        print(f"refused: {spec.name} {_no_substitute(axes)}", file=sys.stderr)
        return NONE_FOUND
    (axis,) = axes
    if all(case.sizes[axis] % tile for case in spec.cases):
        raise UserError(f"no case has a multiple of {tile} positions on {axis}; see --tile")
    try:
        substitute = per_tile(spec.program, axis)
    except NoRepair as error:
        print(f"refused: {error}", file=sys.stderr)
        return NONE_FOUND
    found = deviations(spec.program, substitute, axis, tile, spec.dtype, seed)
    for one in found:
        print(*deviation_lines(one), sep="\n", file=sys.stderr)
    text = substitute_text(spec, substitute, axis, tile, found)
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text)
    return VERIFIED


def _no_substitute(axes: tuple[str, ...]) -> str:
    """Why there is no axis whose tiles can each have a scale of their own."""
    if axes:
        return (
            f"rounds by folds over several axes, {', '.join(axes)}; a substitute has tiles of one"
        )
    return "has no round_to that reads a fold (a scale from a maximum), so there is none to replace"
