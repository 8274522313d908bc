"""Expressions of roles: tiles that come through pipes, and values that lie as their axes say."""

from __future__ import annotations

from collections.abc import Callable

from superopt.emit.expression import Expressions
from superopt.emit.scopes import _Scope
from superopt.emit.struct.frames import Role
from superopt.emit.value import Value
from superopt.errors import NotEmittable
from superopt.ugraph.contraction import MatrixProduct
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Kind
from superopt.ugraph.threads import Pipe

Slot = Callable[[Input], str]


class Values(Expressions):
    """Prints nodes into the lines of a role. ``pipes``: by tensor. ``slot``: text of the tile of a
    tensor in shared memory, for the iteration in hand."""

    frame: Role
    slot: Slot

    def __init__(self, frame: Role, pipes: dict[Input, Pipe]) -> None:
        super().__init__(frame, [])
        self.pipes = pipes

    def _load(self, node: Input) -> Value:
        """A tile in registers: out of its pipe, or from device memory."""
        if node not in self.pipes:
            return super()._load(node)
        dims = self.frame.dims(node.order)
        text = f"{self.shared(node, dims)}.load({self.frame.layout(dims)})"
        return Value(text, dims, node.kind)

    def shared(self, node: Input, dims: tuple[str, ...]) -> str:
        """The tile of ``node`` in shared memory, with ``dims``."""
        frame = self.frame
        kept = tuple(a for a in node.order if a in frame.dims(node.order))
        text = self.slot(node)
        if kept != node.order:
            text += f".reshape([{', '.join(frame.tile(a) for a in kept)}])"
        return text if kept == dims else f"{text}.permute([1, 0])"

    def _fold(self, node: Reduce) -> Value:
        """A fold; its result lies as a slice of what was folded, and is turned if it should not."""
        found = super()._fold(node)
        tile = self.frame.dims(node.arg.axes)
        if len(tile) != 2 or len(found.dims) != 1:
            return found
        parent = self.frame.layouts.parent(found.dims)
        if parent == tile:
            return found
        (axis,) = found.dims
        free = ", assert_trivial=True" if parent.index(axis) == tile.index(axis) else ""
        text = f"gl.convert_layout({found.text}, {self.frame.layout(found.dims)}{free})"
        return Value(text, found.dims, found.kind)

    def product(self, node: Reduce, onto: Value | None = None) -> Value | None:
        """None; a product of matrices is an instruction of a walk or nothing."""
        if super().product(node, onto) is not None:
            raise NotEmittable(f"a product of matrices over {node.axis!r} is no instruction")
        return None

    def left(self, product: MatrixProduct, axis: str) -> str:
        """The left operand of a product in registers, rounded to the dtype of the product."""
        tile = (product.row, axis)
        text = self._operand(product, product.left, tile, axis)
        layout = self.frame.operand((product.row, product.column))
        return f"gl.convert_layout({text}, {layout}, assert_trivial=True)"

    def anew(self, walk: Walk | None) -> None:
        """Begins an instruction of the body of ``walk``: nothing that varies is known in it."""
        self._bodies = [] if walk is None else [_Scope(walk)]

    def text(self, node: Node) -> str:
        """``node`` as an expression that is about to get a variable."""
        known = self._place(node)
        return (known[node] if node in known else self._print(node)).text

    def outside(self, key: object, text: str, wish: str) -> str:
        """A variable outside of walks that holds ``text``, made once."""
        if key not in self._outside:
            self._outside[key] = self._assigned(Value(text, (), Kind.REAL), wish, 0)
        return self._outside[key].text

    def _case_dtype(self, product: MatrixProduct) -> str:
        for side in (product.left, product.right):
            if isinstance(side, Input) and side.dtype is None:
                return f"{self.frame.tensor(side.name, side.order, None, False).pointer}.dtype"
        return self.frame.case_dtype()
