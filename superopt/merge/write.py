"""A way to join results of parts, as a file with a spec that can be searched like any other."""

from __future__ import annotations

from collections.abc import Sequence

from superopt.merge.derive import Merging
from superopt.spec import Spec
from superopt.spec_text import case_texts
from superopt.spec_text import spec_text
from superopt.ugraph.levels import Program

MOST_POSITIONS = 1000  # that a part has, where their numbers are drawn


def merge_text(
    spec: Spec, merging: Merging, program: Program, parts: int | None, asked: Sequence[str]
) -> str:
    """The file of ``program``, which is that of ``merging`` or, for two parts, its pair.

    ``parts``: how many parts cases have (None: it is the pair); ``asked``: what is asked of parts,
    in sentences.

    Raises:
        NotEmittable: the language of specs has no word for some node.
    """
    axis, length = merging.along, merging.length
    kept = "along " + axis if parts is not None else "first a, then b"
    notes = [
        f"Results of `{spec.name}` over parts of {merging.axis}, joined.",
        "",
        f"Parts come in the order of their positions, {kept}.",
    ]
    notes += asked
    if any(p.name.startswith(length) for p in program.params):
        notes.append(f"{length}: the number of positions of each part, not 0 for all.")
    drawn = [f"{length}=Uniform(1, {MOST_POSITIONS})"]
    more = drawn if length in {p.name for p in program.params} else []
    sizes = {} if parts is None else {axis: parts}
    cases = case_texts(spec.cases, program, spec.dtype, sizes, more)
    what = f"`{spec.name}` of the whole, from that of parts."
    return spec_text(program, cases, spec.dtype, "\n".join([*notes, ""]), what)
