"""Where a term stands in nested exponentials, and at how many levels of a chain it is read.

An exponent is read by its residue at the next level, so what stands in an exponential and outside
of it has two residues that say nothing of each other. Signs of both have to fall right.
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.verify.field.terms import Terms

THROUGH = ("add", "mul", "inv", "sqrt", "abs", "where")  # what is computed level by level


def cone_of(terms: Terms, roots: Sequence[int]) -> list[int]:
    """All terms below ``roots``, themselves included, arguments first."""
    seen: dict[int, None] = {}
    stack = list(roots)
    while stack:
        top = stack.pop()
        if top not in seen:
            seen[top] = None
            stack.extend(terms.all[top].args)
    return sorted(seen)


def nested(terms: Terms, sides: tuple[int, ...], drawn: Sequence[int]) -> list[list[int]]:
    """The exponents by the number of exponentials they stand in, outermost first.

    An exponential may stand in several; it has other residues in each. ``drawn``: the arguments
    of drawn functions, whose residues at the outermost level count.
    """
    found: list[list[int]] = []
    roots = (*sides, *drawn)
    while True:
        _, exponents = _level(terms, roots, THROUGH)
        if not exponents:
            return found
        found.append(exponents)
        roots = tuple(exponents)


def times_read(
    terms: Terms, sides: tuple[int, ...], drawn: Sequence[int], exponents: Sequence[list[int]]
) -> dict[int, int]:
    """At how many levels a term is read; ``exponents``: those of ``nested``.

    An extremum that is drawn for a shape is read where its members are.
    """
    through = (*THROUGH, *(fn.symbol for fn in terms.equivariant))
    found: dict[int, int] = {}
    for roots in ((*sides, *drawn), *exponents):
        for x in _level(terms, roots, through)[0]:
            found[x] = found.get(x, 0) + 1
    return found


def _level(
    terms: Terms, roots: Sequence[int], through: Sequence[str]
) -> tuple[list[int], list[int]]:
    """The terms that are reached without entering an exponential, and the exponents of these.

    Drawn functions (maxima, opaque functions) are not entered: they are letters.
    """
    seen: dict[int, None] = {}
    exponents: dict[int, None] = {}
    stack = list(roots)
    while stack:
        top = stack.pop()
        if top in seen:
            continue
        seen[top] = None
        t = terms.all[top]
        if t.op == "exp":
            exponents[t.args[0]] = None
            # Logarithms leave their arguments outside of the exponential.
            stack.extend(terms.all[x].args[0] for x in _logs(terms, t.args[0]))
        elif t.op in through:
            stack.extend(t.args[1:] if t.op == "where" else t.args)
    return sorted(seen), sorted(exponents)


def _logs(terms: Terms, exponent: int) -> list[int]:
    """The logarithms that stand in an exponent itself, not in a deeper one."""
    found: list[int] = []
    stack, seen = [exponent], set[int]()
    while stack:
        top = stack.pop()
        if top in seen:
            continue
        seen.add(top)
        t = terms.all[top]
        if t.op == "log":
            found.append(top)
        elif t.op in ("add", "mul"):
            stack.extend(t.args)
    return found
