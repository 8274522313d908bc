"""A substitute as a file with a spec, which says by name what it is and by how much it is off."""

from __future__ import annotations

from collections.abc import Sequence

from superopt.approximate.measure import Deviation
from superopt.spec import Spec
from superopt.spec_text import case_texts
from superopt.spec_text import spec_text
from superopt.ugraph.levels import Program


def substitute_text(
    spec: Spec, substitute: Program, axis: str, tile: int, found: Sequence[Deviation]
) -> str:
    """The file. Cases have the spec's sizes, of which ``axis`` must be a multiple of ``tile``.

    Raises:
        NotEmittable: the language of specs has no word for some node.
    """
    said = [
        f"A substitute for `{spec.name}`, which it does not compute: {tile} positions of {axis}",
        f"are rounded with a scale of their own. {axis}_tile by {axis}_in is the memory of {axis}.",
    ]
    about = "\n".join([*said, "", *(line for one in found for line in deviation_lines(one)), ""])
    cases: list[str] = []
    for case in spec.cases:
        if case.sizes[axis] % tile == 0:
            sizes = {f"{axis}_tile": case.sizes[axis] // tile, f"{axis}_in": tile}
            cases += case_texts([case], substitute, spec.dtype, sizes)
    what = f"Like `{spec.name}`, with a scale for every tile of {axis}."
    return spec_text(substitute, cases, spec.dtype, about, what)


def deviation_lines(one: Deviation) -> tuple[str, str]:
    """What was measured of one output for one family of inputs."""
    return (
        f"{one.output}, {one.family} inputs: off by {one.rel:.1e}, "
        f"{one.used:.1f} times what a kernel may;",
        f"    from unrounded values it is {one.exact:.1e} away, the spec itself {one.own:.1e}.",
    )
