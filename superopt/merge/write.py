"""A way to join results of parts, as a file with a spec that can be searched like any other."""

from __future__ import annotations

from superopt.merge.derive import Merging
from superopt.merge.spec_text import spec_text
from superopt.spec import Spec
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.node import Scalar

MOST_POSITIONS = 1000  # that a part has, where their numbers are drawn


def merge_text(
    spec: Spec, merging: Merging, program: Program, parts: int | None, empty: bool
) -> str:
    """The file of ``program``, which is that of ``merging`` or, for two parts, its pair.

    ``parts``: how many parts cases have (None: it is the pair); ``empty``: whether a part may
    have no position.

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
    notes += [] if empty else ["Every part has at least one position."]
    if any(p.name.startswith(length) for p in program.params):
        notes.append(f"{length}: the number of positions of each part, not 0 for all.")
    cases = _cases(spec, program, {} if parts is None else {axis: parts}, length)
    what = f"`{spec.name}` of the whole, from that of parts."
    return spec_text(program, cases, spec.dtype, "\n".join([*notes, ""]), what)


def _cases(spec: Spec, program: Program, extra: dict[str, int], length: str) -> list[str]:
    """The spec's own cases at the sizes that are left, the same one once."""
    axes = dict.fromkeys(a for p in program.params if isinstance(p, Input) for a in p.order)
    names = {p.name for p in program.params}
    scalars = {p.name for p in program.params if isinstance(p, Scalar)}
    found: dict[str, str] = {}
    for case in spec.cases:
        sizes = {a: {**case.sizes, **extra}[a] for a in axes}
        words = [f"{a}={n}" for a, n in sizes.items()]
        words += [f"{n}={v!r}" for n, v in case.scalars.items() if n in scalars]
        words += [f"{n}={rule!r}" for n, rule in case.integers.items() if n in names]
        words += [f"{length}=Uniform(1, {MOST_POSITIONS})"] if length in names else []
        words += [f'dtype="{case.dtype}"'] if case.dtype != spec.dtype else []
        words += ["tf32=True"] if case.tf32 else []
        text = ", ".join(words)
        found.setdefault(text, f'Case("{case.name}", {text})')
    return list(found.values())
