"""The least time that any completion of a partial candidate can take, by the model.

A partial candidate is a kernel (its stores), with or without the places of its axes. What
counts is sure to happen in every completion: each tensor read once, each store written, each
fold of a product, each point-wise value over all its axes. What a repair may move out of a
walk (values that read a fold over one of their own axes) is not sure, and not counted; nor
are positions that a narrowed walk may leave out (``shares``).
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from superopt.device import Device
from superopt.search.configs import GRID_MOST
from superopt.search.model import operand
from superopt.ugraph.contraction import factors
from superopt.ugraph.contraction import matrix_product
from superopt.ugraph.cost import BYTES
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Best
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.pack import guests
from superopt.ugraph.pack import hosts
from superopt.ugraph.pack import tile_dimensions
from superopt.ugraph.recurrence import operations
from superopt.ugraph.scalar import Fn
from superopt.ugraph.unscaled import EXTREMA
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo


@dataclass(frozen=True)
class Case:
    """What a graph is searched for. ``shares``: per axis the least part of it that a walk has
    to cover (1 if no mask cuts it)."""

    sizes: Mapping[str, int]
    dtype: str
    device: Device
    tf32: bool = False
    shares: Mapping[str, float] | None = None

    def volume(self, axes: Iterable[str]) -> float:
        """Elements over ``axes`` that are sure to be computed."""
        return prod(self.sizes[a] * (self.shares or {}).get(a, 1.0) for a in axes)

    @property
    def operand(self) -> str:
        """The row of the device's matrix rates."""
        return operand(self.dtype, self.tf32)


@dataclass(frozen=True)
class Work:
    """What a kernel needs in any case, whatever the places of its axes.

    ``reads``: (axes, bytes) per tensor. ``products``: ADD-folds of at least two factors, with
    their sure elements; ``plain`` and ``special``: operations of everything else.
    """

    reads: tuple[tuple[tuple[str, ...], float], ...]
    written: float
    products: tuple[tuple[Reduce, float], ...]
    plain: float
    special: float


def work(stores: Sequence[Store], case: Case) -> Work:
    """The sure work of one kernel."""
    order = topo([s.value for s in stores])
    over = _folded_below(order)
    reads: list[tuple[tuple[str, ...], float]] = []
    products: list[tuple[Reduce, float]] = []
    plain = special = 0.0
    inside = _product_nodes(order) | _scales(order)
    for node in order:
        match node:
            case Input(order=axes, dtype=dtype):
                reads.append((axes, case.volume(axes) * BYTES[dtype or case.dtype]))
            case Reduce(fn=Fn.ADD) if len(factors(node.arg)) > 1:
                products.append((node, _sure(node, over, case)))
            case Reduce() if not over[node.arg] & {node.axis}:
                plain += case.volume(node.arg.axes)
            case Scan():
                plain += case.volume(node.axes)
            case Recur(axis=axis):
                plain += operations(order, node) * case.volume((axis, *node.state))
            case Map(fn=fn) if node.axes and not over[node].intersection(node.axes):
                if node not in inside:
                    plain += fn.value.plain * case.volume(node.axes)
                special += fn.value.special * case.volume(node.axes)
            case _:
                pass
    written = sum(
        prod(case.sizes[a] for a in s.order) * BYTES[s.dtype or case.dtype] for s in stores
    )
    return Work(tuple(reads), written, tuple(products), plain, special)


def kernel_bound(found: Work, case: Case) -> float:
    """Microseconds that a kernel with this work takes at least, wherever its axes go."""
    device = case.device
    flop = 2 * sum(volume for _, volume in found.products)
    return device.launch_us + 1e6 * max(
        _bytes(found) / device.dram,
        flop / max(device.matrix_rate(case.operand), 2 * device.plain),
        found.plain / device.plain,
        found.special / device.special,
    )


