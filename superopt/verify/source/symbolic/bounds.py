"""Claims about single accesses: they are in bounds, and no number on the way there overflows."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence

from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.coordinates import NoCoordinates
from superopt.verify.source.symbolic.coordinates import coordinates
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.value import Access
from superopt.verify.source.symbolic.value import Use
from superopt.verify.source.symbolic.vocabulary import fits


def in_bounds(accesses: Iterable[Access], atoms: Atoms, prover: Prover) -> list[str]:
    """What is not proved of "every lane that the mask lets through is an element"."""
    wanting = []
    for access in accesses:
        try:
            found = coordinates(access.tensor, access.offset)
        except NoCoordinates as error:
            wanting.append(f"line {access.line}: {error}")
            continue
        facts = (*access.path, access.mask)
        for place, (one, size) in enumerate(zip(found, access.tensor.shape, strict=True)):
            for goal in (at_least(one, ZERO), below(one, size)):
                if not prover.proves(facts, goal, atoms):
                    wanting.append(
                        f"line {access.line}: coordinate {place} of {access.tensor.name}, {one}, "
                        f"is not known to be within {size}"
                    )
    return wanting


def no_overflow(
    uses: Sequence[Use], base: Sequence[Formula], atoms: Atoms, prover: Prover
) -> list[str]:
    """What is not proved of "every number that an access or a loop depends on fits its width"."""
    wanting: dict[str, None] = {}
    seen: dict[tuple[Poly, int], bool] = {}
    for use in uses:
        for step in use.steps:
            key = step.poly, step.bits
            if key not in seen:
                seen[key] = _fits(base, step.poly, step.bits, atoms, prover)
            if not seen[key] and not _fits(use.path, step.poly, step.bits, atoms, prover):
                wanting[f"line {step.line}: {step.poly} may not fit {step.bits} bits"] = None
    return list(wanting)


def _fits(facts: Sequence[Formula], poly: Poly, bits: int, atoms: Atoms, prover: Prover) -> bool:
    return all(prover.proves(facts, g, atoms, keep=False) for g in fits(poly, bits))
