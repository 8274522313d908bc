"""Conditions over integer polynomials: masks, guards, facts and goals."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass

from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import Poly


@dataclass(frozen=True)
class Compare:
    """``poly >= 0``, or ``poly == 0`` if ``equal``."""

    poly: Poly
    equal: bool = False


@dataclass(frozen=True)
class Truth:
    """A truth value of data, of which nothing is known."""

    name: str


@dataclass(frozen=True)
class AllOf:
    """A conjunction; of nothing it is true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class AnyOf:
    """A disjunction; of nothing it is false."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Not:
    """A negation."""

    part: Formula


Formula = Compare | Truth | AllOf | AnyOf | Not
TRUE: Formula = AllOf(())
FALSE: Formula = AnyOf(())


def at_least(left: Poly, right: Poly) -> Formula:
    """``left >= right``."""
    return _settled(Compare(left - right))


def below(left: Poly, right: Poly) -> Formula:
    """``left < right``."""
    return at_least(right, left + ONE)


def equal(left: Poly, right: Poly) -> Formula:
    """``left == right``."""
    return _settled(Compare(left - right, True))


def _settled(found: Compare) -> Formula:
    value = found.poly.constant
    if value is None:
        return found
    return TRUE if (value == 0 if found.equal else value >= 0) else FALSE


def both(parts: Iterable[Formula]) -> Formula:
    """A conjunction, flattened, each part once."""
    flat: dict[Formula, None] = {}
    for part in parts:
        flat.update(dict.fromkeys(part.parts if isinstance(part, AllOf) else (part,)))
    if FALSE in flat:
        return FALSE
    return next(iter(flat)) if len(flat) == 1 else AllOf(tuple(flat))


def either(parts: Iterable[Formula]) -> Formula:
    """A disjunction, flattened, each part once."""
    flat: dict[Formula, None] = {}
    for part in parts:
        flat.update(dict.fromkeys(part.parts if isinstance(part, AnyOf) else (part,)))
    if TRUE in flat:
        return TRUE
    return next(iter(flat)) if len(flat) == 1 else AnyOf(tuple(flat))


def negated(part: Formula) -> Formula:
    """The opposite, pushed inwards."""
    match part:
        case Compare(poly=poly, equal=False):
            return _settled(Compare(-poly - ONE))
        case AllOf(parts=parts):
            return either(map(negated, parts))
        case AnyOf(parts=parts):
            return both(map(negated, parts))
        case Not(part=inner):
            return inner
        case _:
            return Not(part)


def polys(part: Formula) -> list[Poly]:
    """The polynomials of all comparisons."""
    match part:
        case Compare(poly=poly):
            return [poly]
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return [p for one in parts for p in polys(one)]
        case Not(part=inner):
            return polys(inner)
        case Truth():
            return []


def truths(part: Formula) -> list[str]:
    """The names of all truth values of data."""
    match part:
        case Truth(name=name):
            return [name]
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return [p for one in parts for p in truths(one)]
        case Not(part=inner):
            return truths(inner)
        case Compare():
            return []


def substituted(part: Formula, by: Mapping[str, Poly], suffix: str = "") -> Formula:
    """The condition with other polynomials in the place of atoms; ``suffix``: of the names of
    truth values, which are those of other data then."""
    match part:
        case Compare(poly=poly, equal=same):
            return _settled(Compare(poly.substitute(by), same))
        case AllOf(parts=parts):
            return both(substituted(p, by, suffix) for p in parts)
        case AnyOf(parts=parts):
            return either(substituted(p, by, suffix) for p in parts)
        case Not(part=inner):
            return negated(substituted(inner, by, suffix))
        case Truth(name=name):
            return Truth(name + suffix)


def words(part: Formula) -> str:
    """A condition to be read by people."""
    match part:
        case Compare(poly=poly, equal=same):
            return f"{poly} {'==' if same else '>='} 0"
        case Truth(name=name):
            return name
        case Not(part=inner):
            return f"not ({words(inner)})"
        case AllOf(parts=parts):
            return " and ".join(f"({words(p)})" for p in parts) or "true"
        case AnyOf(parts=parts):
            return " or ".join(f"({words(p)})" for p in parts) or "false"
