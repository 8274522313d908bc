"""Equality and implication of terms over the extended reals, by case analysis and z3.

z3 (``ground.py``) is bounded by ``rlimit``. A model is only a counterexample if evaluating both
sides there in float64 shows it again.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import z3

from superopt.rewrite.show import node_text
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.verify.questions import REALS
from superopt.verify.questions import asked
from superopt.verify.reals.atoms import Leaf
from superopt.verify.reals.atoms import Log2
from superopt.verify.reals.cases import Infeasible
from superopt.verify.reals.cases import Path
from superopt.verify.reals.cases import Special
from superopt.verify.reals.cases import TooManyPaths
from superopt.verify.reals.cases import Value
from superopt.verify.reals.cases import explore
from superopt.verify.reals.ground import as_float
from superopt.verify.reals.ground import expression
from superopt.verify.reals.ground import feasible
from superopt.verify.reals.ground import solver_of
from superopt.verify.reals.ground import variable
from superopt.verify.reals.numeric import evaluate
from superopt.verify.reals.numeric import same
from superopt.verify.reals.poly import Ratio
from superopt.verify.reals.poly import TooLarge
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

RLIMIT = 2_000_000  # of z3, for one query: about a second


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
        return Path(self.lowest, self.highest, self.undefined, feasible, decisions)

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
            solver = solver_of(path, self.rlimit)
            solver.add(expression(difference.top.cleared()) != 0)
        elif left is right or (isinstance(left, bool) and left == right):
            return None
        else:
            solver = solver_of(path, self.rlimit)
        result = asked(solver, REALS)
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
                found = model.eval(variable(index), model_completion=True)
                values[known.node] = as_float(found)
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
        roots = [self.left, *([self.right] if self.right is not None else []), *self.facts]
        below = topo(roots, lambda n: () if _is_unknown(n) else children(n))
        return [n for n in below if _is_unknown(n)]


_NUMBER = {"is -inf": -np.inf, "is inf": np.inf, "is undefined": np.nan}


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
