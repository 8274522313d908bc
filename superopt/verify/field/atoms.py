"""Whether the exponents of two terms behave like independent random numbers.

Each exponent is written as a polynomial over letters (inputs, drawn values, inverses, roots and
deeper exponentials of polynomials). Monomials that occur in fixed proportion in all exponents
are one *atom*; so every exponent is an integer combination of atoms. If the atoms can be put in
an order in which each contains a variable that none before it contains, then for any values of
the other variables an atom takes a given value at no more points than its degree: the
exponentials of the atoms can be counted like independent variables of a polynomial.
(Affine private inputs, the common case, are degree 1: jointly uniform.) Atoms that cannot be put
in such an order may still be independent together (``jacobian.py``), once linear relations
between their monomials are taken out (``relations.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from math import prod

from superopt.verify.field.exponents import BASE
from superopt.verify.field.exponents import Atom
from superopt.verify.field.exponents import Exponent
from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.jacobian import independent_together
from superopt.verify.field.polynomial import Monomial
from superopt.verify.field.polynomial import Poly
from superopt.verify.field.relations import independent
from superopt.verify.field.scalarpoint import ScalarPoint
from superopt.verify.field.toohard import TooHardError


def split_logs(polys: Polynomials, term: int) -> tuple[tuple[tuple[int, int], ...], Poly]:
    """A term as integer multiples of logarithms and the rest.

    Raises:
        TooHardError: a logarithm stands in any other way.
    """
    logs: list[tuple[int, int]] = []
    rest: Poly = {}
    for monomial, c in polys.of(term).items():
        inside = [letter for letter, _ in monomial if letter in polys.logs]
        if not inside:
            rest[monomial] = c
        elif len(monomial) == 1 and monomial[0][1] == 1 and c.denominator == 1:
            logs.append((polys.logs[inside[0]], int(c)))
        else:
            raise TooHardError("a logarithm is multiplied by what is no integer")
    return tuple(logs), rest


def analysed(polys: Polynomials, exponents: Iterable[int]) -> dict[int, Exponent]:
    """The exponents (terms) over common atoms.

    Raises:
        TooHardError: the atoms depend on one another.
    """
    split = {e: split_logs(polys, e) for e in exponents}
    rests = [rest for _, rest in split.values()]
    try:
        combined = _combined(polys, rests)
    except TooHardError:
        rests = independent(polys, rests)
        combined = _combined(polys, rests)
    return {
        e: Exponent(logs, atoms)
        for (e, (logs, _)), atoms in zip(split.items(), combined, strict=True)
    }


def _combined(polys: Polynomials, rests: Sequence[Poly]) -> list[tuple[tuple[Atom, int], ...]]:
    """Every exponent as an integer combination of atoms."""
    rows = list({tuple(sorted(rest.items())): rest for rest in rests}.values())
    columns: dict[Monomial, list[tuple[int, Fraction]]] = {}
    for number, row in enumerate(rows):
        for monomial, c in row.items():
            columns.setdefault(monomial, []).append((number, c))
    classes: dict[tuple[tuple[int, Fraction], ...], list[tuple[Monomial, Fraction]]] = {}
    for monomial, column in columns.items():
        lead = column[0][1]
        ratio = tuple((number, c / lead) for number, c in column)
        classes.setdefault(ratio, []).append((monomial, lead))
    members = [dict(c) for c in classes.values()]
    degrees = _degrees(polys, members)
    atoms: dict[Monomial, tuple[Atom, Fraction]] = {}
    for number, (ratio, poly) in enumerate(zip(classes, members, strict=True)):
        scale = lcm(*(r.denominator for _, r in ratio))
        atom = Atom(number, scale, degrees[number])
        first = next(iter(poly))  # the coefficients of the others are in proportion
        atoms[first] = (atom, poly[first])
    return [
        tuple(
            (atom, int(rest[monomial] / lead * atom.scale))
            for monomial, (atom, lead) in atoms.items()
            if monomial in rest
        )
        for rest in rests
    ]


def _degrees(polys: Polynomials, members: list[Poly]) -> list[int]:
    """The degree of every atom: the most points at which it takes one value, given others.

    Raises:
        TooHardError: they have no such order, and are not independent together.
    """
    point = ScalarPoint(polys)
    depends = [polys.depends(m) or frozenset([BASE]) for m in members]
    degrees = [max(1, polys.degree(m)) for m in members]
    left = set(range(len(members)))
    while left:
        count: dict[str, int] = {}
        for number in left:
            for variable in depends[number]:
                count[variable] = count.get(variable, 0) + 1
        # A variable that only one of those left has is in none of the others, so all go at once.
        free = {
            n
            for n in left
            if any(
                count[v] == 1 and (v == BASE or point.varies(members[n], v))
                for v in sorted(depends[n])
            )
        }
        if not free:
            together = sorted(left)
            if not independent_together(polys, [members[n] for n in together]):
                raise TooHardError("the exponents depend on one another")
            # Twice: the points at which the derivatives are dependent count, too.
            shared = 2 * prod(degrees[n] for n in together)
            return [shared if n in left else d for n, d in enumerate(degrees)]
        left -= free
    return degrees
