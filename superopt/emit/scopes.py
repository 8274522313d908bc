"""Where a value of a kernel is computed, and what it is called there.

There is a scope for the body of each walk in hand, inner walks inside of outer ones, and one for
what is outside of them all. A value belongs to the outermost scope in which all that is below it
is known.
"""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field

from superopt.emit.program import Frame
from superopt.emit.value import Value
from superopt.emit.writer import Writer
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scans import Prefix
from superopt.ugraph.scans import running
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import uses


@dataclass
class _Scope:
    """One body: what is known in it, which nodes vary over its walk, and its variables."""

    walk: Walk
    known: dict[object, Value] = field(default_factory=dict)
    varies: dict[Node, bool] = field(default_factory=dict)
    local: list[str] = field(default_factory=list)

    def moves(self, node: Node) -> bool:
        """Whether ``node`` can change from tile to tile of the walk."""
        for one in topo([node]) if node not in self.varies else ():
            if one in self.varies:
                continue
            match one:
                case Index(axis=axis):
                    found = axis == self.walk.axis
                case Input(order=order):
                    found = self.walk.axis in order
                case State(carry=carry, over=over):
                    found = carry in self.walk.components or self.walk.axis in over
                case _:
                    found = any(self.varies[c] for c in children(one))
            self.varies[one] = found
        return self.varies[node]


class Scopes(ABC):
    """What the lines of ``frame`` compute so far. ``roots``: which nodes they are to compute.

    How a node is printed, a subclass says (``expression.py``).
    """

    def __init__(self, frame: Frame, roots: Sequence[Node]) -> None:
        self.frame = frame
        self._uses = uses(roots)
        self._outside: dict[object, Value] = {}  # what is known outside of walks
        self._bodies: list[_Scope] = []
        self._count = 0  # of names that were made up
        self._last: list[str] = []  # variables of the loop that was entered or left last

    @abstractmethod
    def value(self, node: Node) -> Value:
        """``node`` as an expression of its own kind (floats in fp32)."""

    @abstractmethod
    def real(self, node: Node) -> Value:
        """``node`` as fp32."""

    def shape(self, dims: tuple[str, ...]) -> str:
        """The shape of a tile, as text."""
        return f"[{', '.join(self.frame.tile(d) for d in dims)}]"

    def count(self, roots: Sequence[Node]) -> None:
        """From now on ``roots`` say which nodes are used more than once."""
        self._uses = uses(roots)

    def enter(self, walk: Walk) -> None:
        """From now on nodes that vary over ``walk`` are printed into its body."""
        self._bodies.append(_Scope(walk))
        self._last = self._bodies[-1].local

    def running(self, scan: Prefix) -> State | None:
        """What a scan or a recurrence along the axis of the walk in hand goes on from."""
        found = running(self._bodies[-1].walk).get(scan) if self._bodies else None
        return found.old if found is not None else None

    def leave(self) -> None:
        """Forgets the body of the walk: what was printed there is not known behind it."""
        self._last = self._bodies.pop().local
        if self._bodies:
            self._bodies[-1].local += self._last

    def forget(self) -> None:
        """Lets the loop to come, over other tiles of the same walk, take the last one's names."""
        self.frame.names.release(self._last)
        self._count = 0

    def local(self, wish: str) -> str:
        """A variable of the innermost loop in hand, if there is one."""
        return self._named(wish, len(self._bodies))

    def name_of(self, node: Node, wish: str) -> str:
        """A variable of the loop in which ``node`` belongs, if it is one."""
        return self._named(wish, self._depth(node))

    def lines_of(self, node: Node) -> Writer:
        """The lines in which ``node`` belongs."""
        return self.frame.at_depth(self._depth(node))

    def known_with(self, node: Node) -> dict[object, Value]:
        """What is known where ``node`` belongs."""
        return self._place(node)

    @property
    def read(self) -> Collection[Node]:
        """All that is to be computed."""
        return self._uses

    def varies(self, node: Node) -> bool:
        """Whether ``node`` can change from tile to tile of the walks in hand.

        It is asked of any node, for a matrix product regroups factors into nodes of its own.
        """
        return self._depth(node) > 0

    def define(self, node: Node, value: Value) -> None:
        """Says what a ``State`` is called from here on."""
        self._place(node)[node] = value

    def assign(self, node: Node, value: Value, wish: str | None = None) -> Value:
        """Gives ``value`` a variable in the lines where ``node`` belongs."""
        return self._assigned(value, wish or self._wish(node), self._depth(node))

    def _assigned(self, value: Value, wish: str, depth: int) -> Value:
        """Gives ``value`` a variable in the lines inside ``depth`` walks."""
        name = self._named(wish, depth)
        self.frame.at_depth(depth).line(f"{name} = {value.text}")
        return Value(name, value.dims, value.kind)

    def _named(self, wish: str, depth: int) -> str:
        name = self.frame.names.fresh(wish)
        if depth:
            self._bodies[depth - 1].local.append(name)
        return name

    def _depth(self, node: Node) -> int:
        """Inside how many of the walks in hand ``node`` belongs."""
        inside = range(len(self._bodies), 0, -1)
        return next((i for i in inside if self._bodies[i - 1].moves(node)), 0)

    def _known(self, depth: int) -> dict[object, Value]:
        """What is known inside so many walks."""
        return self._bodies[depth - 1].known if depth else self._outside

    def _place(self, node: Node) -> dict[object, Value]:
        """What is known in the scope of ``node``."""
        return self._known(self._depth(node))

    def _wish(self, node: Node) -> str:
        self._count += 1
        match node:
            case Map(fn=fn):
                return f"{fn.symbol}_{self._count}"
            case Reduce(fn=fn):
                return f"{'sum' if fn is Fn.ADD else fn.symbol}_{self._count}"
            case Scan(fn=fn):
                return f"cum{'sum' if fn is Fn.ADD else fn.symbol}_{self._count}"
            case Input(name=name):
                return f"{name}_real"
            case _:
                return f"value_{self._count}"
