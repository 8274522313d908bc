"""Finite rank: a term as a sum (or extremum) of products, and the basis that is kept.

Theory: ``g(x, u) = sum_k a_k(x) b_k(u)``. The kept basis is ``g`` and its derivatives by ``x``
(at fixed ``u``): they span the same functions of ``u``, and are centred where ``g`` is
(``(u - x)^2`` gives ``u - x`` and ``1``, not raw powers). With rows ``D(x)`` over the ``b_k``,
moving from ``x`` to ``x'`` is ``D(x') D(x)^-1``. The rank is that of the matrix of coefficients
after collecting, not the number of monomials.

Where all parts have one sign (``exp(u - x) + eps``, times a weight) they are kept apart, and added
at the end: of ``g`` and a derivative one would shrink by a difference of large numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from superopt.errors import NoRepair
from superopt.repair.collect import fewest
from superopt.repair.expression import Expr
from superopt.repair.expression import expanded
from superopt.repair.gathered import gathered
from superopt.repair.record import words
from superopt.repair.span import Span
from superopt.repair.span import span
from superopt.repair.symbolic import Product
from superopt.repair.symbolic import Reading
from superopt.ugraph.node import Node
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn


@dataclass(frozen=True)
class Separation:
    """A term of finite rank.

    ``parts``: pairs ``(a(x), b(u))`` with ``g = fold_k action(a_k, b_k)``. ``basis``: the kept
    functions at the new ``x``; the first is ``g`` itself, or (``apart``) they add up to it.
    ``moves``: the change of basis over old and new states, ``None`` where an entry is absent.
    ``uses``: which ``b_k`` each basis function is made of. ``determinant``: of the basis over the
    ``b_k``; where it vanishes the change of basis does not exist, and where it may vanish none is
    made (``moves`` is empty).
    """

    action: Fn
    parts: tuple[tuple[Node, Node], ...]
    basis: tuple[Node, ...]
    moves: tuple[tuple[Node | None, ...], ...]
    uses: tuple[tuple[int, ...], ...]
    determinant: Node
    apart: bool = False


def separate(
    term: Node, axis: str, moving: frozenset[State], fold: Fn, known: Mapping[Node, Span]
) -> Separation:
    """The separation of ``term``, which ``fold`` folds over ``axis`` while ``moving`` states move.

    Raises:
        NoRepair: no finite rank was found; the message names the term that prevents it.
    """
    try:
        if fold is Fn.ADD:
            return _several(*fewest(axis, moving, known, term), term)
        return _separate(Reading(axis, moving, known), term, fold)
    except (sp.PolynomialError, NotImplementedError) as error:
        raise NoRepair(f"the algebra of {words(term)} is not decided: {error}") from error


def _separate(reading: Reading, term: Node, fold: Fn) -> Separation:
    e = reading.read(term)
    if fold in (Fn.MAX, Fn.MIN):
        sum_ = reading.add(e)
        if sum_ is not None:
            move = sp.expand(sum_.a - reading.backward(sum_.a))
            return _rank_one(reading, term, Fn.ADD, sum_, move, sp.Integer(1))
        product = reading.split(e)
        if product is not None and product.a.is_positive:
            move = _tidy(product.a / reading.backward(product.a))
            return _rank_one(reading, term, Fn.MUL, product, move, product.a)
        why = "is no sum and no product with a positive factor"
        raise NoRepair(f"no finite rank found: {words(term)} {why} of {reading.who}")
    raise NoRepair(f"no repair is known for a fold by {fold.symbol}")


def _rank_one(
    reading: Reading, term: Node, action: Fn, part: Product, move: Expr, determinant: Expr
) -> Separation:
    parts = ((reading.write(part.a), reading.write(part.b)),)
    return Separation(
        action, parts, (term,), ((reading.write(move),),), ((0,),), reading.write(determinant)
    )


def _several(reading: Reading, e: Expr, parts: list[Product], term: Node) -> Separation:
    """The separation of a summed term into ``parts``."""
    if len(parts) == 1:
        (part,) = parts
        move = _tidy(part.a / reading.backward(part.a))
        return _rank_one(reading, term, Fn.MUL, part, move, part.a)
    if _one_sign(parts):
        return _apart(reading, parts)
    rank = len(parts)
    written = tuple((reading.write(p.a), reading.write(p.b)) for p in parts)
    plan = _directions(reading, [p.a for p in parts])
    if len(plan) < rank:
        raise NoRepair(f"no basis of rank {rank} found for {words(term)}")
    determinant = _determinant([row for _, _, row in plan])
    if not span(reading.write(determinant), reading.known).nonzero:
        return Separation(Fn.MUL, written, (term,), (), (), reading.write(determinant))
    basis, rows = _basis(reading, e, plan)
    d = sp.Matrix(rows)
    determinant = _determinant(rows)
    inverse = reading.backward(d.adjugate() / determinant)
    change = (d * inverse).applyfunc(_shapely)
    nodes = (term, *(gathered(reading.write(k)) for k in basis[1:]))
    return Separation(
        Fn.MUL,
        written,
        nodes,
        tuple(
            tuple(None if x == 0 else reading.write(x) for x in change.row(i)) for i in range(rank)
        ),
        tuple(tuple(k for k in range(rank) if row[k] != 0) for row in rows),
        reading.write(determinant),
    )


def _one_sign(parts: list[Product]) -> bool:
    """Whether all parts have the sign of the first one, whatever that is."""
    ratios = [(p.a / parts[0].a, p.b / parts[0].b) for p in parts[1:]]
    return all(_tidy(a).is_positive and _tidy(b).is_positive for a, b in ratios)


def _apart(reading: Reading, parts: list[Product]) -> Separation:
    """Every part as a component of its own."""
    rank = range(len(parts))
    factors = [reading.write(_tidy(p.a / reading.backward(p.a))) for p in parts]
    return Separation(
        Fn.MUL,
        tuple((reading.write(p.a), reading.write(p.b)) for p in parts),
        tuple(reading.write(_tidy(p.a * p.b)) for p in parts),
        tuple(tuple(factors[i] if i == j else None for j in rank) for i in rank),
        tuple((i,) for i in rank),
        reading.write(_tidy(sp.prod([p.a for p in parts]))),
        apart=True,
    )


def _determinant(rows: list[list[Expr]]) -> Expr:
    return _tidy(sp.Matrix(rows).det(method="berkowitz"))


Direction = tuple[int, Expr, list[Expr]]
"""A member of a basis: the earlier one that it is a derivative of, by what, and its row."""


def _directions(reading: Reading, a: list[Expr]) -> list[Direction]:
    """As many derivatives of ``a`` as there are independent ones, ``a`` itself first."""
    at = {y: sp.sqrt(sp.prime(i + 2)) / 2 for i, y in enumerate(reading.ys)}
    at |= {z: sp.sqrt(sp.prime(i + 40)) / 3 for i, z in enumerate(_fixed(reading, a))}
    found: list[Direction] = [(0, sp.Integer(1), a)]
    for place in range(len(a)):
        if place >= len(found):
            break
        for y in reading.ys:
            derived = [sp.diff(x, y) for x in found[place][2]]
            if len(found) < len(a) and _independent([*(r for _, _, r in found), derived], at):
                found.append((place, y, derived))
    return found


def _basis(reading: Reading, e: Expr, plan: list[Direction]) -> tuple[list[Expr], list[list[Expr]]]:
    """``e`` and its derivatives, each without what the earlier ones hold of it, and their rows."""
    basis, rows = [e], [plan[0][2]]
    for place, y, _ in plan[1:]:
        k, derived = sp.diff(basis[place], y), [sp.diff(x, y) for x in rows[place]]
        k, derived = _shortened(reading, k, derived, basis, rows)
        basis.append(k)
        rows.append(derived)
    return basis, rows


def _fixed(reading: Reading, a: list[Expr]) -> list[Expr]:
    found = {s for x in a for s in x.free_symbols} - set(reading.ys)
    return sorted(found, key=sp.default_sort_key)


def _independent(rows: list[list[Expr]], at: Mapping[Expr, Expr]) -> bool:
    """Whether the last row is no combination of the others, at one point, in 30 digits.

    A hint only: what is built on it is judged.
    """
    vectors = [[sp.N(x.subs(at), 30) for x in row] for row in rows]
    kept: list[list[Expr]] = []
    for vector in vectors:
        rest = list(vector)
        for other in kept:
            scale = sum(x * y for x, y in zip(rest, other, strict=True)) / sum(x * x for x in other)
            rest = [x - scale * y for x, y in zip(rest, other, strict=True)]
        size = sum(x * x for x in vector)
        if sum(x * x for x in rest) <= size * sp.Float("1e-20"):
            return False
        kept.append(rest)
    return True


def _shortened(
    reading: Reading, k: Expr, row: list[Expr], basis: list[Expr], rows: list[list[Expr]]
) -> tuple[Expr, list[Expr]]:
    """A derivative without the multiples of earlier functions that can be taken out, scaled."""
    for other, its in zip(basis, rows, strict=True):
        scales = {_tidy(x / y) for x, y in zip(row, its, strict=True) if y != 0 and x != 0}
        for scale in sorted((s for s in scales if s.is_Rational), key=sp.default_sort_key):
            left = [_tidy(x - scale * y) for x, y in zip(row, its, strict=True)]
            if left.count(0) > row.count(0):
                k, row = k - scale * other, left
                break
    k = min((sp.factor_terms(k), sp.factor(k)), key=_cost)
    scale = k.as_coeff_Mul()[0] * _sign(reading, k)
    return k / scale, [_tidy(x / scale) for x in row]


def _sign(reading: Reading, k: Expr) -> int:
    """-1 if ``u`` would enter with a minus sign (``mean - u`` for ``u - mean``)."""
    scale = k.as_coeff_Mul()[0]
    terms = sorted(sp.Add.make_args(expanded(k / scale)), key=sp.default_sort_key)
    first = next((t for t in terms if not reading.without_u(t)), terms[0])
    return -1 if first.could_extract_minus_sign() else 1


def _cost(e: Expr) -> tuple[int, int, int, Expr]:
    """Few different exponentials (each is one of a difference that has a sign), then short."""
    leaves = sum(1 for x in sp.preorder_traversal(e) if x.is_Symbol)
    return len(e.atoms(sp.exp)), leaves, sp.count_ops(e), sp.default_sort_key(e)


def _shapely(e: Expr) -> Expr:
    """The best of the forms of one entry: factored where it is a power of a difference."""
    tidy = _tidy(e)
    forms = [
        tidy,
        sp.powsimp(sp.factor(tidy), combine="exp"),
        sp.powsimp(expanded(tidy), combine="exp"),
    ]
    return min(forms, key=_cost)


def _tidy(e: Expr) -> Expr:
    """Cancelled, with exponentials joined, so that only differences are exponentiated."""
    if e.is_number:
        return e
    return sp.powsimp(sp.cancel(sp.powsimp(expanded(e), combine="exp")), combine="exp")
