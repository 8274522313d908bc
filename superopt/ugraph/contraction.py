"""Which folds are matrix products, and of what.

The algebra has no matmul: it is ``Reduce(ADD, k, a * b)``. Emission prints such a fold as a
matrix instruction and the cost counts it as one, so both ask here.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import reduce

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.node import FLOAT_DTYPES
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import topo

LEAST = 16  # the fewest positions per tile, in each of the three axes, of a matrix instruction


@dataclass(frozen=True)
class MatrixProduct:
    """``after * sum over axis of left[row, axis] * right[axis, column]``.

    ``after`` (None: 1) collects the factors that do not vary over ``axis``. ``row`` comes before
    ``column`` in the order of tile dimensions.
    """

    left: Node
    right: Node
    row: str
    column: str
    after: Node | None = None


def tile_axes(block: BlockGraph) -> tuple[str, ...]:
    """The axes that are tile dimensions of ``block``, in the order of its places."""
    return tuple(axis for axis, place in block.places if place != Grid(tiled=False))


def factors(term: Node) -> list[Node]:
    """``term`` as a product: the leaves of its tree of ``MUL``, from left to right."""
    found: list[Node] = []
    stack = [term]
    while stack:
        node = stack.pop()
        if isinstance(node, Map) and node.fn is Fn.MUL:
            stack.extend(reversed(node.args))
        else:
            found.append(node)
    return found


def matrix_product(fold: Fn, axis: str, term: Node, tiled: Collection[str]) -> MatrixProduct | None:
    """The fold of ``term`` over ``axis`` as a matrix product, or None if it is none.

    ``tiled``: the axes that are tile dimensions; give them in the order of the tile dimensions
    (``tile_axes``), or the choice of row and column is by name. A matrix product has exactly one
    row and one column among them besides ``axis``, each only in its own operand.

    A factor that varies over ``axis`` alone may join either operand. It joins one that has to
    be computed anyway, because an operand that is a plain tensor goes from memory to the matrix
    unit without passing registers; else the left one. So the order of factors does not matter.
    """
    if fold is not Fn.ADD or axis not in tiled or term.kind is not Kind.REAL:
        return None
    order = sorted(tiled) if isinstance(tiled, AbstractSet) else list(tiled)
    outer = [a for a in order if a in term.axes and a != axis]
    if len(outer) != 2:
        return None
    row, column = outer
    lefts: list[Node] = []
    rights: list[Node] = []
    free: list[Node] = []
    after: list[Node] = []
    for factor in factors(term):
        if axis not in factor.axes:
            after.append(factor)
        elif row in factor.axes and column in factor.axes:
            return None
        elif row in factor.axes:
            lefts.append(factor)
        elif column in factor.axes:
            rights.append(factor)
        else:
            free.append(factor)
    if not lefts or not rights:
        return None
    (rights if _plain(lefts) and not _plain(rights) else lefts).extend(free)
    return MatrixProduct(
        _times(lefts), _times(rights), row, column, _times(after) if after else None
    )


def matrix_products(block: BlockGraph) -> list[tuple[str, MatrixProduct]]:
    """All matrix products of one block, as (folded axis, product)."""
    tiled = tile_axes(block)
    folds = [(c.fold, w.axis, c.term) for w in block.walks for c in w.carries]
    folds += [(n.fn, n.axis, n.arg) for n in topo(block.roots()) if isinstance(n, Reduce)]
    found = [(axis, matrix_product(fold, axis, term, tiled)) for fold, axis, term in folds]
    return [(axis, product) for axis, product in found if product is not None]


def matrix_axes(block: BlockGraph) -> frozenset[str]:
    """The axes whose tiles need at least ``LEAST`` positions, because a matrix product has them."""
    return frozenset(
        a for axis, product in matrix_products(block) for a in (axis, product.row, product.column)
    )


def operand_dtype(product: MatrixProduct) -> str | None:
    """The dtype in which the operands enter the matrix unit; None is the dtype of the case.

    A computed operand is rounded to the dtype of a partner that is a tensor, two computed ones
    to the dtype of the case. Of two tensors the one in the dtype of the case decides, else the
    narrower float.
    """
    sides = [s.dtype for s in (product.left, product.right) if isinstance(s, Input)]
    declared = [d for d in sides if d is None or d in FLOAT_DTYPES]
    narrow = {d for d in declared if d != "fp32"}
    if None in narrow or len(narrow) > 1 or not declared:
        return None
    return narrow.pop() if narrow else "fp32"


def _plain(side: list[Node]) -> bool:
    return len(side) == 1 and isinstance(side[0], Input)


def _times(nodes: list[Node]) -> Node:
    return reduce(lambda a, b: Map(Fn.MUL, (a, b)), nodes)
