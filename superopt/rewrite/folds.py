"""Laws of folds: factors leave and enter them, folds join, part and change places.

Every law is about one axis. A fold over several axes is the fold of a fold
(``swap_sums``), so the laws hold for any one of its axes.
"""

from __future__ import annotations

from collections.abc import Callable

from superopt.rewrite.rule import AxisFree
from superopt.rewrite.rule import Extent
from superopt.rewrite.rule import Fold
from superopt.rewrite.rule import HasAxis
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import Rule
from superopt.rewrite.rule import apply
from superopt.rewrite.rule import finite
from superopt.rewrite.rule import largest
from superopt.rewrite.rule import nonzero
from superopt.rewrite.rule import positive
from superopt.rewrite.rule import rule
from superopt.rewrite.rule import smallest
from superopt.rewrite.rule import total
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.scalar import Fn

Sides = tuple[Pattern, Pattern]


@rule(structural=True)
def swap_sums(a: Pattern, n: str, k: str) -> Sides:
    """Nested sums are one sum over both axes."""
    return total(n, total(k, a)), total(k, total(n, a))


@rule(structural=True)
def swap_products(a: Pattern, n: str, k: str) -> Sides:
    """Nested products are one product over both axes."""
    return Fold(Fn.MUL, n, Fold(Fn.MUL, k, a)), Fold(Fn.MUL, k, Fold(Fn.MUL, n, a))


@rule(structural=True)
def swap_maxima(a: Pattern, n: str, k: str) -> Sides:
    """Nested maxima are one maximum over both axes."""
    return largest(n, largest(k, a)), largest(k, largest(n, a))


@rule(structural=True)
def swap_minima(a: Pattern, n: str, k: str) -> Sides:
    """Nested minima are one minimum over both axes."""
    return smallest(n, smallest(k, a)), smallest(k, smallest(n, a))


@rule(AxisFree("c", "n"), finite("c"))
def factor_out_of_sum(a: Pattern, c: Pattern, n: str) -> Sides:
    """Distributivity: one product after the fold instead of one an element.

    This delays the division of a softmax, moves the scale of a norm behind a matrix product
    and reassociates chains of matrix products.
    """
    return total(n, a * c), total(n, a) * c


@rule(AxisFree("c", "n"), finite("c", given="n"), fallback="factor_out_of_sum")
def factor_out_of_sum_guarded(a: Pattern, c: Pattern, n: str) -> Sides:
    """As above where the factor is defined only if there are elements (a mean)."""
    empty = apply(Fn.EQ, Extent("n"), 0)
    return total(n, a * c), total(n, a) * apply(Fn.WHERE, empty, 0, c)


@rule(AxisFree("c", "n"), fallback="divide_sum")
def divide_sum_guarded(a: Pattern, c: Pattern, n: str) -> Sides:
    """As above for a denominator that is zero only if there are no elements (a softmax)."""
    empty = apply(Fn.EQ, Extent("n"), 0)
    return total(n, a / c), total(n, a) / apply(Fn.WHERE, empty, 1, c)


@rule(AxisFree("c", "n"), nonzero("c"))
def divide_sum(a: Pattern, c: Pattern, n: str) -> Sides:
    """One division after the fold instead of one an element."""
    return total(n, a / c), total(n, a) / c


@rule(AxisFree("c", "n"), HasAxis("a", "n"), finite("c"))
def factor_into_sum(a: Pattern, c: Pattern, n: str) -> Sides:
    """Distributivity the other way: it lets the factor meet the factors of the elements."""
    return total(n, a) * c, total(n, a * c)


@rule(HasAxis("a", "n"), HasAxis("b", "n"))
def fuse_sums(a: Pattern, b: Pattern, n: str) -> Sides:
    """One fold instead of two over the same axis."""
    return total(n, a) + total(n, b), total(n, a + b)


@rule(HasAxis("a", "n"), HasAxis("b", "n"))
def part_sum(a: Pattern, b: Pattern, n: str) -> Sides:
    """Two folds, each of which may have a cheaper form than their sum."""
    return total(n, a + b), total(n, a) + total(n, b)


@rule(HasAxis("a", "n"), HasAxis("p", "n"), HasAxis("q", "n"), finite("a"))
def distribute_under_sum(a: Pattern, p: Pattern, q: Pattern, n: str) -> Sides:
    """A product with a sum of operands, as two folds (a low-rank update of a weight).

    Only where both operands vary over the axis: a value that is subtracted from every
    element (a mean) would cancel after the folds instead of before them.
    """
    return total(n, a * (p + q)), total(n, a * p) + total(n, a * q)


@rule(AxisFree("c", "n"), positive("c"), finite("c"))
def factor_out_of_maximum(a: Pattern, c: Pattern, n: str) -> Sides:
    """A positive factor keeps the order, so it is applied once, after the fold."""
    return largest(n, a * c), largest(n, a) * c


@rule(AxisFree("c", "n"), positive("c"), finite("c"))
def factor_out_of_minimum(a: Pattern, c: Pattern, n: str) -> Sides:
    """A positive factor keeps the order, so it is applied once, after the fold."""
    return smallest(n, a * c), smallest(n, a) * c


@rule(AxisFree("c", "n"), finite("c"))
def shift_out_of_maximum(a: Pattern, c: Pattern, n: str) -> Sides:
    """A shift keeps the order, so it is applied once, after the fold."""
    return largest(n, a + c), largest(n, a) + c


@rule(AxisFree("c", "n"), finite("c"))
def shift_out_of_minimum(a: Pattern, c: Pattern, n: str) -> Sides:
    """A shift keeps the order, so it is applied once, after the fold."""
    return smallest(n, a + c), smallest(n, a) + c


@rule(HasAxis("a", "n"), HasAxis("b", "n"))
def fuse_maxima(a: Pattern, b: Pattern, n: str) -> Sides:
    """One fold instead of two over the same axis."""
    return apply(Fn.MAX, largest(n, a), largest(n, b)), largest(n, apply(Fn.MAX, a, b))


@rule(AxisFree("c", "n"), finite("c"))
def sum_of_selected(p: Pattern, a: Pattern, c: Pattern, n: str) -> Sides:
    """A factor leaves a masked fold."""
    return total(n, apply(Fn.WHERE, p, a * c, 0)), total(n, apply(Fn.WHERE, p, a, 0)) * c


def _out_of_extremum(fn: Fn, fold: Callable[[str, Pattern], Pattern], name: str) -> Rule:
    def law(a: Pattern, n: str) -> Sides:
        return fold(n, apply(fn, a)), apply(fn, fold(n, a))

    law.__name__ = f"{fn.symbol}_out_of_{name}"
    law.__doc__ = "A rounding keeps the order, so it is applied once, after the fold."
    return rule()(law)


OF_ROUNDINGS = tuple(
    _out_of_extremum(fn, fold, name)
    for fn in GRIDS
    for fold, name in ((largest, "maximum"), (smallest, "minimum"))
)
