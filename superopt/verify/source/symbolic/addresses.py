"""That different elements have different addresses, given what is checked of strides.

Strides are taken from the smallest up, in whatever order of axes that is; axes with one position
do not count. ``reach`` is the largest offset along the axes so far: the launcher refuses an output
with a stride that is no larger, and adds ``(size - 1) * stride``. By induction, one level a
question: two elements with one address have the same coordinate along the axis with the largest
stride, hence equal addresses along the others.
"""

from __future__ import annotations

from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import equal
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.solve import Prover


def addresses_differ(contiguous: bool, prover: Prover) -> list[str]:
    """What is not proved of a level. ``contiguous``: the strides are those of a new tensor, of
    which each is the product of size and stride of the next axis inwards."""
    atoms = Atoms(prover)
    size = atoms.free("size", shared=True)
    stride, reach, rest = (atoms.free(n, shared=True) for n in ("stride", "reach", "rest"))
    apart = atoms.free("apart", shared=True, upper=(size,))  # the larger coordinate less the other
    facts = (
        *(at_least(reach, ZERO), below(reach, stride), at_least(size, ONE)),
        *(at_least(reach, rest), at_least(reach, -rest)),
    )
    total = apart * stride + rest
    more = reach + (size - ONE) * stride
    goals = [
        ((*facts, equal(total, ZERO)), equal(apart, ZERO)),
        (facts, at_least(more, total)),
        (facts, at_least(more, -total)),
    ]
    if contiguous:
        goals.append((facts, below(more, size * stride)))
    failed = [g for known, g in goals if not prover.proves(known, g, atoms)]
    return ["distinct elements are not known to have distinct addresses"] if failed else []
