"""What equivariant maxima cost the bound: which of them are no variables of their own.

Maxima of sets of one shape are tied: each is ``mean + size * phi`` with the same drawn ``phi``,
and ``size`` is an absolute value, of which both signs have to be seen. Those of one size, too, are
one variable in other places (``exponents.py``). A maximum of two values needs no ``phi`` at all
where it may be an absolute value. Whether two sets have one shape is seen at a random point: a
miss would need a coincidence modulo a prime of 61 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from superopt.ugraph.scalar import Fn
from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.extrema import EITHER
from superopt.verify.field.roots import signs_of
from superopt.verify.field.scalarpoint import PRIME
from superopt.verify.field.scalarpoint import ScalarPoint
from superopt.verify.field.terms import Terms
from superopt.verify.field.toohard import TooHardError

EXTREMA = {"max": Fn.MAX, "min": Fn.MIN}
NO_TIMES: Mapping[int, int] = MappingProxyType({})


@dataclass(frozen=True)
class Determined:
    """The extrema that others, or their own members, determine, and the signs to be seen.

    ``extrema``: these, and those that are others in another place.
    """

    extrema: frozenset[int]
    coins: int


def determined(
    polys: Polynomials,
    cone: Sequence[int],
    within: frozenset[int],
    times: Mapping[int, int] = NO_TIMES,
) -> Determined:
    """Which extrema of ``cone`` are determined. ``within``: the terms that stand in exponents.
    ``times``: at how many levels a term is read, if not at one.

    Raises:
        TooHardError: one of them stands where it would have to be a variable.
    """
    terms = polys.terms
    maxima = [x for x in cone if terms.moves(x)]
    point = ScalarPoint(polys, squares=True)
    classes: dict[tuple[int, ...], dict[tuple[int, ...], list[int]]] = {}
    tied: set[int] = set()
    placed: set[int] = set()
    pairs: dict[object, int] = {}  # by the difference: at how many levels its sign counts
    coins = 0
    for x in maxima:
        try:
            members = {point.term(a, "", 0) for a in terms.all[x].args}
        except KeyError as missing:
            raise TooHardError("a maximum of deep exponentials") from missing
        if len(members) > 2 or (terms.equivariant != EITHER and len(members) == 2):
            shape, place = _shape(sorted(members), terms.all[x].op == "min")
            if len(members) == 2:
                shape = place[1:]
            classes.setdefault(shape, {}).setdefault(place, []).append(x)
        else:
            tied.add(x)
            if len(members) == 2:
                key = polys.pair_of(x) or x
                pairs[key] = max(pairs.get(key, 0), times.get(x, 1))
    for same in classes.values():
        alike = [x for group in same.values() for x in group]
        if len({polys.shape_of(x) for x in alike}) == 1:
            placed.update(alike if len(same) > 1 else ())
        elif len(same) > 1:
            tied.update(alike)
            coins += len(same) - 1
    for x in maxima:
        if x in within and x in tied and polys.pair_of(x) is None:
            raise TooHardError("an exponent contains a maximum that others determine")
        if not tied.isdisjoint(_below(terms, terms.all[x].args)):
            raise TooHardError("a maximum of maxima that others determine")
    coins += sum(pairs.values()) + _signs(polys, cone)
    return Determined(frozenset(tied | placed), coins)


def _shape(members: Sequence[int], negate: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What scales and shifts leave as it is, and what they do not."""
    sign = -1 if negate else 1
    mean = sum(members) * pow(len(members), -1, PRIME)
    offs = [(m - mean) * sign % PRIME for m in members]
    scale = pow(sum(d * d for d in offs), -1, PRIME)
    return tuple(sorted(d * d * scale % PRIME for d in offs)), (mean * sign % PRIME, *sorted(offs))


def _signs(polys: Polynomials, cone: Sequence[int]) -> int:
    """The signs of factors of extrema: with a positive one there are more laws than counted."""
    terms = polys.terms
    factors: dict[int, None] = {}
    for x in cone:
        t = terms.all[x]
        if t.op != "mul":
            continue
        for one, other in (t.args, t.args[::-1]):
            many = [len(terms.members(fn, one)) > 1 for fn in EXTREMA.values()]
            plain = all(len(terms.members(fn, other)) == 1 for fn in EXTREMA.values())
            known = terms.number(other) is not None or terms.is_square(other)
            if any(many) and plain and not known:
                factors[other] = None
    together = -1
    for factor in factors:
        vector = signs_of(polys, factor)
        if vector is None:
            raise TooHardError("the sign of a factor of a maximum is not decided")
        together &= vector
    if factors and not together:
        raise TooHardError("factors of maxima are never negative together")
    return len(factors)


def _below(terms: Terms, roots: Sequence[int]) -> set[int]:
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        top = stack.pop()
        if top not in seen:
            seen.add(top)
            stack.extend(terms.all[top].args)
    return seen
