"""In which order the tile dimensions of a kernel are printed.

A matrix product wants its operands as (row, folded axis) and (folded axis, column). A tensor
that lies otherwise is transposed on its way to the matrix unit at no cost, but a computed
operand would have to be moved through shared memory (and some compilers get that wrong), and
a computed right operand goes through shared memory in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from itertools import permutations
from types import MappingProxyType

from superopt.ugraph.contraction import matrix_product
from superopt.ugraph.node import Input
from superopt.ugraph.node import Reduce

MOST = 6  # axes whose orders are all tried
ALONE: Mapping[str, str] = MappingProxyType({})  # no axis shares another one's tile dimension


def dimensions(
    tiled: Sequence[str], folds: Sequence[Reduce], host: Mapping[str, str] = ALONE
) -> tuple[str, ...]:
    """``tiled`` in the order that suits the products among ``folds`` best.

    Of equal orders it is the first in the order of permutations, so ``tiled`` itself if that
    is as good as any. ``host``: for packed axes the one whose tile dimension they share.
    """
    here = tuple(tiled)
    best, least = here, _moved(here, folds, host)
    if least == (0, 0, 0) or len(here) > MOST:
        return here
    for order in permutations(here):
        if (cost := _moved(order, folds, host)) < least:
            best, least = order, cost
    return best


def _moved(
    order: tuple[str, ...], folds: Sequence[Reduce], host: Mapping[str, str]
) -> tuple[int, int, int]:
    """Computed operands to transpose, computed right operands, tensors to transpose."""
    at = {axis: i for i, axis in enumerate(order)}
    turned = rights = loaded = 0
    for fold in folds:
        product = matrix_product(fold.fn, fold.axis, fold.arg, order, host)
        if product is None:
            continue
        sides = (
            (product.left, at[fold.axis] < at[product.row]),
            (product.right, at[product.column] < at[fold.axis]),
        )
        for side, wrong in sides:
            if isinstance(side, Input):
                loaded += wrong
            else:
                turned += wrong
                rights += side is product.right
    return turned, rights, loaded
