"""Which terms are held by their exponentials, because they contain a logarithm additively."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence

from superopt.verify.field.terms import Terms
from superopt.verify.field.toohard import TooHardError

DRAWN = (
    "max",
    "min",
    "best",
    "opaque",
    "lt",
    "le",
    "eq",
)  # they look at their arguments' values only
_KEEP = ("add", "mul", "where", "exp")


def held(terms: Terms, cone: Sequence[int]) -> frozenset[int]:
    """The terms of ``cone`` (ascending) that a field reading holds by their exponentials.

    Raises:
        TooHardError: a logarithm is used in a way of which the reading keeps nothing.
    """
    found: set[int] = set()
    for x in cone:
        t = terms.all[x]
        inside = [a for a in t.args if a in found]
        if t.op == "log":
            found.add(x)
        if not inside:
            continue
        if t.op not in (*_KEEP, *DRAWN) or (t.op == "mul" and len(inside) == len(t.args)):
            raise TooHardError(f"a logarithm stands in {t.op}")
        if t.op in ("add", "mul", "where"):
            found.add(x)
    return frozenset(found)


def powers(terms: Terms, cone: Iterable[int], logs: frozenset[int]) -> int:
    """How often the reading takes a power that is known for squares only."""
    count = 0
    for x in cone:
        t = terms.all[x]
        if t.op == "mul" and x in logs:
            (factor,) = (a for a in t.args if a not in logs)
            value = terms.number(factor)
            count += value is None or getattr(value, "denominator", 0) != 1
    return count
