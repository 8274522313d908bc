"""The substitute *per-tile scale*: a rounding whose scale is a fold over the axis that is summed.

``sum_k round(u / s) w`` with ``s`` made of ``max_k abs(u)`` is no finite sum of products, so
the maximum must be known before anything is rounded: two passes. A substitute cuts the axis into
tiles, rounds each with the fold over its own positions, and corrects the rounded value by the
ratio of the two scales, ``s_tile / s``::

    sum_t (s_t / s) sum_k round(u / s_t) w

That is another quantiser (finer, where a tile holds no large value), not the operator that was
written, and its tiles are axes of it: for a given size of tiles it is algebra like any other.
"""

from __future__ import annotations

from superopt.errors import NoRepair
from superopt.repair.record import words
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Best
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import children
from superopt.ugraph.walk import rebuild
from superopt.ugraph.walk import topo

NAME = "per_tile_scale"


def rounded_axes(program: Program) -> tuple[str, ...]:
    """The axes over which something is folded that a rounding along the axis reads."""
    found: dict[str, None] = {}
    for node in _roundings(program):
        for fold in topo([node]):
            if isinstance(fold, Reduce) and fold.axis in node.axes:
                found[fold.axis] = None
    return tuple(found)


def per_tile(program: Program, axis: str) -> Program:
    """``program`` with ``axis`` as tiles, ``{axis}_tile`` by ``{axis}_in``, in each of which a
    rounding has a scale of its own.

    Raises:
        NoRepair: no rounding reads a fold over ``axis``, or one does so in a way that is no scale;
            the message names the term.
    """
    if axis not in rounded_axes(program):
        raise NoRepair(f"no rounding along {axis!r} reads a fold over it")
    cut = _Cut(axis)
    outputs = tuple(
        Store(s.name, cut.order(s.order), s.dtype, cut.of(s.value)) for s in program.outputs
    )
    params = tuple(cut.tensor(p) if isinstance(p, Input) else p for p in program.params)
    return Program(f"{program.name}_{NAME}", params, outputs, program.fixed)


def unrounded(program: Program) -> Program:
    """``program`` without its explicit roundings: what it would be in exact arithmetic."""
    found: dict[Node, Node] = {}
    for node in topo(s.value for s in program.outputs):
        parts = tuple(found[c] for c in children(node))
        exact = isinstance(node, Map) and node.fn in GRIDS
        found[node] = parts[0] if exact else rebuild(node, parts)
    outputs = tuple(Store(s.name, s.order, s.dtype, found[s.value]) for s in program.outputs)
    return Program(program.name, program.params, outputs, program.fixed)


def _roundings(program: Program) -> list[Map]:
    nodes = topo(s.value for s in program.outputs)
    return [n for n in nodes if isinstance(n, Map) and n.fn in GRIDS]


class _Cut:
    """Nodes with ``axis`` cut into tiles; ``local``: with folds over a tile in place of all."""

    def __init__(self, axis: str) -> None:
        self.axis = axis
        self.tile, self.inside = f"{axis}_tile", f"{axis}_in"
        self.whole: dict[Node, Node] = {}
        self.local: dict[Node, Node] = {}

    def order(self, order: tuple[str, ...]) -> tuple[str, ...]:
        """The same memory, with two axes for one."""
        return tuple(
            b for a in order for b in ((self.tile, self.inside) if a == self.axis else (a,))
        )

    def tensor(self, tensor: Input) -> Input:
        """The same tensor."""
        return Input(tensor.name, self.order(tensor.order), tensor.dtype)

    def of(self, root: Node) -> Node:
        """``root`` of the whole axis."""
        for node in topo([root]):
            self.local[node] = self._of(node, self.local, True)
            self.whole[node] = self._of(node, self.whole, False)
        return self.whole[root]

    def _of(self, node: Node, found: dict[Node, Node], local: bool) -> Node:
        parts = tuple(found[c] for c in children(node))
        match node:
            case Input():
                return self.tensor(node)
            case Index(axis=axis) if axis == self.axis:
                first = Map(Fn.MUL, (Index(self.tile), Size(self.inside)))
                return Map(Fn.ADD, (first, Index(self.inside)))
            case Size(axis=axis) if axis == self.axis:
                return Map(Fn.MUL, (Size(self.tile), Size(self.inside)))
            case Reduce(fn=fn, axis=axis) if axis == self.axis:
                tile = Reduce(fn, self.inside, parts[0])
                return tile if local else Reduce(fn, self.tile, tile)
            case Scan(axis=axis) | Best(axis=axis) | Recur(axis=axis) if axis == self.axis:
                raise NoRepair(f"{words(node)} is not cut into tiles")
            case Map(fn=fn, args=(value,)) if fn in GRIDS and self._scaled(value):
                rounded = Map(fn, (self.local[value],))
                return rounded if local else self._corrected(value, rounded)
            case _:
                return rebuild(node, parts)

    def _scaled(self, value: Node) -> bool:
        """Whether a value along the axis reads a fold over it."""
        if self.axis not in value.axes:
            return False
        return any(isinstance(n, Reduce) and n.axis == self.axis for n in topo([value]))

    def _corrected(self, value: Node, rounded: Node) -> Node:
        """A value rounded with the scale of its tile, in units of that of the whole axis."""
        above, below = self._scale(value)
        ratio: Node = rounded
        for factors, mine, other in (
            (above, self.whole, self.local),
            (below, self.local, self.whole),
        ):
            for factor in factors:
                ratio = Map(Fn.MUL, (ratio, Map(Fn.DIV, (mine[factor], other[factor]))))
        return ratio

    def _scale(self, value: Node) -> tuple[list[Node], list[Node]]:
        """The factors of ``value``, above and below, that read folds over the axis."""
        match value:
            case Map(fn=Fn.MUL, args=(a, b)):
                (up, down), (more, less) = self._scale(a), self._scale(b)
                return [*up, *more], [*down, *less]
            case Map(fn=Fn.DIV, args=(a, b)):
                (up, down), (less, more) = self._scale(a), self._scale(b)
                return [*up, *more], [*down, *less]
            case _ if not any(isinstance(n, Reduce) and n.axis == self.axis for n in topo([value])):
                return [], []
            case _ if self.axis in value.axes:
                raise NoRepair(
                    f"{words(value)} is rounded, and folds over {self.axis!r} do not scale it"
                )
            case _:
                return [value], []
