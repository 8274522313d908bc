"""Proofs that the limits of walks lose nothing, by z3 over the integers.

One claim (``ugraph/ranges.py``) is that a condition on positions implies a limit. Here a
counterexample is looked for: sizes, run-time integers, a tile of every grid axis and positions
in those tiles at which the condition holds but the position walked is outside the limit of
the program. The other claim (``ugraph/masks.py``) is that a condition holds within limits: a
counterexample is a position within them at which it does not. Comparisons of data are arbitrary
truth values and integers from memory arbitrary integers, so the proofs hold for all data.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from fractions import Fraction
from typing import Any

import numpy as np
import z3

from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.masks import ClearClaim
from superopt.ugraph.masks import clear_claims
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.ranges import BoundClaim
from superopt.ugraph.ranges import claims
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.text import show
from superopt.ugraph.walk import topo
from superopt.verify.questions import INTEGERS
from superopt.verify.questions import asked
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

RLIMIT = 2_000_000


def prove_limits(block: BlockGraph) -> tuple[tuple[BoundClaim, Verdict], ...]:
    """Every limit of every walk of ``block`` with its verdict."""
    return tuple((claim, prove_limit(claim)) for claim in claims(block))


def prove_clears(block: BlockGraph) -> tuple[tuple[ClearClaim, Verdict], ...]:
    """Every condition that a walk of ``block`` drops on its clear tiles, with its verdict."""
    return tuple((claim, prove_clear(claim)) for claim in clear_claims(block))


def prove_limit(claim: BoundClaim, rlimit: int = RLIMIT) -> Verdict:
    """Whether no position at which the claim's condition holds is outside its limit.

    ``rlimit`` bounds the solver's work in its own units, so that the answer is repeatable.
    """
    if isinstance(claim.condition, bool):
        if not claim.condition:
            return Proved("every term is the unit everywhere")
        return Unknown(f"some term of the walk of {claim.axis!r} may matter at every position")
    terms = _Integers()
    holds = terms.truth(claim.condition)
    limit = _limit(claim.bound, terms, largest=claim.side == "stop")
    position = terms.value(Index(claim.axis))
    outside = position >= limit if claim.side == "stop" else position < limit
    what = f"the walk of {claim.axis!r} misses a position that matters"
    return _decided([holds, outside], terms, rlimit, claim.condition, True, what)


def prove_clear(claim: ClearClaim, rlimit: int = RLIMIT) -> Verdict:
    """Whether the claim's condition holds at every position within its limits.

    Sizes, tiles and data are arbitrary; that clear tiles lie within the range of the walk is
    not used.
    """
    terms = _Integers()
    fails = z3.Not(terms.truth(claim.condition))
    position = terms.value(Index(claim.axis))
    inside = [position >= _limit(b, terms, largest=True) for b in claim.start]
    inside += [position < _limit(b, terms, largest=False) for b in claim.stop]
    what = f"the walk of {claim.axis!r} drops a condition where it is false"
    return _decided([fails, *inside], terms, rlimit, claim.condition, False, what)


def _limit(bound: Bound, terms: _Integers, largest: bool) -> Any:
    """The largest value of a limit over the program's tile, or the smallest.

    Where its offset varies over the tile, its value at the row in hand is taken: the largest is
    no less and the smallest no more, so more than the claim is proved.
    """
    if bound.offset.axes:
        return terms.value(bound.value)
    limit = terms.value(bound.offset)
    for axis, coefficient in bound.terms:
        last = (coefficient > 0) == largest
        limit = limit + coefficient * terms.tile(axis)[1 if last else 0]
    return limit


def _decided(
    formulas: list[Any], terms: _Integers, rlimit: int, condition: Node, holds: bool, what: str
) -> Verdict:
    """The verdict on a claim to which all ``formulas`` together are a counterexample."""
    solver = z3.Solver()
    solver.set("ctrl_c", False)  # an interrupt must not become an Unknown
    solver.set("rlimit", rlimit)
    solver.add(*formulas, *terms.facts)
    answer = asked(solver, INTEGERS)
    if answer == z3.unsat:
        return Proved("z3/integers", ("positions are 0 .. size - 1",))
    if answer == z3.sat:
        return _refuted(condition, holds, what, terms, solver.model())
    return Unknown(f"z3: {solver.reason_unknown()}")


def _refuted(condition: Node, holds: bool, what: str, terms: _Integers, model: Any) -> Verdict:
    """The counterexample, if ``condition`` is ``holds`` when evaluated without the solver."""
    values = {n: model.eval(v, model_completion=True).as_long() for n, v in terms.known.items()}
    if terms.opaque:
        data = ", ".join(show(n).splitlines()[-1].removeprefix("node ") for n in terms.opaque)
        found = ", ".join(f"{_name(n)} = {v}" for n, v in values.items())
        return Unknown(f"{what}: at {found}, if data allow it: {data}")
    domain = FloatDomain(np.float64)
    known = {n: np.full((1,) * len(n.axes), v, np.int64) for n, v in values.items()}
    sizes = {n.axis: v for n, v in values.items() if isinstance(n, Size)}
    if bool(np.all(evaluate_node(condition, domain, known, sizes))) is not holds:
        return Unknown("z3 gave a counterexample that does not hold")
    at = [(_name(n), str(v)) for n, v in values.items()]
    for axis, (first, last) in terms.tiles.items():
        ends = [model.eval(v, model_completion=True) for v in (first, last)]
        at.append((f"tile of {axis}", f"{ends[0]}..{ends[1]}"))
    return Refuted(tuple(at), what)


def _name(node: Node) -> str:
    match node:
        case Index(axis=axis):
            return axis
        case Size(axis=axis):
            return f"size({axis})"
        case Scalar(name=name):
            return name
        case _:
            return repr(node)


@dataclass
class _Integers:
    """Nodes as z3 terms; ``known`` are the integers that a counterexample must give."""

    known: dict[Node, Any] = field(default_factory=dict)
    tiles: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    facts: list[Any] = field(default_factory=list)
    opaque: list[Node] = field(default_factory=list)
    done: dict[Node, Any] = field(default_factory=dict)

    def tile(self, axis: str) -> tuple[Any, Any]:
        """The first and last position of the program's tile of a grid axis."""
        if axis not in self.tiles:
            first, last = z3.Int(f"first {axis}"), z3.Int(f"last {axis}")
            position = self.value(Index(axis))
            size = self.value(Size(axis))
            self.facts += [first >= 0, first <= position, position <= last, last < size]
            self.tiles[axis] = (first, last)
        return self.tiles[axis]

    def truth(self, node: Node) -> Any:
        """The z3 formula of a condition."""
        for below in topo([node]):
            if below.kind is Kind.BOOL and below not in self.done:
                self.done[below] = self._truth(below)
        return self.done[node]

    def _truth(self, node: Node) -> Any:
        match node:
            case Map(fn=Fn.AND | Fn.OR as fn, args=args):
                parts = [self.done[a] for a in args]
                return z3.And(parts) if fn is Fn.AND else z3.Or(parts)
            case Map(fn=Fn.NOT, args=(arg,)):
                return z3.Not(self.done[arg])
            case Map(fn=Fn.LT | Fn.LE | Fn.EQ as fn, args=(left, right)):
                if left.kind is Kind.INT and right.kind is Kind.INT:
                    a, b = self.value(left), self.value(right)
                    return a < b if fn is Fn.LT else a <= b if fn is Fn.LE else a == b
        self.opaque.append(node)
        return z3.Bool(f"data {len(self.opaque)}")

    def value(self, node: Node) -> Any:
        """The z3 term of an integer node."""
        for below in topo([node]):
            if below.kind is Kind.INT and below not in self.done:
                self.done[below] = self._value(below)
        return self.done[node]

    def _value(self, node: Node) -> Any:
        match node:
            case Const(value=Fraction() as value):
                return z3.IntVal(int(value))
            case Size(axis=axis):
                size = self.known[node] = z3.Int(f"size {axis}")
                self.facts.append(size >= 0)
                return size
            case Index(axis=axis):
                position = self.known[node] = z3.Int(f"position {axis}")
                self.facts += [position >= 0, position < self.value(Size(axis))]
                return position
            case Scalar(name=name):
                scalar = self.known[node] = z3.Int(f"scalar {name}")
                return scalar
            case Map(fn=Fn.ABS, args=(arg,)):
                return z3.If(self.done[arg] < 0, -self.done[arg], self.done[arg])
            case Map(fn=Fn.ADD | Fn.SUB | Fn.MAX | Fn.MIN as fn, args=(left, right)):
                return _INTEGER[fn](self.done[left], self.done[right])
            case Map(fn=Fn.MUL, args=(left, right)) if isinstance(left, Const) or isinstance(
                right, Const
            ):
                return self.done[left] * self.done[right]
        # Products of unknowns and integers from memory: any integer, but always the same one.
        self.opaque.append(node)
        return z3.Int(f"data {len(self.opaque)}")


_INTEGER: dict[Fn, Any] = {
    Fn.ADD: lambda a, b: a + b,
    Fn.SUB: lambda a, b: a - b,
    Fn.MAX: lambda a, b: z3.If(a < b, b, a),
    Fn.MIN: lambda a, b: z3.If(a < b, a, b),
}
