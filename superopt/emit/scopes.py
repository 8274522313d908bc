"""Where a value of a kernel is computed, and what it is called there.

There are two scopes: the body of the walk in hand, and what is outside of it. A value belongs
outside if nothing below it varies over that walk.
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.emit.program import Frame
from superopt.emit.value import Value
from superopt.emit.writer import Writer
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import uses


class Scopes:
    """What the lines of ``frame`` compute so far. ``roots``: which nodes they are to compute."""

    def __init__(self, frame: Frame, roots: Sequence[Node]) -> None:
        self.frame = frame
        self._uses = uses(roots)
        self._outer: dict[object, Value] = {}
        self._inner: dict[object, Value] = {}
        self._walk: Walk | None = None
        self._varies: dict[Node, bool] = {}
        self._count = 0  # of names that were made up
        self._local: list[str] = []  # variables of the loop in hand

    def count(self, roots: Sequence[Node]) -> None:
        """From now on ``roots`` say which nodes are used more than once."""
        self._uses = uses(roots)

    def enter(self, walk: Walk) -> None:
        """From now on nodes that vary over ``walk`` are printed into its body."""
        self._walk, self._inner, self._varies, self._local = walk, {}, {}, []

    def leave(self) -> None:
        """Forgets the body of the walk: what was printed there is not known behind it."""
        self._walk, self._inner, self._varies = None, {}, {}

    def forget(self) -> None:
        """Lets the loop to come, over other tiles of the same walk, take the last one's names."""
        self.frame.names.release(self._local)
        self._count = 0

    def local(self, wish: str) -> str:
        """A variable of the loop in hand."""
        name = self.frame.names.fresh(wish)
        self._local.append(name)
        return name

    def varies(self, node: Node) -> bool:
        """Whether ``node`` can change from tile to tile of the walk in hand.

        It is asked of any node, for a matrix product regroups factors into nodes of its own.
        """
        if self._walk is None:
            return False
        for one in topo([node]) if node not in self._varies else ():
            if one in self._varies:
                continue
            match one:
                case Index(axis=axis):
                    found = axis == self._walk.axis
                case Input(order=order):
                    found = self._walk.axis in order
                case State(carry=carry):
                    found = carry in self._walk.components
                case _:
                    found = any(self._varies[c] for c in children(one))
            self._varies[one] = found
        return self._varies[node]

    def define(self, node: Node, value: Value) -> None:
        """Says what a ``State`` is called from here on."""
        self._place(node)[node] = value

    def assign(self, node: Node, value: Value, wish: str | None = None) -> Value:
        """Gives ``value`` a variable in the lines where ``node`` belongs."""
        lines, wish = self._lines(node), wish or self._wish(node)
        name = self.local(wish) if lines is self.frame.inner else self.frame.names.fresh(wish)
        lines.line(f"{name} = {value.text}")
        return Value(name, value.dims, value.kind)

    def _place(self, node: Node) -> dict[object, Value]:
        """What is known in the scope of ``node``."""
        return self._inner if self.varies(node) else self._outer

    def _lines(self, node: Node) -> Writer:
        if self.varies(node):
            assert self.frame.inner is not None
            return self.frame.inner
        return self.frame.lines

    def _wish(self, node: Node) -> str:
        self._count += 1
        match node:
            case Map(fn=fn):
                return f"{fn.symbol}_{self._count}"
            case Reduce(fn=fn):
                return f"{'sum' if fn is Fn.ADD else fn.symbol}_{self._count}"
            case Input(name=name):
                return f"{name}_real"
            case _:
                return f"value_{self._count}"
