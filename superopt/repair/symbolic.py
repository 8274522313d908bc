"""Nodes as sympy expressions and back: what separates ``x`` (moving) from ``u`` (the axis).

sympy *guesses* here (it cancels ``x/x`` and ``0*x`` without asking);
spans (``span.py``) and ``verify`` judge. Nothing depends on the names of tensors and axes:
symbols are numbered in structural order. ``simplify`` is never called, because what it does
may change between versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import combinations
from typing import Any

import sympy as sp

from superopt.errors import NoRepair
from superopt.repair.expression import LARGEST
from superopt.repair.expression import LN2
from superopt.repair.expression import SMALLEST
from superopt.repair.expression import Expr
from superopt.repair.expression import expanded
from superopt.repair.expression import written
from superopt.repair.record import to_old
from superopt.repair.record import words
from superopt.repair.span import Span
from superopt.repair.span import span
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo


class Depth(Enum):
    """What a reading sees through: which functions are not hidden within one symbol."""

    NOTHING = ()
    PRODUCTS = (Fn.MUL, Fn.DIV)
    SUMS = (Fn.MUL, Fn.DIV, Fn.ADD, Fn.SUB)


@dataclass(frozen=True)
class Product:
    """``a(x) * b(u)`` or, for an additive separation, ``a(x) + b(u)``."""

    a: Expr
    b: Expr


class Reading:
    """One term as an expression: a table of symbols that stand for subterms.

    A maximal subterm without the producers' states is one symbol ``u`` (with the walked axis)
    or ``c`` (without); a subterm with states but without the axis is one ``y``, unless it is a
    multiple, a power or an exponential of one. Symbols are taken for independent, which they are
    not if they are made of the same leaves (``x`` and ``x * x``): then a reading of more
    ``depth`` may see a smaller rank.
    """

    def __init__(
        self,
        axis: str,
        moving: frozenset[State],
        known: Mapping[Node, Span],
        depth: Depth = Depth.NOTHING,
    ) -> None:
        self.axis = axis
        self.moving = moving
        self.known = known
        self.depth = depth
        self.names = frozenset(s.carry for s in moving)
        self.nodes: dict[Expr, Node] = {LN2: Named(Constant.LN2)}
        self.symbols: dict[Node, Expr] = {Named(Constant.LN2): LN2}
        self.ys: list[Expr] = []
        self.us: list[Expr] = []
        self.old: dict[Expr, Expr] = {}
        self._depends: dict[Node, bool] = {}

    # -- from nodes --------------------------------------------------------------------------

    def read(self, term: Node) -> Expr:
        """``term`` as an expression.

        Raises:
            NoRepair: a function that mixes ``x`` and ``u`` has no known law.
        """
        for node in topo([term]):
            self._depends[node] = node in self.moving or any(
                self._depends[c] for c in children(node)
            )
        return self._read(term)

    def _read(self, node: Node) -> Expr:
        if isinstance(node, Const) and isinstance(node.value, Fraction):
            return sp.Rational(node.value.numerator, node.value.denominator)
        moves, varies = self._depends[node], self.axis in node.axes
        seen = (moves and self._related(node)) or self._open(node)
        if not (moves and varies) and not seen:
            return self._symbol(node, "y" if moves else "u" if varies else "c")
        match node:
            case Map(fn=Fn.WHERE, args=(condition, then, otherwise)):
                return self._where(node, condition, then, otherwise)
            case Map(fn=fn, args=args) if fn in _READ:
                return _READ[fn](*(self._read(a) for a in args))
            case Reduce(fn=fn, axis=axis, arg=arg):
                return self._reduce(node, fn, axis, arg)
            case _:
                raise NoRepair(f"no finite rank found: {words(node)} mixes {self.who}")

    def _related(self, node: Node) -> bool:
        """Whether a moving value is to be seen as made of others, to which it is related.

        Multiples, powers and exponentials are; a quotient of two moving values is one value (a
        mean, say), and so are sums.
        """
        match node:
            case Map(fn=Fn.EXP | Fn.EXP2):
                return True
            case Map(fn=Fn.MUL, args=args):
                return all(self._depends[a] or isinstance(a, Const) for a in args)
            case Map(fn=Fn.DIV, args=args):
                return any(isinstance(a, Const) for a in args)
            case _:
                return False

    def _open(self, node: Node) -> bool:
        return isinstance(node, Map) and node.fn in self.depth.value

    @property
    def entangled(self) -> bool:
        """Whether two symbols are made of the same leaves, or one of constants alone."""
        before = set(self.old.values())
        read = [
            {n for n in topo([node]) if not isinstance(n, Map | Const)}
            for symbol, node in self.nodes.items()
            if symbol not in before and not isinstance(node, Named)
        ]
        return not all(read) or any(a & b for a, b in combinations(read, 2))

    @property
    def who(self) -> str:
        """What moves, and the axis, for messages."""
        return f"{' and '.join(sorted(self.names))} with axis {self.axis!r}"

    def _symbol(self, node: Node, kind: str) -> Expr:
        if node is Named(Constant.LOG2E):
            return 1 / LN2
        if node in self.symbols:
            return self.symbols[node]
        values = span(node, self.known)
        sign = {"positive": True} if values.positive else {"real": True}
        if values.nonnegative and not values.positive:
            sign = {"nonnegative": True}
        count = len(self.nodes)
        symbol = sp.Symbol(f"{kind}{count:03d}", **sign)
        self._add(node, symbol)
        if kind == "y":
            old = sp.Symbol(f"z{count:03d}", **sign)
            self.ys.append(symbol)
            self.old[symbol] = old
            self._add(to_old(node, self.names), old)
        if kind == "u":
            self.us.append(symbol)
        return symbol

    def _add(self, node: Node, symbol: Expr) -> None:
        self.symbols[node] = symbol
        self.nodes[symbol] = node

    def _where(self, node: Node, condition: Node, then: Node, otherwise: Node) -> Expr:
        """A choice by ``u`` alone is a sum with indicators, or with -inf where the other is."""
        if self._depends[condition]:
            raise NoRepair(f"no finite rank found: the condition of {words(node)} moves")
        for kept, lost, first in ((then, otherwise, True), (otherwise, then, False)):
            if isinstance(lost, Const) and isinstance(lost.value, float):
                zero = Const(Fraction(0))
                arms = (condition, zero, lost) if first else (condition, lost, zero)
                return self._read(kept) + self._symbol(Map(Fn.WHERE, arms), "u")
        one, zero = Const(Fraction(1)), Const(Fraction(0))
        total = sp.Integer(0)
        for arm, pair in ((then, (one, zero)), (otherwise, (zero, one))):
            value = self._read(arm)
            if value != 0:
                kind = "u" if self.axis in condition.axes else "c"
                total += self._symbol(Map(Fn.WHERE, (condition, *pair)), kind) * value
        return total

    def _reduce(self, node: Node, fn: Fn, axis: str, arg: Node) -> Expr:
        """A fold of ``a(x) b(u)`` is ``a(x)`` times a fold, if ``a`` lacks the folded axis; a sum
        of such terms is the sum of their folds."""
        refused = NoRepair(f"no finite rank found: x does not leave the fold {words(node)}")
        if fn is not Fn.ADD:
            raise refused
        e = self._read(arg)
        whole = self.split(e)
        terms = sp.Add.make_args(expanded(e))
        total = sp.Integer(0)
        for product in [self.split(t) for t in terms] if whole is None else [whole]:
            if product is None or any(axis in self.nodes[s].axes for s in product.a.free_symbols):
                raise refused
            inner = self.write(product.b)
            varies = self.axis in inner.axes
            if axis in inner.axes:
                total += product.a * self._symbol(Reduce(fn, axis, inner), "u" if varies else "c")
            else:
                total += product.a * product.b * self._symbol(Size(axis), "c")
        return total

    # -- separation --------------------------------------------------------------------------

    def without_y(self, e: Expr) -> bool:
        """Whether ``e`` does not move."""
        return bool(e.free_symbols.isdisjoint(self.ys))

    def without_u(self, e: Expr) -> bool:
        """Whether ``e`` does not vary along the walk."""
        return bool(e.free_symbols.isdisjoint(self.us))

    def split(self, e: Expr) -> Product | None:
        """``e`` as a product of a function of ``x`` and one of ``u``, if it is seen to be one."""
        if self.without_y(e):
            return Product(sp.Integer(1), e)
        if self.without_u(e):
            return Product(e, sp.Integer(1))
        if e.is_Mul:
            parts = [self.split(f) for f in e.args]
            found = [p for p in parts if p is not None]
            if len(found) < len(parts):
                return self._factored(e)
            return Product(sp.Mul(*(p.a for p in found)), sp.Mul(*(p.b for p in found)))
        if isinstance(e, sp.exp):
            terms = self.add(e.exp)
            return None if terms is None else Product(sp.exp(terms.a), sp.exp(terms.b))
        if e.is_Pow:
            inner = self.split(e.base)
            if inner is None or not e.exp.is_number:
                return None
            if not e.exp.is_integer and not inner.a.is_nonnegative:
                return None
            return Product(inner.a**e.exp, inner.b**e.exp)
        if isinstance(e, sp.Abs):
            inner = self.split(e.args[0])
            return None if inner is None else Product(sp.Abs(inner.a), sp.Abs(inner.b))
        if e.func in (LARGEST, SMALLEST):
            return self._split_extremum(e)
        return self._split_sum(e) if e.is_Add else None

    def _split_sum(self, e: Expr) -> Product | None:
        parts = [self.split(t) for t in sp.Add.make_args(expanded(e))]
        found = [p for p in parts if p is not None]
        if len(found) == len(parts):
            ratios = [sp.cancel(p.a / found[0].a) for p in found]
            if all(self.without_y(r) for r in ratios):
                return Product(
                    found[0].a, sp.Add(*(r * p.b for r, p in zip(ratios, found, strict=True)))
                )
            ratios = [sp.cancel(p.b / found[0].b) for p in found]
            if all(self.without_u(r) for r in ratios):
                return Product(
                    sp.Add(*(r * p.a for r, p in zip(ratios, found, strict=True))), found[0].b
                )
        return self._factored(e)

    def _factored(self, e: Expr) -> Product | None:
        other = sp.factor(e)
        if other == e or not (other.is_Mul or other.is_Pow):
            return None
        return self.split(other)

    def _split_extremum(self, e: Expr) -> Product | None:
        parts = [self.split(t) for t in e.args if t != 0]
        found = [p for p in parts if p is not None]
        if len(found) < len(parts) or not found or not found[0].a.is_positive:
            return None
        if any(sp.cancel(p.a / found[0].a) != 1 for p in found):
            return None
        zero = [sp.Integer(0)] * (len(e.args) - len(parts))
        return Product(found[0].a, e.func(*(p.b for p in found), *zero))

    def add(self, e: Expr) -> Product | None:
        """``e`` as a sum of a function of ``x`` and one of ``u``, if it is seen to be one."""
        a, b = sp.Integer(0), sp.Integer(0)
        for term in sp.Add.make_args(self.without_logs(expanded(e))):
            if self.without_y(term):
                b += term
            elif self.without_u(term):
                a += term
            elif term.func in (LARGEST, SMALLEST):
                parts = [self.add(t) for t in term.args]
                found = [p for p in parts if p is not None]
                if len(found) < len(parts) or any(p.a != found[0].a for p in found):
                    return None
                a, b = a + found[0].a, b + term.func(*(p.b for p in found))
            else:
                return None
        return Product(a, b)

    def without_logs(self, e: Expr) -> Expr:
        """The logarithm of a product as a sum, where both factors are positive."""

        def apart(arg: Expr) -> Expr:
            product = self.split(arg)
            if product is None or not (product.a.is_positive and product.b.is_positive):
                return sp.log(arg)
            return sp.log(product.a) + sp.log(product.b)

        return expanded(e.replace(sp.log, apart)) if e.has(sp.log) else e

    # -- to nodes ----------------------------------------------------------------------------

    def backward(self, e: Expr) -> Expr:
        """``e`` at the old states."""
        return e.subs(self.old, simultaneous=True)

    def write(self, e: Expr) -> Node:
        """``e`` as a node. Ratios of a new and an old value stay ratios, for the sake of range."""
        return written(e, self.nodes)


_READ: dict[Fn, Any] = {
    Fn.ADD: lambda a, b: a + b,
    Fn.SUB: lambda a, b: a - b,
    Fn.MUL: lambda a, b: a * b,
    Fn.DIV: lambda a, b: a / b,
    Fn.MAX: LARGEST,
    Fn.MIN: SMALLEST,
    Fn.ABS: sp.Abs,
    Fn.EXP: sp.exp,
    Fn.EXP2: lambda a: sp.exp(LN2 * a),
    Fn.LOG: sp.log,
    Fn.LOG2: lambda a: sp.log(a) / LN2,
    Fn.SQRT: sp.sqrt,
    Fn.RSQRT: lambda a: 1 / sp.sqrt(a),
}
