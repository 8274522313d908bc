"""Laws of the reals, point by point: one function, one law.

Directions are chosen for the machine: an exponential of a difference is never split into a
quotient of exponentials (the quotient overflows where the difference does not), and a
product is never multiplied out where that could cancel.
"""

from __future__ import annotations

from superopt.rewrite.rule import Num
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import apply
from superopt.rewrite.rule import finite
from superopt.rewrite.rule import nonnegative
from superopt.rewrite.rule import nonzero
from superopt.rewrite.rule import positive
from superopt.rewrite.rule import rule
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn

Sides = tuple[Pattern, Pattern]


@rule(structural=True)
def commute_sum(a: Pattern, b: Pattern) -> Sides:
    """Flat sums are kept sorted."""
    return a + b, b + a


@rule(structural=True)
def commute_product(a: Pattern, b: Pattern) -> Sides:
    """Flat products are kept sorted."""
    return a * b, b * a


@rule(structural=True)
def associate_sum(a: Pattern, b: Pattern, c: Pattern) -> Sides:
    """A sum of sums is one flat sum."""
    return (a + b) + c, a + (b + c)


@rule(structural=True)
def associate_product(a: Pattern, b: Pattern, c: Pattern) -> Sides:
    """A product of products is one flat product."""
    return (a * b) * c, a * (b * c)


@rule(structural=True)
def associate_maximum(a: Pattern, b: Pattern, c: Pattern) -> Sides:
    """A maximum of maxima is one flat maximum."""
    return apply(Fn.MAX, apply(Fn.MAX, a, b), c), apply(Fn.MAX, a, apply(Fn.MAX, b, c))


@rule(structural=True)
def associate_minimum(a: Pattern, b: Pattern, c: Pattern) -> Sides:
    """A minimum of minima is one flat minimum."""
    return apply(Fn.MIN, apply(Fn.MIN, a, b), c), apply(Fn.MIN, a, apply(Fn.MIN, b, c))


@rule(structural=True)
def associate_and(a: Pattern, b: Pattern, c: Pattern) -> Sides:
    """A conjunction of conjunctions is one flat conjunction."""
    return apply(Fn.AND, apply(Fn.AND, a, b), c), apply(Fn.AND, a, apply(Fn.AND, b, c))


@rule(structural=True)
def associate_or(a: Pattern, b: Pattern, c: Pattern) -> Sides:
    """A disjunction of disjunctions is one flat disjunction."""
    return apply(Fn.OR, apply(Fn.OR, a, b), c), apply(Fn.OR, a, apply(Fn.OR, b, c))


@rule(structural=True)
def difference_is_sum(a: Pattern, b: Pattern) -> Sides:
    """Differences are kept as sums, so that laws of sums see them."""
    return a - b, a + (-1) * b


@rule(structural=True)
def quotient_is_product(a: Pattern, b: Pattern) -> Sides:
    """Quotients are kept as products with a reciprocal, so that laws of products see them."""
    return a / b, a * (1 / b)


@rule(finite("x"))
def common_factor(x: Pattern, p: Pattern, q: Pattern) -> Sides:
    """Distributivity, read right to left: one product fewer."""
    return x * p + x * q, x * (p + q)


@rule(nonzero("y"), finite("y"))
def cancel_quotient(x: Pattern, y: Pattern) -> Sides:
    """What is divided by what it was multiplied by is itself, except by zero."""
    return (x * y) / y, x


@rule()
def reciprocal_of_product(x: Pattern, y: Pattern) -> Sides:
    """Each factor of a denominator can be moved on its own."""
    return 1 / (x * y), (1 / x) * (1 / y)


@rule(nonzero("x"), finite("x"))
def reciprocal_of_reciprocal(x: Pattern) -> Sides:
    """Dividing by a reciprocal is multiplying."""
    return 1 / (1 / x), x


@rule()
def product_of_exponentials(a: Pattern, b: Pattern) -> Sides:
    """One exponential instead of two, and no overflow of either."""
    return apply(Fn.EXP, a) * apply(Fn.EXP, b), apply(Fn.EXP, a + b)


@rule(finite("a"))
def reciprocal_of_exponential(a: Pattern) -> Sides:
    """A division becomes a sign."""
    return 1 / apply(Fn.EXP, a), apply(Fn.EXP, (-1) * a)


