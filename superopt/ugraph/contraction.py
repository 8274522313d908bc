"""Which folds are matrix products, and of what.

The algebra has no matmul: it is ``Reduce(ADD, k, a * b)``. Emission prints such a fold as a
matrix instruction and the cost counts it as one, so both ask here.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.node import FLOAT_DTYPES
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.pack import dimensions_of
from superopt.ugraph.pack import hosts
from superopt.ugraph.pack import tile_dimensions
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
    return tile_dimensions(block.places)


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


def product_of(nodes: Iterable[Node]) -> Node:
    """The product of at least one node, from left to right."""
    return reduce(lambda a, b: Map(Fn.MUL, (a, b)), nodes)


def matrix_product(
    fold: Fn,
    axis: str,
    term: Node,
    tiled: Collection[str],
    host: Mapping[str, str] = MappingProxyType({}),
) -> MatrixProduct | None:
    """The fold of ``term`` over ``axis`` as a matrix product, or None if it is none.

    ``tiled``: the axes that are tile dimensions; give them in the order of the tile dimensions
    (``tile_axes``), or the choice of row and column is by name. A matrix product has exactly one
    row and one column among them besides ``axis``, each only in its own operand. ``host``: for
    axes that share another one's tile dimension (``pack.hosts``), that one.

    A scale of rows or columns is part of an operand that is computed anyway, as it is written
    (what was normalised stays in range); where it alone would make a plain tensor a computed one,
    it comes after the sum. A factor that varies over ``axis`` alone may join either operand. It
    joins one that has to be computed anyway, because an operand that is a plain tensor goes from
    memory to the matrix unit without passing registers. If both have to, it joins the one that it
    is multiplied with first (in a narrow dtype the product of all such factors may overflow where
    each is harmless); else the left one. So the order of factors does not matter.
    """
    if fold is not Fn.ADD or axis not in tiled or term.kind is not Kind.REAL:
        return None
    order = sorted(tiled) if isinstance(tiled, AbstractSet) else list(tiled)
    outer = [a for a in dimensions_of(term.axes, order, host) if a != axis]
    if len(outer) != 2:
        return None
    row, column = outer
    sides = _Sides([], [], [], [], [])
    for factor in factors(term):
        along = dimensions_of(factor.axes, order, host)
        if axis not in along:
            (sides.scales if row in along or column in along else sides.after).append(factor)
        elif row in along and column in along:
            return None
        elif row in along:
            sides.lefts.append(factor)
        elif column in along:
            sides.rights.append(factor)
        else:
            sides.free.append(factor)
    if not sides.lefts or not sides.rights:
        return None
    left, right, after = _settled(term, sides)
    return MatrixProduct(
        product_of(left), product_of(right), row, column, product_of(after) if after else None
    )


@dataclass(frozen=True)
class _Sides:
    """The factors of a product: of one side, ``free`` (of the folded axis alone), ``scales`` (of
    rows or columns), and what comes ``after`` in any case."""

    lefts: list[Node]
    rights: list[Node]
    free: list[Node]
    scales: list[Node]
    after: list[Node]


def _settled(term: Node, sides: _Sides) -> tuple[list[Node], list[Node], list[Node]]:
    """The factors of both operands, and those that come after."""
    free, scales, after = sides.free, sides.scales, sides.after
    left, right, rest = _nearest(term, sides.lefts, sides.rights, [*free, *scales])
    plain_left, plain_right = _plain(sides.lefts), _plain(sides.rights)
    if plain_right:
        rest, right = [*rest, *(n for n in right if n not in sides.rights)], sides.rights
    elif plain_left:
        rest, left = [*rest, *(n for n in left if n not in sides.lefts)], sides.lefts
    joined = [n for n in rest if n in free]
    (right if plain_left and not plain_right else left).extend(joined)
    if plain_left and not any(n in free for n in left):  # nothing is computed but for a scale
        rest, left = [*rest, *(n for n in left if n not in sides.lefts)], sides.lefts
    late = [*after, *(n for n in rest if n in scales)]
    return left, right, sorted(late, key=factors(term).index)


def _nearest(
    term: Node, lefts: Sequence[Node], rights: Sequence[Node], free: Sequence[Node]
) -> tuple[list[Node], list[Node], list[Node]]:
    """The factors of ``term`` by side; a free one is on the side of the smallest product that
    has it and factors of one side only."""
    if not (isinstance(term, Map) and term.fn is Fn.MUL):
        return [term] * (term in lefts), [term] * (term in rights), [term] * (term in free)
    parts = [_nearest(arg, lefts, rights, free) for arg in term.args]
    left, right, rest = ([n for part in parts for n in part[side]] for side in range(3))
    if rest and bool(left) != bool(right):
        (left or right).extend(rest)
        rest = []
    return left, right, rest


def vectors(fold: Reduce) -> tuple[tuple[str, ...], ...]:
    """For each side of a folded product, the tensors among its factors that vary over the folded
    axis alone; sides in sorted order. What they are multiplied with decides how large operands
    get, though not how the machine computes."""
    if fold.fn is not Fn.ADD or not (isinstance(fold.arg, Map) and fold.arg.fn is Fn.MUL):
        return ()
    sides = [[n for n in factors(arg) if isinstance(n, Input)] for arg in fold.arg.args]
    return tuple(sorted(tuple(sorted(n.name for n in s if n.axes == (fold.axis,))) for s in sides))


def matrix_products(block: BlockGraph) -> list[tuple[str, MatrixProduct]]:
    """All matrix products of one block, as (folded axis, product)."""
    tiled = tile_axes(block)
    folds = [(c.fold, w.axis, c.term) for w in block.nest for c in w.carries]
    folds += [(n.fn, n.axis, n.arg) for n in topo(block.roots()) if isinstance(n, Reduce)]
    host = hosts(block.places)
    found = [(axis, matrix_product(fold, axis, term, tiled, host)) for fold, axis, term in folds]
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
