"""The fewest products whose sum is a term: its rank, as far as the algebra is seen.

The rank is that of the matrix of coefficients over independent functions of ``x`` and of ``u``,
not the number of monomials. Subterms are one symbol each as far as that does not hide a
relation between them; only then a reading sees through products, and through sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from superopt.errors import NoRepair
from superopt.repair.expression import Expr
from superopt.repair.expression import expanded
from superopt.repair.record import words
from superopt.repair.span import Span
from superopt.repair.span import span
from superopt.repair.symbolic import Depth
from superopt.repair.symbolic import Product
from superopt.repair.symbolic import Reading
from superopt.ugraph.node import Node
from superopt.ugraph.node import State

MOST = 8
"""The largest rank: smooth functions of infinite rank look low-rank, and more would not pay."""


def fewest(
    axis: str, moving: frozenset[State], known: Mapping[Node, Span], term: Node
) -> tuple[Reading, Expr, list[Product]]:
    """The reading of a summed term that sees the fewest products, the plainest of equal ones."""
    reading = Reading(axis, moving, known)
    e = reading.read(term)
    best = reading, e, _products(reading, term, e)
    for depth in (Depth.PRODUCTS, Depth.SUMS):
        if len(best[2]) == 1 or not reading.entangled:
            break
        deeper = Reading(axis, moving, known, depth)
        try:
            e = deeper.read(term)
            found = deeper, e, _products(deeper, term, e)
        except NoRepair:
            continue
        best = min(best, found, key=lambda seen: len(seen[2]))
    return best


def _products(reading: Reading, term: Node, e: Expr) -> list[Product]:
    product = reading.split(e)
    if product is None or (e.is_Add and not _defined(reading, [product.a, product.b])):
        return _collected(reading, term, e)
    return [product]


def _collected(reading: Reading, term: Node, e: Expr) -> list[Product]:
    """The fewest products whose sum is ``e``: a full-rank factorisation of the coefficients.

    Symbols that do not move are coefficients, unless that takes a quotient by one that may be
    zero: then they are parts of the functions of ``x``.
    """
    summands: list[Product] = []
    for summand in sp.Add.make_args(reading.without_logs(expanded(e))):
        product = reading.split(summand)
        if product is None:
            text = words(_spoken(reading, summand, term))
            raise NoRepair(f"no finite rank found: {text} does not separate from {reading.who}")
        summands.append(product)
    for generic in (True, False):
        by = _coefficients(reading, summands, generic)
        functions = sorted({a for row in by.values() for a in row}, key=sp.default_sort_key)
        functions.sort(
            key=lambda a: sum(not row.get(a, sp.Integer(0)).is_Rational for row in by.values())
        )
        keys = sorted(by, key=sp.default_sort_key)
        keys.sort(key=lambda b: sum(not x.is_Rational for x in by[b].values()))
        m = sp.Matrix([[by[b].get(a, sp.Integer(0)) for a in functions] for b in keys])
        reduced, pivots = m.rref(simplify=sp.cancel, iszerofunc=lambda x: sp.cancel(x) == 0)
        if _defined(reading, reduced):
            break
    if len(pivots) > MOST:
        raise NoRepair(f"the rank {len(pivots)} of {words(term)} is above {MOST}")
    return [
        Product(
            sp.Add(*(reduced[k, i] * a for i, a in enumerate(functions))),
            sp.Add(*(m[i, pivot] * b for i, b in enumerate(keys))),
        )
        for k, pivot in enumerate(pivots)
    ]


def _coefficients(
    reading: Reading, summands: list[Product], generic: bool
) -> dict[Expr, dict[Expr, Expr]]:
    """By function of ``u``, by function of ``x``: what multiplies them. ``generic``: symbols
    that do not move, too."""
    by: dict[Expr, dict[Expr, Expr]] = {}
    for product in summands:
        scale, b = product.b.as_independent(*reading.us, as_Add=False)
        for piece in sp.Add.make_args(expanded(product.a)):
            more, a = piece.as_independent(*reading.ys, as_Add=False)
            coefficient = scale * more
            if not generic:
                coefficient, rest = coefficient.as_coeff_Mul(rational=True)
                a = rest * a
            row = by.setdefault(b, {})
            row[a] = row.get(a, sp.Integer(0)) + coefficient
    return by


def _defined(reading: Reading, entries: Any) -> bool:
    """Whether no entry has a denominator that may be zero."""
    below = {sp.fraction(sp.cancel(x))[1] for x in entries}
    return all(
        x.is_number or span(reading.write(x), reading.known).nonzero
        for x in sorted(below, key=sp.default_sort_key)
    )


def _spoken(reading: Reading, e: Expr, otherwise: Node) -> Node:
    """``e`` as a node if there is one."""
    try:
        return reading.write(e)
    except NoRepair:
        return otherwise
