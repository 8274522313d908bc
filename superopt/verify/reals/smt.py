"""Equality and implication of terms over the extended reals, by case analysis and z3.

Nothing is quantified: the facts about exponentials, roots and opaque functions are ground
facts for the terms that occur. z3 is bounded by ``rlimit``. A model is only a
counterexample if evaluating both sides there in float64 shows it again.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import z3

from superopt.rewrite.show import node_text
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import substitute
from superopt.verify.reals.atoms import Atom
from superopt.verify.reals.atoms import Atoms
from superopt.verify.reals.atoms import Irrational
from superopt.verify.reals.atoms import Leaf
from superopt.verify.reals.atoms import Log2
from superopt.verify.reals.atoms import Opaque
from superopt.verify.reals.atoms import Power
from superopt.verify.reals.atoms import Quotient
from superopt.verify.reals.atoms import Root
from superopt.verify.reals.cases import Infeasible
from superopt.verify.reals.cases import Path
from superopt.verify.reals.cases import Special
from superopt.verify.reals.cases import TooManyPaths
from superopt.verify.reals.cases import Value
from superopt.verify.reals.cases import explore
from superopt.verify.reals.numeric import evaluate
from superopt.verify.reals.numeric import same
from superopt.verify.reals.poly import Monomial
from superopt.verify.reals.poly import Poly
from superopt.verify.reals.poly import Ratio
from superopt.verify.reals.poly import TooLarge
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

RLIMIT = 2_000_000  # of z3, for one query: about a second
SIDE_RLIMIT = 200_000  # for a question whose answer only saves work
MOST_PAIRS = 6


def prove_equal(
    left: Node,
    right: Node,
    facts: Sequence[Node] = (),
    rlimit: int = RLIMIT,
    *,
    lowest: Collection[Node] = (),
    highest: Collection[Node] = (),
    undefined: Collection[Node] = (),
) -> Verdict:
    """Whether ``left`` and ``right`` are one value wherever all ``facts`` hold.

    One value means: both undefined, the same infinity, or the same real. Leaves (inputs,
    states, folds) are finite reals; those in ``lowest`` may also be minus infinity, those in
    ``highest`` plus infinity, those in ``undefined`` may have no value. A fold by max (min)
    may always be its unit. ``facts`` are truth-valued terms, such as ``Map(Fn.LE, (old, new))``.
    """
    return _Question(left, right, tuple(facts), rlimit, lowest, highest, undefined).answer()


def prove_implies(
    facts: Sequence[Node],
    claim: Node,
    rlimit: int = RLIMIT,
    *,
    lowest: Collection[Node] = (),
    highest: Collection[Node] = (),
) -> Verdict:
    """Whether the truth-valued ``claim`` is true (and defined) wherever all ``facts`` hold."""
    return _Question(claim, None, tuple(facts), rlimit, lowest, highest).answer()


@dataclass
class _Question:
    """``left == right``, or ``left`` is true if there is no right side."""

    left: Node
    right: Node | None
    facts: tuple[Node, ...]
    rlimit: int
    lowest: Collection[Node]
    highest: Collection[Node]
    undefined: Collection[Node] = ()

    def answer(self) -> Verdict:
        failed: Verdict | None = None
        try:
            for path in explore(self._start, self._run):
                verdict = self._settle(path)
                if isinstance(verdict, Refuted):
                    return verdict
                failed = failed or verdict
        except (TooManyPaths, TooLarge) as why:
            failed = Unknown(str(why))
        if failed is None:
            return Proved("z3/reals", tuple(node_text(f) for f in self.facts))
        return self._sampled() or failed

    def _start(self, decisions: list[bool]) -> Path:
        return Path(self.lowest, self.highest, self.undefined, _feasible, decisions)

    def _run(self, path: Path) -> None:
        for fact in self.facts:
            if path.value(fact) is not True:
                raise Infeasible
        path.value(self.left)
        if self.right is not None:
            path.value(self.right)

    def _settle(self, path: Path) -> Verdict | None:
        """None if the claim holds on this path."""
        left = path.value(self.left)
        right: Value = True if self.right is None else path.value(self.right)
        if isinstance(left, Ratio) and isinstance(right, Ratio):
            difference = left - right
            if not difference.top.terms:
                return None
            if any(isinstance(a, Log2) for a in path.atoms.known):
                # A logarithm is compared by its power.
                path.atoms.power(difference * path.atoms.log2e())
            solver = _solver(path, self.rlimit)
            solver.add(_expression(difference.top.cleared()) != 0)
        elif left is right or (isinstance(left, bool) and left == right):
            return None
        else:
            solver = _solver(path, self.rlimit)
        result = solver.check()
        if result == z3.unsat:
            return None
        if result == z3.sat and (found := self._again(path, solver.model())) is not None:
            return found
        what = "the model is no counterexample" if result == z3.sat else solver.reason_unknown()
        return Unknown(f"z3: {what} for {_shown(left)} = {_shown(right)}")

    # Counterexamples ---------------------------------------------------------------------

    def _again(self, path: Path, model: Any) -> Refuted | None:
        """The model as a counterexample, if the terms really differ there."""
        values: dict[Node, float] = {}
        for (what, node), held in path.free.items():
            if what == "is true":
                values[node] = float(held)
            elif held:
                values[node] = _NUMBER[what]
        for index, known in enumerate(path.atoms.known):
            if isinstance(known, Leaf):
                found = model.eval(_variable(index), model_completion=True)
                values[known.node] = _as_float(found)
        for leaf in self._leaves():
            values.setdefault(leaf, 1.0)
        return self._refuted({n: np.array([v]) for n, v in values.items()})

    def _sampled(self) -> Refuted | None:
        """A search for counterexamples among hostile values."""
        rng = np.random.default_rng(0)
        points = 4096
        hostile = np.array([0.0, 1.0, -1.0, 0.5, -2.0, 3.0, -0.25, 7.0])
        values: dict[Node, Any] = {}
        for leaf in self._leaves():
            pool = hostile
            if leaf.kind is Kind.BOOL:
                pool = np.array([0.0, 1.0])
            elif isinstance(leaf, Size):
                pool = np.array([0.0, 1.0, 2.0, 5.0])
            elif leaf in self.lowest:
                pool = np.append(pool, -np.inf)
            drawn = rng.choice(pool, points)
            if leaf.kind is Kind.REAL:
                drawn = np.where(rng.random(points) < 0.5, drawn, rng.normal(size=points) * 2)
                if leaf in self.highest:
                    drawn = np.where(rng.random(points) < 0.2, np.inf, drawn)
            values[leaf] = drawn
        return self._refuted(values)

    def _refuted(self, values: dict[Node, Any]) -> Refuted | None:
        by = {n: np.asarray(v, dtype=np.float64) for n, v in values.items()}
        free = {n: _flat(n) for n in by}
        roots = [self.left, *([self.right] if self.right is not None else []), *self.facts]
        points = len(next(iter(by.values()))) if by else 1
        flat = [substitute(r, free) for r in roots]
        found = evaluate(flat, {free[n]: v for n, v in by.items()}, {})
        found = [np.broadcast_to(f, (points,)) for f in found]
        sides = 1 if self.right is None else 2
        held = np.ones(points, dtype=bool)
        for fact in found[sides:]:
            held &= fact == 1
        wrong = found[0] != 1 if sides == 1 else ~same(found[0], found[1], 1e-5)
        wrong &= held
        if not wrong.any():
            return None
        at = int(np.argmax(wrong))
        shown = " and ".join(f"{float(f[at]):.6g}" for f in found[:sides])
        named = tuple((node_text(n), f"{float(v[at]):.6g}") for n, v in by.items())
        return Refuted(named, f"the values are {shown}")

    def _leaves(self) -> list[Node]:
        """Everything that is an unknown of the question, in order of appearance."""
        found: dict[Node, None] = {}
        seen: set[Node] = set()
        roots = [self.left, *([self.right] if self.right is not None else []), *self.facts]
        stack = list(reversed(roots))
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if _is_unknown(node):
                found[node] = None
            elif isinstance(node, Map):
                stack += reversed(children(node))
        return list(found)


_NUMBER = {"is -inf": -np.inf, "is inf": np.inf, "is undefined": np.nan}

# The solver ------------------------------------------------------------------------------


def _feasible(path: Path) -> bool:
    """Whether some values may take this path (True if the solver does not know)."""
    return bool(_solver(path, SIDE_RLIMIT).check() != z3.unsat)


def _solver(path: Path, rlimit: int) -> Any:
    solver = z3.Solver()
    solver.set("ctrl_c", False)  # an interrupt must not become an Unknown
    solver.set(rlimit=rlimit)
    atoms = path.atoms
    for condition in path.conditions:
        value = _expression(condition.poly)
        test = value < 0 if condition.less else value == 0
        solver.add(test if condition.holds else z3.Not(test))
    for index in range(len(atoms.known)):
        solver.add(*_meaning(atoms, index))
    solver.add(*_monotone(atoms))
    solver.add(*_congruent(atoms))
    return solver


def _variable(index: int) -> Any:
    return z3.Real(f"v{index}")


def _monomial(monomial: Monomial) -> Any:
    parts = [_variable(i) for i, p in monomial for _ in range(p)]
    return z3.Product(*parts) if parts else z3.RealVal(1)


def _expression(value: Poly) -> Any:
    """A polynomial without negative exponents."""
    terms = [z3.Q(c.numerator, c.denominator) * _monomial(m) for m, c in value.terms]
    return z3.Sum(*terms) if terms else z3.RealVal(0)


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
    me, known = _variable(index), atoms.known[index]
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
    top, bottom = (_expression(p) for p in _sides(of))
    match known:
        case Root():
            return [me >= 0, me * me * bottom == top]
        case Log2():
            power = atoms.index.get(Power(atoms.value(known)))
            return [] if power is None else [_variable(power) * bottom == top]
        case Quotient():
            return [me * bottom == top]
        case Opaque(fn=fn) if fn in GRIDS:
            value, grid = _expression(of.sign), GRIDS[fn]
            ends = [me >= z3.RealVal(grid.lowest), me <= z3.RealVal(grid.largest)]
            return [*ends, z3.Implies(value >= 0, me >= 0), z3.Implies(value <= 0, me <= 0)]
        case _:
            return [me > -1, me < 1] if isinstance(known, Opaque) and known.fn is Fn.ERF else []


def _power_of(exponent: Ratio, power: Any, one: Any) -> list[Any]:
    """An exponential compares with 1 as its exponent compares with 0."""
    value = _expression(exponent.sign)
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
                difference = _expression((p - q).sign)
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
                equal = _expression((a.of - b.of).top.cleared()) == 0
                found.append(z3.Implies(equal, _variable(i) == _variable(j)))
                if getattr(a, "fn", None) in GRIDS:  # monotone
                    ahead = _expression((a.of - b.of).sign) > 0
                    found.append(z3.Implies(ahead, _variable(i) >= _variable(j)))
                    found.append(z3.Implies(z3.Not(ahead), _variable(i) <= _variable(j)))
    return found


def _as_float(value: Any) -> float:
    if z3.is_algebraic_value(value):
        value = value.approx(20)
    return float(value.as_fraction()) if z3.is_rational_value(value) else 0.0


# Terms -----------------------------------------------------------------------------------


def _is_unknown(node: Node) -> bool:
    return not isinstance(node, Map | Const | Named)


def _flat(node: Node) -> Node:
    """A stand-in without axes for an unknown, for evaluation at points."""
    return Scalar(node.key, {Kind.REAL: "fp32", Kind.INT: "int32", Kind.BOOL: "bool"}[node.kind])


def _shown(value: Value) -> str:
    return (
        value.value
        if isinstance(value, Special)
        else str(value)
        if isinstance(value, bool)
        else "a real"
    )
