"""Integer values that are affine in positions: what masks compare and walks are limited by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeVar

from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind

K = TypeVar("K")


@dataclass(frozen=True)
class Affine:
    """``sum(c * position of axis) + sum(c * symbol) + constant``, without zero coefficients.

    Symbols are sizes, run-time integers, integers from memory and products of them; both are in
    order of appearance.
    """

    axes: tuple[tuple[str, int], ...]
    symbols: tuple[tuple[Node, int], ...]
    constant: int

    def __add__(self, other: Affine) -> Affine:
        return Affine(
            _sum(dict(self.axes), dict(other.axes)),
            _sum(dict(self.symbols), dict(other.symbols)),
            self.constant + other.constant,
        )

    def scaled(self, by: int) -> Affine:
        """Every coefficient multiplied by ``by``."""
        if by == 0:
            return Affine((), (), 0)
        return Affine(
            tuple((a, c * by) for a, c in self.axes),
            tuple((s, c * by) for s, c in self.symbols),
            self.constant * by,
        )

    def __sub__(self, other: Affine) -> Affine:
        return self + other.scaled(-1)

    def plus(self, constant: int) -> Affine:
        """The value plus a number."""
        return Affine(self.axes, self.symbols, self.constant + constant)

    def coefficient(self, axis: str) -> int:
        """How much one position of ``axis`` adds."""
        return dict(self.axes).get(axis, 0)

    def offset(self) -> Node:
        """All but the positions, as a node: ``size(n) - size(m) + 1``."""
        parts = sorted(self.symbols, key=lambda s: s[1] < 0)
        if not parts or parts[0][1] < 0:
            start: Node = Const(Fraction(self.constant))
        else:
            (symbol, times), *parts = parts
            start = _times(symbol, times)
            if self.constant:
                parts.append((Const(Fraction(abs(self.constant))), 1 if self.constant > 0 else -1))
        return reduce(_with, parts, start)


def affine(node: Node) -> Affine | None:
    """``node`` as an affine form; None if it is none."""
    if node.kind is not Kind.INT:
        return None
    match node:
        case Const(value=Fraction() as value):
            return Affine((), (), int(value))
        case Index(axis=axis):
            return Affine(((axis, 1),), (), 0)
        case Map(fn=Fn.ADD | Fn.SUB | Fn.MUL as fn, args=(left, right)):
            a, b = affine(left), affine(right)
            return None if a is None or b is None else _combined(fn, a, b, node)
        case Size() | Scalar() | Input():
            return Affine((), ((node, 1),), 0)
        case _:
            return None


def _combined(fn: Fn, a: Affine, b: Affine, node: Node) -> Affine | None:
    if fn is Fn.ADD:
        return a + b
    if fn is Fn.SUB:
        return a - b
    for number, other in ((a, b), (b, a)):
        if not number.axes and not number.symbols:
            return other.scaled(number.constant)
    return None if a.axes or b.axes else Affine((), ((node, 1),), 0)


def _sum(left: Mapping[K, int], right: Mapping[K, int]) -> tuple[tuple[K, int], ...]:
    total = dict(left)
    for key, times in right.items():
        total[key] = total.get(key, 0) + times
    return tuple((key, times) for key, times in total.items() if times)


def _times(symbol: Node, times: int) -> Node:
    return symbol if times == 1 else Map(Fn.MUL, (Const(Fraction(times)), symbol))


def _with(left: Node, part: tuple[Node, int]) -> Node:
    symbol, times = part
    return Map(Fn.ADD if times > 0 else Fn.SUB, (left, _times(symbol, abs(times))))
