"""The instructions of a walk: which of its expressions are computed one by one.

Every matrix product is an instruction, and so is every other fold, every expression that is used
more than once, every load from device memory, every left operand that has to be computed, and the
new value of every carry. All else is part of the expression of its user. What does not change along
the walk is no instruction of its body.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field

from superopt.errors import NotEmittable
from superopt.ugraph.carry import Carry
from superopt.ugraph.contraction import MatrixProduct
from superopt.ugraph.contraction import matrix_product
from superopt.ugraph.contraction import tile_axes
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Best
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import State
from superopt.ugraph.pack import dimensions_of
from superopt.ugraph.pack import hosts
from superopt.ugraph.scalar import Fn
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import Use
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import transform
from superopt.ugraph.walk import uses


class Products:
    """The matrix products of one block. ``of`` knows those that ``apart`` has seen."""

    def __init__(self, block: BlockGraph) -> None:
        self.order, self.host = tile_axes(block), hosts(block.places)
        self._known: dict[Node, MatrixProduct] = {}

    def apart(self, roots: Iterable[Node]) -> dict[Node, Node]:
        """``roots``, and all below, with every product of matrices standing for itself: factors
        that come after the sum are multiplied behind it."""
        return transform(roots, self._change)

    @property
    def any(self) -> bool:
        """Whether there was one."""
        return bool(self._known)

    def of(self, node: Node) -> MatrixProduct | None:
        """The product that ``node`` is."""
        return self._known.get(node)

    def _change(self, node: Node) -> Node:
        if not isinstance(node, Reduce):
            return node
        found = matrix_product(node.fn, node.axis, node.arg, self.order, self.host)
        if found is None:
            return node
        bare = Reduce(Fn.ADD, node.axis, Map(Fn.MUL, (found.left, found.right)))
        self._known[bare] = MatrixProduct(found.left, found.right, found.row, found.column)
        return bare if found.after is None else Map(Fn.MUL, (bare, found.after))

    def dims(self, node: Node) -> tuple[str, ...]:
        """The tile dimensions of ``node``."""
        return dimensions_of(node.axes, self.order, self.host)


@dataclass
class _Builder:
    walk: Walk
    products: Products
    counts: dict[Node, int]
    found: list[Instr] = field(default_factory=list)
    names: dict[Node, str] = field(default_factory=dict)
    varies: dict[Node, bool] = field(default_factory=dict)

    def moves(self, node: Node) -> bool:
        """Whether ``node`` changes from tile to tile."""
        for one in topo([node]) if node not in self.varies else ():
            match one:
                case Index(axis=axis):
                    found = axis == self.walk.axis
                case Input(order=order):
                    found = self.walk.axis in order
                case State(carry=carry):
                    found = carry in self.walk.components
                case _:
                    found = any(self.varies[c] for c in children(one))
            self.varies[one] = found
        return self.varies[node]

    def carry(self, carry: Carry, kept: Node, fold: Node) -> None:
        """Adds what gives ``carry`` its new value."""
        if carry.listed is not None:
            raise NotEmittable(f"the list of the best {carry.name!r} has no instruction")
        if carry.stepwise:
            raise NotEmittable(f"the steps of the recurrence {carry.name!r} have no instruction")
        product = self.products.of(fold)
        alone = product is not None and self.counts[fold] == 1
        if product is None or not alone:
            value = Map(carry.fold, (kept, fold))
            self.below(value)
            self.add(value, Op.COMPUTE, carry.name, carry.name)
            return
        self.below(fold)
        onto = Use(carry.name, 1)
        if kept is not carry.old:
            self.below(kept)
            self.add(kept, Op.COMPUTE, f"{carry.name}_kept")
            onto = Use(f"{carry.name}_kept")
        self.add(fold, Op.PRODUCT, carry.name, carry.name, onto)

    def below(self, root: Node) -> None:
        """Adds the instructions that ``root`` needs, but not ``root``."""
        for node in topo([root]):
            if node is root or node in self.names or not self.moves(node):
                continue
            self.node(node)
        if (product := self.products.of(root)) is not None:
            self.operands(product)

    def node(self, node: Node) -> None:
        """Adds ``node`` if it is an instruction of its own."""
        if isinstance(node, Scan | Best | Recur):
            raise NotEmittable(f"{type(node).__name__} has no instruction")
        if (product := self.products.of(node)) is not None:
            self.operands(product)
            self.add(node, Op.PRODUCT, f"product_{len(self.found) + 1}")
        elif isinstance(node, Reduce):
            word = "sum" if node.fn is Fn.ADD else node.fn.symbol
            self.add(node, Op.COMPUTE, f"{word}_{len(self.found) + 1}")
        elif isinstance(node, Map | Input) and self._alone(node):
            word = node.fn.symbol if isinstance(node, Map) else f"{node.name}_tile"
            self.add(node, Op.COMPUTE, f"{word}_{len(self.found) + 1}")

    def _alone(self, node: Map | Input) -> bool:
        """Whether a tile is computed, or loaded, by itself: for several users, or since no copy
        brings it, so that it may be asked for long before it is needed."""
        dims = self.products.dims(node)
        return bool(dims) and (self.counts[node] > 1 or (isinstance(node, Input) and len(dims) < 2))

    def operands(self, product: MatrixProduct) -> None:
        """Adds the left operand if it is computed in the walk."""
        if not isinstance(product.left, Input) and self.moves(product.left):
            name = f"operand_{len(self.found) + 1}"
            self.found.append(Instr(name, Op.OPERAND, product.left))

    def add(self, node: Node, op: Op, name: str, carry: str = "", onto: Use | None = None) -> None:
        self.names[node] = name
        self.found.append(Instr(name, op, node, carry, onto))


def instructions(walk: Walk, products: Products) -> tuple[Instr, ...]:
    """The instructions of ``walk``, in an order in which each follows what it reads.

    Raises:
        NotEmittable: something in the walk has no instruction; the message names it.
    """
    if walk.inner or walk.stores:
        raise NotEmittable(
            f"the walk of {walk.axis!r} has {'a walk' if walk.inner else 'a store'} inside"
        )
    kept = [c.kept(walk.components) for c in walk.carries]
    folds: list[Node] = [Reduce(c.fold, walk.axis, c.term) for c in walk.carries]
    new = products.apart([*kept, *folds])
    kept, folds = [new[k] for k in kept], [new[f] for f in folds]
    counts = _counts([*kept, *folds], products)
    builder = _Builder(walk, products, counts)
    for carry, old, fold in zip(walk.carries, kept, folds, strict=True):
        builder.carry(carry, old, fold)
    return tuple(builder.found)


def _counts(roots: list[Node], products: Products) -> dict[Node, int]:
    """How often every node is read into registers: a product takes tensors from elsewhere."""
    found = uses(roots)
    for node in list(found):
        if (product := products.of(node)) is not None:
            for side in (product.left, product.right):
                found[side] -= isinstance(side, Input)
    return found