@rule()
def log_of_exponential(x: Pattern) -> Sides:
    """Inverse functions cancel, also at both infinities."""
    return apply(Fn.LOG, apply(Fn.EXP, x)), x


@rule(nonnegative("x"))
def exponential_of_log(x: Pattern) -> Sides:
    """Inverse functions cancel where the logarithm is defined, also at zero and infinity."""
    return apply(Fn.EXP, apply(Fn.LOG, x)), x


@rule(positive("y"), finite("y"))
def log_of_quotient(x: Pattern, y: Pattern) -> Sides:
    """A logarithm of a normalised value: the division leaves the elements."""
    return apply(Fn.LOG, x / y), apply(Fn.LOG, x) - apply(Fn.LOG, y)


@rule(nonnegative("x"))
def square_of_root(x: Pattern) -> Sides:
    """The root is not needed."""
    return apply(Fn.SQRT, x) * apply(Fn.SQRT, x), x


@rule(positive("x"))
def square_of_reciprocal_root(x: Pattern) -> Sides:
    """The root is not needed."""
    return apply(Fn.RSQRT, x) * apply(Fn.RSQRT, x), 1 / x


@rule()
def reciprocal_of_root(x: Pattern) -> Sides:
    """A root and a division are one operation of the machine."""
    return 1 / apply(Fn.SQRT, x), apply(Fn.RSQRT, x)


@rule(positive("x"), finite("x"))
def reciprocal_of_reciprocal_root(x: Pattern) -> Sides:
    """A division less."""
    return 1 / apply(Fn.RSQRT, x), apply(Fn.SQRT, x)


@rule(positive("c"), finite("c"))
def maximum_of_scaled(a: Pattern, b: Pattern, c: Pattern) -> Sides:
    """A positive factor keeps the order, so it is applied once."""
    return apply(Fn.MAX, c * a, c * b), c * apply(Fn.MAX, a, b)


@rule()
def maximum_of_same(x: Pattern) -> Sides:
    """A maximum is idempotent."""
    return apply(Fn.MAX, x, x), x


@rule(nonnegative("x"))
def absolute_of_nonnegative(x: Pattern) -> Sides:
    """There is no sign to drop."""
    return apply(Fn.ABS, x), x


@rule(positive("c"))
def scale_of_masked(p: Pattern, a: Pattern, c: Pattern) -> Sides:
    """A positive scale leaves a masked value, because it keeps minus infinity."""
    masked = apply(Fn.WHERE, p, a * c, Num(-INF))
    return masked, apply(Fn.WHERE, p, a, Num(-INF)) * c


@rule(finite("c"))
def shift_of_masked(p: Pattern, a: Pattern, c: Pattern) -> Sides:
    """A shift leaves a masked value, because it keeps minus infinity."""
    masked = apply(Fn.WHERE, p, a + c, Num(-INF))
    return masked, apply(Fn.WHERE, p, a, Num(-INF)) + c


@rule(finite("c"))
def factor_of_selected(p: Pattern, a: Pattern, c: Pattern) -> Sides:
    """A factor leaves a selection that is zero elsewhere, so that it can meet other factors."""
    return apply(Fn.WHERE, p, a * c, 0), apply(Fn.WHERE, p, a, 0) * c


@rule()
def common_factor_of_arms(p: Pattern, a: Pattern, b: Pattern, c: Pattern) -> Sides:
    """What multiplies either arm multiplies the one that is selected, whatever it is."""
    return apply(Fn.WHERE, p, a * c, b * c), apply(Fn.WHERE, p, a, b) * c


@rule()
def common_term_of_arms(p: Pattern, a: Pattern, b: Pattern, c: Pattern) -> Sides:
    """What is added to either arm is added to the one that is selected, whatever it is."""
    return apply(Fn.WHERE, p, a + c, b + c), apply(Fn.WHERE, p, a, b) + c


@rule(finite("b"))
def select_of_product(p: Pattern, a: Pattern, b: Pattern) -> Sides:
    """Masking a product masks a factor, so that a masked operand need not be defined."""
    return apply(Fn.WHERE, p, a, 0) * b, apply(Fn.WHERE, p, a * b, 0)
