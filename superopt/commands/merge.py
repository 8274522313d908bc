"""``superopt merge``: joining finished results of parts of an axis, derived, judged and written."""

from __future__ import annotations

import sys
from pathlib import Path

from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED
from superopt.errors import NoRepair
from superopt.errors import UserError
from superopt.loading import load_one
from superopt.merge.alone import conditions
from superopt.merge.find import Found
from superopt.merge.find import folded
from superopt.merge.find import merge
from superopt.merge.judge import judged_pair
from superopt.merge.pair import paired
from superopt.merge.write import merge_text
from superopt.spec import Spec
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken


def run_merge(target: str, axis: str, parts: int | None, out: Path | None, seed: int) -> int:
    """Write the spec of the joining; 0, or 1 if there is none, with the reason for each axis."""
    spec = load_one(target)
    axes = folded(spec.program)
    if axis and axis not in axes:
        have = ", ".join(axes) or "none"
        raise UserError(f"{spec.name} folds nothing over {axis!r}; it folds over: {have}")
    found = {a: f for a in ([axis] if axis else axes) if (f := _merged(spec, a, seed)) is not None}
    if len(found) > 1:
        raise UserError(f"results can be joined over {', '.join(found)}: name one with --axis")
    for merging, claims in found.values():
        program = merging.program if parts is not None else paired(merging.program, merging.along)
        if parts is None:
            claims = (*claims, judged_pair(merging, program, seed))
        for claim, verdict in claims:
            print(f"{claim}: {spoken(verdict)}", file=sys.stderr)
        if not all(accepted(verdict) for _, verdict in claims):
            return NONE_FOUND
        asked = conditions(spec.program, merging.axis)
        for sentence in asked:
            print(f"asked of parts: {sentence}", file=sys.stderr)
        text = merge_text(spec, merging, program, parts, asked)
        if out is None:
            sys.stdout.write(text)
        else:
            out.write_text(text)
        return VERIFIED
    return NONE_FOUND


def _merged(spec: Spec, axis: str, seed: int) -> Found | None:
    """The joining over ``axis``, or None with the reason on the error stream."""
    try:
        return merge(spec.program, axis, seed)
    except NoRepair as error:
        print(f"refused over {axis}: {error}", file=sys.stderr)
        return None
