"""Proves the laws of ``rewrite``: pointwise ones by cases and z3, laws of folds by induction.

Induction is over the number of elements of the folded axis, as two queries. *Base*: all
folds are their units. *Step*: every fold takes one more element, and the law holds before.
A fold around a fold of the same function (``swap_sums``) takes its element by the lemma that
a fold of ``f + g`` is the sum of both folds, which is ``fuse_sums`` (by the same induction).
Before a proof, hostile samples look for a counterexample.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from fractions import Fraction

import numpy as np

from superopt.rewrite import algebra
from superopt.rewrite import folds
from superopt.rewrite import lowering
from superopt.rewrite.rule import RULES
from superopt.rewrite.rule import App
from superopt.rewrite.rule import AxisFree
from superopt.rewrite.rule import Extent
from superopt.rewrite.rule import Fact
from superopt.rewrite.rule import Fold
from superopt.rewrite.rule import Known
from superopt.rewrite.rule import Num
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import Rule
from superopt.rewrite.rule import Sym
from superopt.rewrite.rule import Var
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.verify.reals.numeric import Array
from superopt.verify.reals.numeric import evaluate
from superopt.verify.reals.numeric import same
from superopt.verify.reals.smt import prove_equal
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

assert algebra, (folds, lowering)  # their import fills RULES

POINT = "m"  # an axis beside the folded ones, so that every law is tried at many points


def prove_all() -> list[tuple[str, Verdict, float]]:
    """Every law with its verdict and the seconds it took, in order of registration."""
    found = []
    for law in RULES.values():
        start = time.perf_counter()
        verdict = prove_law(law)
        found.append((law.name, verdict, time.perf_counter() - start))
    return found


def prove_law(law: Rule) -> Verdict:
    """Whether both sides are one value wherever the law's needs hold."""
    refuted = sample(law)
    if refuted is not None:
        return refuted
    facts: list[str] = [str(n) for n in law.needs]
    for stage in ("base", "step") if law.axes else ("points",):
        verdict = _Claim(law, stage).verdict()
        if not isinstance(verdict, Proved):
            return Unknown(f"{stage}: {_why(verdict)}")
    by = "induction over the axis, z3/reals" if law.axes else "z3/reals"
    return Proved(by, tuple(facts))


def _why(verdict: Verdict) -> str:
    match verdict:
        case Unknown(why=why):
            return why
        case Refuted(at=at, what=what):
            return f"not inductive at {dict(at)}: {what}"
        case _:
            return "not proved"


# Proofs ----------------------------------------------------------------------------------


