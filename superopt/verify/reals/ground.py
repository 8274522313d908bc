"""A path of the case analysis as a question to z3, without quantifiers.

What is known about exponentials, roots and opaque functions is said of the terms that occur:
ground facts, in real arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from superopt.ugraph.grids import GRIDS
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.verify.questions import REALS
from superopt.verify.questions import asked
from superopt.verify.reals.atoms import Atom
from superopt.verify.reals.atoms import Atoms
from superopt.verify.reals.atoms import Irrational
from superopt.verify.reals.atoms import Leaf
from superopt.verify.reals.atoms import Log2
from superopt.verify.reals.atoms import Opaque
from superopt.verify.reals.atoms import Power
from superopt.verify.reals.atoms import Quotient
from superopt.verify.reals.atoms import Root
from superopt.verify.reals.cases import Path
from superopt.verify.reals.poly import Monomial
from superopt.verify.reals.poly import Poly
from superopt.verify.reals.poly import Ratio
from superopt.verify.reals.poly import TooLarge

SIDE_RLIMIT = 200_000  # for a question whose answer only saves work
MOST_PAIRS = 6


def feasible(path: Path) -> bool:
    """Whether some values may take this path (True if the solver does not know)."""
    return bool(asked(solver_of(path, SIDE_RLIMIT), REALS) != z3.unsat)


def solver_of(path: Path, rlimit: int) -> Any:
    """A solver that knows what holds on ``path``, and what the functions in it mean."""
    solver = z3.Solver()
    solver.set("ctrl_c", False)  # an interrupt must not become an Unknown
    solver.set(rlimit=rlimit)
    atoms = path.atoms
    for condition in path.conditions:
        value = expression(condition.poly)
        test = value < 0 if condition.less else value == 0
        solver.add(test if condition.holds else z3.Not(test))
    for index in range(len(atoms.known)):
        solver.add(*_meaning(atoms, index))
    solver.add(*_monotone(atoms))
    solver.add(*_congruent(atoms))
    return solver


def variable(index: int) -> Any:
    """The value of an atom."""
    return z3.Real(f"v{index}")


def _monomial(monomial: Monomial) -> Any:
    parts = [variable(i) for i, p in monomial for _ in range(p)]
    return _of_several(z3.Product, parts, z3.RealVal(1))


def expression(value: Poly) -> Any:
    """A polynomial without negative exponents."""
    terms = [z3.Q(c.numerator, c.denominator) * _monomial(m) for m, c in value.terms]
    return _of_several(z3.Sum, terms, z3.RealVal(0))


def _of_several(fn: Callable[..., Any], terms: list[Any], none: Any) -> Any:
    """SMT-LIB has no sum and no product of a single term."""
    return fn(*terms) if len(terms) > 1 else terms[0] if terms else none


def _sides(value: Ratio) -> tuple[Poly, Poly]:
    """Numerator and denominator without negative exponents."""
    scale: dict[int, int] = {}
    for part in (value.top, value.bottom):
        for monomial, _ in part.terms:
            for index, power in monomial:
                scale[index] = min(scale.get(index, 0), power)
    by = tuple((i, -p) for i, p in sorted(scale.items()) if p < 0)
    return value.top.shifted(by), value.bottom.shifted(by)


def _meaning(atoms: Atoms, index: int) -> list[Any]:
    """Ground facts about one atom."""
    me, known = variable(index), atoms.known[index]
    match known:
        case Leaf(node=node):
            return [me >= 0] if isinstance(node, Size) else []
        case Irrational():
            return [me > z3.Q(13, 20), me < 4]
        case Power(exponent=exponent):
            return [me > 0, *_power_of(exponent, me, z3.RealVal(1))]
        case Root(of=of) | Log2(of=of) | Quotient(of=of) | Opaque(of=of):
            return _defined_by(atoms, known, of, me)


def _defined_by(atoms: Atoms, known: Atom, of: Ratio, me: Any) -> list[Any]:
    top, bottom = (expression(p) for p in _sides(of))
    match known:
        case Root():
            return [me >= 0, me * me * bottom == top]
        case Log2():
            power = atoms.index.get(Power(atoms.value(known)))
            return [] if power is None else [variable(power) * bottom == top]
        case Quotient():
            return [me * bottom == top]
        case Opaque(fn=fn) if fn in GRIDS:
            value, grid = expression(of.sign), GRIDS[fn]
            ends = [me >= z3.RealVal(grid.lowest), me <= z3.RealVal(grid.largest)]
            return [*ends, z3.Implies(value >= 0, me >= 0), z3.Implies(value <= 0, me <= 0)]
        case _:
            return [me > -1, me < 1] if isinstance(known, Opaque) and known.fn is Fn.ERF else []


def _power_of(exponent: Ratio, power: Any, one: Any) -> list[Any]:
    """An exponential compares with 1 as its exponent compares with 0."""
    value = expression(exponent.sign)
    return [(value > 0) == (power > one), (value == 0) == (power == one)]


def _split(monomial: Monomial) -> tuple[Any, Any]:
    """The factors with positive and (inverted) with negative exponent."""
    above = tuple((i, p) for i, p in monomial if p > 0)
    below = tuple((i, -p) for i, p in monomial if p < 0)
    return _monomial(above), _monomial(below)


def _monotone(atoms: Atoms) -> list[Any]:
    """Facts about whole exponents, alone and in pairs."""
    found: list[Any] = []
    whole = list(atoms.exponentials.items())
    for exponent, monomial in whole:
        if len(exponent.top.terms) > 1:
            found += _power_of(exponent, *_split(monomial))
    for i, (p, m) in enumerate(whole[:MOST_PAIRS]):
        for q, n in whole[:i]:
            try:
                difference = expression((p - q).sign)
            except TooLarge:
                continue
            (a, b), (c, d) = _split(m), _split(n)
            found += [(difference > 0) == (a * d > c * b), (difference == 0) == (a * d == c * b)]
    return found


def _congruent(atoms: Atoms) -> list[Any]:
    """Equal arguments give equal values (Ackermann), for functions without a definition."""
    opaque = [(i, a) for i, a in enumerate(atoms.known) if isinstance(a, Opaque | Log2)]
    found: list[Any] = []
    for place, (i, a) in enumerate(opaque):
        for j, b in opaque[:place]:
            if type(a) is type(b) and getattr(a, "fn", None) is getattr(b, "fn", None):
                equal = expression((a.of - b.of).top.cleared()) == 0
                found.append(z3.Implies(equal, variable(i) == variable(j)))
                if getattr(a, "fn", None) in GRIDS:  # monotone
                    ahead = expression((a.of - b.of).sign) > 0
                    found.append(z3.Implies(ahead, variable(i) >= variable(j)))
                    found.append(z3.Implies(z3.Not(ahead), variable(i) <= variable(j)))
    return found


def as_float(value: Any) -> float:
    """The nearest float of a value in a model; 0 where it has none."""
    if z3.is_algebraic_value(value):
        value = value.approx(20)
    return float(value.as_fraction()) if z3.is_rational_value(value) else 0.0
