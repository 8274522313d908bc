"""Natural exponentials become powers of two, with the constant folded into existing scales.

``exp(c * s - m)`` with ``m = max_n(c * s)`` becomes ``exp2(c' * s - m')`` with ``c' = c *
LOG2E`` and ``m' = max_n(c' * s)``: no product an element is added. Other readers of ``m``
read ``LN2 * m'``. This is directed and done once, on a form that was chosen, by the laws
of this file.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from superopt.rewrite.extract import ordered
from superopt.rewrite.forms import Form
from superopt.rewrite.forms import Step
from superopt.rewrite.rule import Num
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import Sym
from superopt.rewrite.rule import apply
from superopt.rewrite.rule import finite
from superopt.rewrite.rule import largest
from superopt.rewrite.rule import positive
from superopt.rewrite.rule import rule
from superopt.rewrite.rule import smallest
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import children
from superopt.ugraph.walk import rebuild
from superopt.ugraph.walk import topo

Sides = tuple[Pattern, Pattern]


@rule(lowering=True)
def exponential_in_base_two(x: Pattern) -> Sides:
    """The machine computes powers of two."""
    return apply(Fn.EXP, x), apply(Fn.EXP2, x * Sym(Constant.LOG2E))


@rule(lowering=True)
def logarithm_in_base_two(x: Pattern) -> Sides:
    """The machine computes binary logarithms."""
    return apply(Fn.LOG, x), apply(Fn.LOG2, x) * Sym(Constant.LN2)


@rule(finite("c"), lowering=True)
def scale_a_sum(a: Pattern, b: Pattern, c: Pattern) -> Sides:
    """The scale goes to the terms, where it meets other scales."""
    return (a + b) * c, a * c + b * c


@rule(finite("c"), lowering=True)
def scale_a_difference(a: Pattern, b: Pattern, c: Pattern) -> Sides:
    """The scale goes to the terms, where it meets other scales."""
    return (a - b) * c, a * c - b * c


@rule(lowering=True)
def scale_a_select(p: Pattern, a: Pattern, b: Pattern, c: Pattern) -> Sides:
    """The scale goes to the arms, where it meets other scales."""
    return apply(Fn.WHERE, p, a, b) * c, apply(Fn.WHERE, p, a * c, b * c)


@rule(lowering=True)
def scale_a_maximum(a: Pattern, n: str) -> Sides:
    """A maximum in units of the binary logarithm."""
    return largest(n, a) * Sym(Constant.LOG2E), largest(n, a * Sym(Constant.LOG2E))


@rule(lowering=True)
def scale_a_minimum(a: Pattern, n: str) -> Sides:
    """A minimum in units of the binary logarithm."""
    return smallest(n, a) * Sym(Constant.LOG2E), smallest(n, a * Sym(Constant.LOG2E))


@rule(lowering=True)
def scale_a_larger_one(a: Pattern, b: Pattern) -> Sides:
    """The larger of two values in units of the binary logarithm."""
    scale = Sym(Constant.LOG2E)
    return apply(Fn.MAX, a, b) * scale, apply(Fn.MAX, a * scale, b * scale)


@rule(lowering=True)
def scale_a_smaller_one(a: Pattern, b: Pattern) -> Sides:
    """The smaller of two values in units of the binary logarithm."""
    scale = Sym(Constant.LOG2E)
    return apply(Fn.MIN, a, b) * scale, apply(Fn.MIN, a * scale, b * scale)


@rule(lowering=True)
def constants_are_inverse(x: Pattern) -> Sides:
    """Back to natural units."""
    return x * Sym(Constant.LOG2E) * Sym(Constant.LN2), x


@rule(positive("c"), finite("c"), lowering=True)
def lowest_if_scaled(a: Pattern, c: Pattern) -> Sides:
    """The value itself can be asked whether it is minus infinity."""
    return apply(Fn.EQ, c * a, Num(-INF)), apply(Fn.EQ, a, Num(-INF))


@rule(positive("c"), finite("c"), lowering=True)
def highest_if_scaled(a: Pattern, c: Pattern) -> Sides:
    """The value itself can be asked whether it is infinity."""
    return apply(Fn.EQ, c * a, Num(INF)), apply(Fn.EQ, a, Num(INF))


LOG2E = Named(Constant.LOG2E)
LN2 = Named(Constant.LN2)


def lower(program: Program) -> Program:
    """``program`` with ``exp2`` and ``log2`` only; every value stays the same."""
    values = [s.value for s in program.outputs]
    rounded = (n for n in topo(values) if isinstance(n, Map) and n.fn in GRIDS)
    work = _Lowering(frozenset(topo(rounded)))
    for node in topo(values):
        if isinstance(node, Map) and node.fn is Fn.EXP and work.enters(node):
            work.scaled(node.args[0])  # finds the maxima that change their unit
    work.natural_memo.clear()
    work.scaled_memo.clear()
    outputs = [Store(s.name, s.order, s.dtype, work.natural(s.value)) for s in program.outputs]
    return replace(program, outputs=tuple(outputs))


def lowered(form: Form) -> Form:
    """``form`` with ``exp2`` and ``log2`` only, and a step that says so if that changes it."""
    program = lower(form.program)
    if program == form.program:
        return form
    nodes = topo(s.value for s in form.program.outputs)
    powers = any(isinstance(n, Map) and n.fn is Fn.EXP for n in nodes)
    sides = ("exp(x)", "exp2(x * LOG2E)") if powers else ("log(x)", "LN2 * log2(x)")
    step = Step("exponentials in base two", *sides)
    return replace(form, program=program, steps=(*form.steps, step))


class _Lowering:
    """Two readings of a node: as it is, and times LOG2E. Both are made from the leaves up.

    ``rounded``: nodes that a rounding sees. Their exponentials are scaled as a whole, so that
    what is rounded is made of the spec's own maxima: a step function shows every difference.
    """

    def __init__(self, rounded: frozenset[Node]) -> None:
        self.rounded = rounded
        self.natural_memo: dict[Node, Node] = {}
        self.scaled_memo: dict[Node, Node] = {}
        self.moved: set[Node] = set()  # maxima that are kept in units of the binary logarithm

    def enters(self, power: Map) -> bool:
        """Whether the scale enters the exponent of an exponential."""
        return power not in self.rounded and absorbs(power.args[0])

    def natural(self, node: Node) -> Node:
        if node not in self.natural_memo:
            self.natural_memo[node] = self._natural(node)
        return self.natural_memo[node]

    def scaled(self, node: Node) -> Node:
        if node not in self.scaled_memo:
            self.scaled_memo[node] = self._scaled(node)
        return self.scaled_memo[node]

    def _natural(self, node: Node) -> Node:
        match node:
            case Map(fn=Fn.EXP, args=(x,)) if self.enters(node):
                return Map(Fn.EXP2, (self.scaled(x),))
            case Map(fn=Fn.EXP, args=(x,)):
                # A difference is small where its terms are large: it is scaled as a whole.
                return Map(Fn.EXP2, (ordered(Fn.MUL, (LOG2E, self.natural(x))),))
            case Map(fn=Fn.LOG, args=(x,)):
                return ordered(Fn.MUL, (LN2, Map(Fn.LOG2, (self.natural(x),))))
            case Map(fn=Fn.EQ, args=args) if any(_infinite(a) for a in args) and any(
                a in self.moved for a in args
            ):
                # A positive scale keeps infinities, so the moved value can be asked itself.
                return ordered(Fn.EQ, tuple(self.scaled(a) if a in self.moved else a for a in args))
            case Map(fn=Fn.EQ, args=args) if any(map(_infinite, args)) and any(
                map(_unscaled, args)
            ):
                return self.natural(Map(Fn.EQ, tuple(_unscaled(a) or a for a in args)))
            case Reduce() if node in self.moved:
                return ordered(Fn.MUL, (LN2, self.scaled(node)))
            case Map(fn=fn, args=args) if fn.value.commutative:
                return ordered(fn, tuple(self.natural(a) for a in args))
            case Map() | Best() | Recur():
                return rebuild(node, tuple(self.natural(a) for a in children(node)))
            case Reduce(arg=arg) | Scan(arg=arg):
                return rebuild(node, (self.natural(arg),))
            case _:
                return node

    def _scaled(self, node: Node) -> Node:
        match node:
            case Const(value=value) if value == 0 or _infinite(node):
                return node
            case Map(fn=Fn.ADD | Fn.SUB | Fn.MAX | Fn.MIN as fn, args=(a, b)) if absorbs(node):
                return ordered(fn, (self.scaled(a), self.scaled(b)))
            case Map(fn=Fn.WHERE, args=(test, a, b)) if absorbs(node):
                return Map(Fn.WHERE, (self.natural(test), self.scaled(a), self.scaled(b)))
            case Map(fn=Fn.MUL, args=(a, b)) if (small := _smaller(node)) is not None:
                other = b if small is a else a
                return ordered(Fn.MUL, (self.scaled(small), self.natural(other)))
            case Map(fn=Fn.LOG, args=(x,)):
                return Map(Fn.LOG2, (self.natural(x),))
            case Reduce(fn=Fn.MAX | Fn.MIN as fn, axis=axis, arg=arg) if absorbs(arg):
                self.moved.add(node)
                return Reduce(fn, axis, self.scaled(arg))
            case _:
                return ordered(Fn.MUL, (LOG2E, self.natural(node)))


def absorbs(node: Node) -> bool:
    """Whether a scale can enter ``node`` without a product at each of its elements.

    Where it cannot, a difference is scaled as a whole: ``x * LOG2E - m * LOG2E`` would round at
    the size of ``x``, and ``(x - m) * LOG2E`` rounds at that of the difference.
    """
    match node:
        case Const(value=value):
            return value == 0 or _infinite(node)
        case Map(fn=Fn.MUL):
            return _smaller(node) is not None
        case Reduce(fn=Fn.MAX | Fn.MIN, arg=arg):
            return absorbs(arg)
        case Map(fn=Fn.ADD | Fn.SUB | Fn.MAX | Fn.MIN | Fn.WHERE, args=(*_, a, b)):
            # What has fewer axes is scaled once for many elements.
            return all(absorbs(x) or len(x.axes) < len(node.axes) for x in (a, b))
        case Map(fn=Fn.LOG):
            return True
        case _:
            return False


def _smaller(node: Node) -> Node | None:
    """A factor with fewer axes than the product, the smallest one."""
    match node:
        case Map(fn=Fn.MUL, args=args):
            small = min(args, key=lambda a: len(a.axes))
            return small if len(small.axes) < len(node.axes) else None
        case _:
            return None


def _unscaled(node: Node) -> Node | None:
    """What a number above zero scales in ``node``; None if none does."""
    match node:
        case Map(fn=Fn.MUL, args=(a, b)):
            return b if _above_zero(a) else a if _above_zero(b) else None
        case _:
            return None


def _above_zero(node: Node) -> bool:
    match node:
        case Const(value=value):
            return isinstance(value, Fraction) and value > 0
        case Map(fn=Fn.MUL, args=args):
            return all(map(_above_zero, args))
        case _:
            return isinstance(node, Named)


def _infinite(node: Node) -> bool:
    return (
        isinstance(node, Const) and not isinstance(node.value, Fraction) and abs(node.value) == INF
    )
