"""How many choices of an element have to fall right at once.

A choice by the sign or the order of data is a coin. The difference of two elements is a polynomial
in its coins, of degree at most one in each. Where one outcome of all coins makes it differ, it is
not the zero polynomial, and is then not zero for a share of at least 2^-d of all outcomes, where d
is its degree in all coins together (of a sum of terms, the most coins that one term asks), however
many coins there are: the least distance of a Reed-Muller code (Muller 1954).
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.roots import POINTS
from superopt.verify.field.roots import rank
from superopt.verify.field.roots import signs_of
from superopt.verify.field.terms import Terms

EVERYWHERE = (1 << POINTS) - 1
HIDING = ("sqrt", "best")  # what makes coins, or takes part in how they fall


def undecided(terms: Terms, x: int) -> bool:
    """Whether a term is a choice by the sign or the order of data.

    A place in a list is a number once the candidates are in order.
    """
    t = terms.all[x]
    if t.op not in ("abs", "lt", "le", "eq"):
        return False
    return not all(terms.number(a) is not None or terms.is_place(a) for a in t.args)


def may_tie(terms: Terms, x: int) -> bool:
    """Whether what a choice compares is read as equal, too."""
    t = terms.all[x]
    return not terms.stepped.isdisjoint(t.args) or (terms.ties and t.op != "abs")


def coins_at_once(polys: Polynomials, cone: Sequence[int], sides: Sequence[int]) -> tuple[int, int]:
    """How many coins the difference of ``sides`` may need at once; ``cone`` is all below them.

    All of them, unless every coin is fair given the others and stands in sums, products and
    choices alone: what is divided by, or drawn, may be unknown for some outcomes.

    And of how many signs the outcomes count: one polynomial in the data for each of them, each of
    which may vanish by chance. With all coins needed one outcome counts. Comparisons are drawn
    whatever the data are, so they bring no further polynomials.
    """
    terms = polys.terms
    coins = [x for x in cone if undecided(terms, x)]
    # What may be equal, too, is so in one pair of four (``choice.py``), as seldom as two coins.
    tied = sum(may_tie(terms, x) for x in coins)
    hidden = terms.equivariant or any(terms.all[x].op in HIDING for x in cone)
    if len(coins) < 2 or tied or hidden:
        return len(coins) + tied, 0
    degrees = _degrees(terms, cone, coins)
    if degrees is None or not _independent(polys, coins):
        return len(coins), 0
    signs = sum(terms.all[x].op == "abs" for x in coins)
    return max(degrees[x] for x in sides), signs


def _degrees(terms: Terms, cone: Sequence[int], coins: Sequence[int]) -> dict[int, int] | None:
    """The degree in coins of every term; None if a coin stands in anything else."""
    below: dict[int, int] = {}  # bits of the coins that a term depends on
    found: dict[int, int] = {}
    bit = {x: 1 << i for i, x in enumerate(coins)}
    for x in sorted(cone):  # arguments have lower numbers
        t = terms.all[x]
        bits = bit.get(x, 0)
        for a in t.args:
            bits |= below[a]
        below[x] = bits
        every = bits.bit_count()
        match t.op:
            case "add":
                degree = max(found[a] for a in t.args)
            case "mul":
                degree = sum(found[a] for a in t.args)
            case "where":
                degree = below[t.args[0]].bit_count() + max(found[a] for a in t.args[1:])
            case "abs" | "lt" | "le" | "and" | "or" | "not":
                degree = every  # decided one after the other
            case _ if bits:
                return None
            case _:
                degree = 0
        found[x] = min(degree, every)
    return found


def _independent(polys: Polynomials, coins: Sequence[int]) -> bool:
    """Whether the signs of what absolute values are taken of are independent.

    A sign is whether a residue is a square, so that of a product is that of its factors. Signs
    that are equal, or opposite, everywhere are one coin.
    """
    vectors: dict[int, None] = {}
    for t in (polys.terms.all[x] for x in coins):
        if t.op != "abs":
            continue  # drawn by the pair that is compared
        vector = signs_of(polys, t.args[0])
        if vector is None:
            return False
        vectors[vector if vector % 2 == 0 else vector ^ EVERYWHERE] = None
    return rank([EVERYWHERE, *vectors]) == 1 + len(vectors)