@dataclass
class _Claim:
    """One query about a law, in scalars: at points, for no element, or for one more."""

    law: Rule
    stage: str
    before: dict[Pattern, Scalar] = field(default_factory=dict)
    element: set[str] = field(default_factory=set)

    def verdict(self) -> Verdict:
        axis = self.law.axes[0] if self.law.axes else None
        if self.stage != "step" or axis is None:
            left, right = (self.term(p, axis, self.stage) for p in (self.law.left, self.law.right))
            return self._prove(left, right, [])
        old = [self.term(p, axis, "before") for p in (self.law.left, self.law.right)]
        new = [self.term(p, axis, "after") for p in (self.law.left, self.law.right)]
        facts: list[Node] = [Map(Fn.EQ, (old[0], old[1])), Map(Fn.LE, (ZERO, _count(axis)))]
        for fold, value in self.before.items():
            if isinstance(fold, Fold):
                empty = Map(Fn.EQ, (value, Const(fold.fn.unit)))
                some = Map(Fn.NOT, (Map(Fn.EQ, (_count(axis), ZERO)),))
                facts.append(Map(Fn.OR, (some, empty)))
        return self._prove(new[0], new[1], facts)

    def _prove(self, left: Node, right: Node, facts: list[Node]) -> Verdict:
        lowest: list[Node] = []
        highest: list[Node] = []
        undefined: list[Node] = []
        for fold, value in self.before.items():
            if isinstance(fold, Fold) and not self._finite(fold):
                lowest.append(value)
                highest.append(value)
                if not all(_known(self.law, h)[0] for h, _ in _holes(fold)):
                    undefined.append(value)
        for name in self.law.holes:
            for inside in (False, True):
                node = self.hole(name, inside)
                known, given = _known(self.law, name)
                unsure = given and self.stage == "base"
                if Fact.LOWER not in known or unsure:
                    lowest.append(node)
                if Fact.UPPER not in known or unsure:
                    highest.append(node)
                if unsure or not known:
                    undefined.append(node)
                elif not inside or name in self.element:
                    facts = facts + _assumed(node, known)
        return prove_equal(left, right, facts, lowest=lowest, highest=highest, undefined=undefined)

    def _finite(self, fold: Fold) -> bool:
        """Whether the fold of these elements is finite: only sums and products are claimed."""
        holes = [h for h, _ in _holes(fold)]
        finite = all({Fact.LOWER, Fact.UPPER} <= _known(self.law, h)[0] for h in holes)
        return finite and fold.fn in (Fn.ADD, Fn.MUL)

    def hole(self, name: str, inside: bool) -> Scalar:
        """The hole; ``inside`` a fold its value at the new element."""
        dtype = "bool" if name in truths(self.law) else "fp32"
        return Scalar(f"{name}'" if inside else name, dtype)

    def term(self, pattern: Pattern, axis: str | None, stage: str, inside: bool = False) -> Node:
        """``pattern`` at a stage of the induction over ``axis``."""
        match pattern:
            case Var(name=name):
                varies = inside and AxisFree(name, axis or "") not in self.law.needs
                if varies:
                    self.element.add(name)
                return self.hole(name, varies)
            case Num(value=value):
                return Const(value)
            case Sym(name=constant):
                return Named(constant)
            case Extent(axis=over):
                return self._extent(over, axis, stage)
            case Fold():
                return self._fold(pattern, axis, stage, inside)
            case App(fn=fn, args=args):
                return Map(fn, tuple(self.term(a, axis, stage, inside) for a in args))
            case _:
                raise TypeError(f"no pattern: {pattern!r}")

    def _extent(self, over: str, axis: str | None, stage: str) -> Node:
        if over != axis or stage == "before":
            return _count(over)
        return ZERO if stage == "base" else Map(Fn.ADD, (_count(over), Const(Fraction(1))))

    def _fold(self, fold: Fold, axis: str | None, stage: str, inside: bool) -> Node:
        unit = Const(fold.fn.unit)
        match fold:
            case Fold(axis=over, arg=arg) if over == axis:
                new = self.term(arg, axis, stage, inside=True) if stage == "after" else unit
            case Fold(fn=fn, axis=over, arg=Fold(fn=inner, axis=under, arg=arg)) if (
                fn is inner and under == axis
            ):
                new = self._opaque(Fold(fn, over, arg), "'") if stage == "after" else unit
            case _:
                return self._opaque(fold, "'" if inside else "")
        if stage == "base":
            return unit
        old = self._opaque(fold, "")
        return old if stage == "before" else Map(fold.fn, (old, new))

    def _opaque(self, fold: Fold, mark: str) -> Scalar:
        """The value of a fold that the induction does not take apart."""
        key = fold if not mark else App(Fn.NOT, (fold,))  # the element's fold is another value
        if key not in self.before:
            self.before[key] = Scalar(f"F{len(self.before)}{mark}")
        return self.before[key]


def _count(axis: str) -> Node:
    return Scalar(f"size({axis})", "int32")


def _known(law: Rule, hole: str) -> tuple[set[Fact], bool]:
    """What the law needs to be known of a hole; whether it rests on a non-empty axis."""
    needs = [n for n in law.needs if isinstance(n, Known) and n.hole == hole]
    return {f for n in needs for f in n.facts}, any(n.given for n in needs)


def _assumed(node: Node, known: set[Fact]) -> list[Node]:
    facts: list[Node] = []
    if Fact.NONNEGATIVE in known:
        facts.append(Map(Fn.LE, (ZERO, node)))
    if Fact.NONZERO in known:
        facts.append(Map(Fn.NOT, (Map(Fn.EQ, (node, ZERO)),)))
    return facts


