"""What it takes to give graphs a meaning: one protocol for floats, fields and whatever comes.

An array of a domain has positional dimensions; which axis each one is, the evaluator knows
(``evaluate.py``). Broadcasting follows numpy: equal rank, dimensions of length 1 stretch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from typing import TypeVar

from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number

A = TypeVar("A")


class Domain(Protocol[A]):
    """Arrays of some kind of values, and the scalar functions on them."""

    def constant(self, value: Number) -> A:
        """A number, as an array without dimensions."""

    def named(self, name: Constant) -> A:
        """An irrational constant, as an array without dimensions."""

    def integers(self, first: int, stop: int) -> A:
        """``first .. stop - 1`` as an array of one dimension."""

    def apply(self, fn: Fn, args: Sequence[A]) -> A:
        """``fn`` point by point; the arguments have equal rank and broadcast."""

    def fold(self, fn: Fn, value: A, dim: int) -> A:
        """``value`` folded along dimension ``dim``, which disappears; empty gives the unit."""

    def best(
        self, values: A, places: A, count: int, end: int, at: bool, taken: A | None = None
    ) -> A:
        """The ``count`` best of the last dimension (``node.Best``): values, or (``at``) places.

        ``values`` and ``places``, which are integers, have one shape. ``end``: the place of what
        is no candidate. ``taken`` goes with the candidates, and is what is given instead: 0 where
        there is none, or a NaN among them. It has as many, and broadcasts in other dimensions.
        """

    def shape(self, value: A) -> tuple[int, ...]:
        """The length of every dimension."""

    def reshape(self, value: A, shape: tuple[int, ...]) -> A:
        """The same elements in the same order (used to insert or drop dimensions of 1)."""

    def transpose(self, value: A, order: tuple[int, ...]) -> A:
        """Dimension ``i`` of the result is dimension ``order[i]``."""

    def slice(self, value: A, dim: int, first: int, stop: int) -> A:
        """Positions ``first .. stop - 1`` of dimension ``dim``."""

    def join(self, values: Sequence[A], dim: int) -> A:
        """Concatenation along ``dim`` (at least one value)."""

    def full(self, shape: tuple[int, ...], value: Number) -> A:
        """An array of one number everywhere."""

    def integer(self, value: A) -> int:
        """An integer value without dimensions, exactly (limits of walks are integers)."""

    def contract(self, left: A, right: A, dim: int) -> A:
        """``fold(ADD, apply(MUL, (left, right)), dim)``, for which domains have fast ways."""