def mapping_bound(found: Work, places: Sequence[tuple[str, Place]], case: Case) -> float:
    """Microseconds that a kernel with this work takes at least, with these places."""
    device = case.device
    tiled, host = tile_dimensions(places), hosts(places)
    grid = {a: (a, *guests(a, places)) for a, p in places if isinstance(p, Grid)}
    fewest = {
        joint: -(-prod(case.sizes[b] for b in joint) // (1 if a not in tiled else GRID_MOST))
        for a, joint in grid.items()
    }
    flop, plain = 0.0, found.plain
    for fold, volume in found.products:
        # Programs along a grid axis that the fold lacks all compute it.
        again = volume * _repeats(fewest, fold.arg.axes)
        if matrix_product(fold.fn, fold.axis, fold.arg, tiled, host):
            flop += 2 * again
        else:
            plain += again
    split = any(isinstance(p, Split) for _, p in places)
    most = prod(case.sizes[a] for joint in grid.values() for a in joint)
    idle = 1.0 if split or not most else max(1.0, device.sms / most)
    total = found.written + sum(size * _repeats(fewest, axes) for axes, size in found.reads)
    return device.launch_us * (2 if split else 1) + 1e6 * max(
        _bytes(found) / device.dram,
        idle * total / device.l2,
        idle * flop / device.matrix_rate(case.operand),
        idle * plain / device.plain,
        idle * found.special / device.special,
    )


def _repeats(fewest: Mapping[tuple[str, ...], int], axes: Collection[str]) -> int:
    """How many programs at least do the same work over ``axes``, by the joint axes of the grid."""
    return prod(n for joint, n in fewest.items() if not any(a in axes for a in joint))


def _bytes(found: Work) -> float:
    return found.written + sum(size for _, size in found.reads)


def _folded_below(order: Sequence[Node]) -> dict[Node, frozenset[str]]:
    """For each node, the axes of all folds at or below it."""
    found: dict[Node, frozenset[str]] = {}
    for node in order:
        axes = frozenset().union(*(found[c] for c in children(node)))
        match node:
            case Reduce(axis=axis) | Best(axis=axis) | Recur(axis=axis, last=True):
                axes |= {axis}
        found[node] = axes
    return found


def _product_nodes(order: Sequence[Node]) -> set[Node]:
    """Multiplications that a matrix instruction does by itself."""
    found: set[Node] = set()
    for node in order:
        if isinstance(node, Reduce) and node.fn is Fn.ADD:
            stack = [node.arg]
            while stack:
                top = stack.pop()
                if isinstance(top, Map) and top.fn is Fn.MUL:
                    found.add(top)
                    stack.extend(top.args)
    return found


def _scales(order: Sequence[Node]) -> set[Node]:
    """Multiplications of what an extremum folds, which may come behind it (``unscaled``)."""
    found: set[Node] = set()
    for node in order:
        stack = [node.arg] if isinstance(node, Reduce) and node.fn in EXTREMA else []
        while stack:
            match stack.pop():
                case Map(fn=Fn.WHERE, args=(_, value, _)):
                    stack.append(value)
                case Map(fn=Fn.MUL, args=args) as scaled:
                    found.add(scaled)
                    stack.extend(args)
    return found


def _sure(fold: Reduce, over: Mapping[Node, frozenset[str]], case: Case) -> float:
    """Elements of a fold of a product that no repair can save.

    A factor that reads a fold over the same axis may be separated; what it reads apart from
    such folds stays, at least the largest part of it.
    """
    axes: set[str] = {fold.axis}
    for factor in factors(fold.arg):
        if fold.axis not in factor.axes:
            continue  # it may be taken out of the fold
        kept = [n.axes for n in _steady(factor, fold.axis, over) if fold.axis in n.axes]
        axes.update(max(kept, key=lambda k: (case.volume(k), k), default=()))
    return case.volume(sorted(axes))


def _steady(node: Node, axis: str, over: Mapping[Node, frozenset[str]]) -> list[Node]:
    """The largest parts of ``node`` that read no fold over ``axis``."""
    if axis not in over[node]:
        return [node]
    if isinstance(node, Reduce):
        return []
    return [n for c in children(node) for n in _steady(c, axis, over)]