def _holes(pattern: Pattern) -> Iterator[tuple[str, bool]]:
    """Every occurrence of a hole, and whether it stands for a truth value."""
    match pattern:
        case Var(name=name):
            yield name, False
        case App(fn=Fn.WHERE, args=(Var(name=name), *others)):
            yield name, True
            for other in others:
                yield from _holes(other)
        case App(fn=fn, args=args):
            for arg in args:
                truth = fn in (Fn.AND, Fn.OR, Fn.NOT)
                yield from ((h, t or (truth and arg == Var(h))) for h, t in _holes(arg))
        case Fold(arg=arg):
            yield from _holes(arg)
        case _:
            pass


def truths(law: Rule) -> set[str]:
    """The holes of a law that stand for truth values."""
    return {h for side in (law.left, law.right) for h, truth in _holes(side) if truth}


# Samples ---------------------------------------------------------------------------------


def sample(law: Rule, points: int = 256) -> Refuted | None:
    """A counterexample among hostile values at small sizes (0 included), if one is found."""
    rng = np.random.default_rng(0)
    leaves = {h: _input(law, h) for h in law.holes}
    left, right = (_node(p, leaves) for p in (law.left, law.right))
    for size in (3, 1, 0, 2):
        sizes = {POINT: points, **{a: max(size - i, 0) for i, a in enumerate(law.axes)}}
        values: dict[Node, Array] = {
            leaf: _drawn(law, name, tuple(sizes[a] for a in leaf.axes), size == 0, rng)
            for name, leaf in leaves.items()
        }
        a, b = evaluate([left, right], values, sizes)
        axes = tuple(sorted({*left.axes, *right.axes}))
        a, b = (_spread(v, n.axes, axes) for v, n in ((a, left), (b, right)))
        wrong = ~same(a, b)
        if wrong.any():
            at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            where = dict(zip(axes, map(int, at), strict=True))
            shown = [
                (name, str(v[tuple(where[x] if x == POINT else slice(None) for x in leaf.axes)]))
                for (name, leaf), v in zip(leaves.items(), values.values(), strict=True)
            ]
            both = [f"{float(np.broadcast_to(v, wrong.shape)[at]):.6g}" for v in (a, b)]
            return Refuted(tuple(shown), f"the values are {' and '.join(both)}, sizes {sizes}")
    return None


def _input(law: Rule, hole: str) -> Input:
    free = {n.axis for n in law.needs if isinstance(n, AxisFree) and n.hole == hole}
    axes = tuple(sorted({POINT, *law.axes} - free))
    return Input(hole, axes, "bool" if hole in truths(law) else None)


def _node(pattern: Pattern, leaves: dict[str, Input]) -> Node:
    match pattern:
        case Var(name=name):
            return leaves[name]
        case Num(value=value):
            return Const(value)
        case Sym(name=constant):
            return Named(constant)
        case Extent(axis=axis):
            return Size(axis)
        case Fold(fn=fn, axis=axis, arg=arg):
            return Reduce(fn, axis, _node(arg, leaves))
        case App(fn=fn, args=args):
            return Map(fn, tuple(_node(a, leaves) for a in args))
        case _:
            raise TypeError(f"no pattern: {pattern!r}")


def _drawn(
    law: Rule, hole: str, shape: tuple[int, ...], empty: bool, rng: np.random.Generator
) -> Array:
    """Values that meet the needs of the law and are hostile otherwise."""
    known, given = _known(law, hole)
    if hole in truths(law):
        truth = np.asarray(rng.random(shape) < 0.5, dtype=np.float64)
        return truth if known else np.where(rng.random(shape) < 0.1, np.nan, truth)
    if given and empty:
        return np.full(shape, np.nan)
    value = np.where(rng.random(shape) < 0.3, rng.integers(-2, 3, shape), rng.normal(size=shape))
    if Fact.NONZERO in known:
        value = np.where(value == 0, 1.5, value)
    odds = rng.random(shape)
    if Fact.LOWER not in known and Fact.NONNEGATIVE not in known:
        value = np.where(odds < 0.1, -np.inf, value)
    if Fact.UPPER not in known:
        value = np.where(odds > 0.9, np.inf, value)
    if not known:
        value = np.where(rng.random(shape) < 0.1, np.nan, value)
    return np.asarray(np.abs(value) if Fact.NONNEGATIVE in known else value)


def _spread(value: Array, have: tuple[str, ...], want: tuple[str, ...]) -> Array:
    lengths = iter(value.shape)
    return value.reshape([next(lengths) if a in have else 1 for a in want])
