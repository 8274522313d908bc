"""Reads the expressions in the text of graphs, with the names that are bound so far."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from superopt.errors import IllTyped
from superopt.ugraph.lines import NUMBER
from superopt.ugraph.lines import Line
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Hole
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import BY_SYMBOL
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn

# Lists of the best, of where they are, and of what goes with them.
BEST, BEST_AT, BEST_TAKEN = "best", "best_at", "best_taken"
RECUR, RECUR_LAST = "recur", "recur_last"  # all states of a recurrence, or the last one
SCAN = "scan_"  # stands before the name of a fold: its prefixes along the axis


@dataclass
class NodeReader:
    """``bound``: nodes by name."""

    bound: dict[str, Node]

    def function(self, line: Line) -> Fn:
        """A scalar function, by its symbol."""
        word = line.name()
        if word not in BY_SYMBOL:
            line.fail(f"unknown function {word!r}")
        return BY_SYMBOL[word]

    def tensor(self, line: Line) -> tuple[str, tuple[str, ...], str | None]:
        """Name, axes and dtype, if that is said."""
        name = line.name()
        order = self.axes(line)
        return name, order, line.name() if line.accept(":") else None

    def axes(self, line: Line) -> tuple[str, ...]:
        """Names in brackets."""
        line.expect("[")
        axes: list[str] = []
        while not line.accept("]"):
            axes.append(line.name())
        return tuple(axes)

    def expression(self, line: Line) -> Node:
        """The node that comes next.

        Raises:
            ParseError: there is none, or it is ill-typed.
        """
        try:
            return self._node(line)
        except IllTyped as error:
            line.fail(str(error))

    def _node(self, line: Line) -> Node:
        if line.accept("%"):
            if line.peek() not in self.bound:
                line.fail(f"%{line.peek()} is not bound")
            return self.bound[line.take()]
        if line.accept("$"):
            name = line.name()
            return Scalar(name, line.name()) if line.accept(":") else Scalar(name)
        if line.accept("?"):
            return Hole(line.name())
        if NUMBER.fullmatch(line.peek()):
            return Const(Fraction(line.take()))
        if line.peek(1) == "[":
            return self._bracketed(line)
        if line.peek(1) == "(":
            return self._called(line)
        if line.accept("inf"):
            return Const(INF)
        if line.accept("-inf"):
            return Const(-INF)
        word = line.name()
        if word not in Constant.__members__:
            line.fail(f"unknown constant {word!r}")
        return Named(Constant[word])

    def _bracketed(self, line: Line) -> Node:
        """A tensor, or a fold if an argument follows."""
        name, order, dtype = self.tensor(line)
        if dtype is not None or not line.accept("("):
            return Input(name, order, dtype)
        if name in (BEST, BEST_AT, BEST_TAKEN) and len(order) == 3:
            return Best(*order, self._arguments(line), name == BEST_AT, name == BEST_TAKEN)
        if name in (RECUR, RECUR_LAST) and len(order) == 1:
            return self._recurrence(line, order[0], name == RECUR_LAST)
        fold = name.removeprefix(SCAN)
        if fold not in BY_SYMBOL or len(order) != 1:
            line.fail(f"{name!r} over {len(order)} axes is no fold")
        arg = self._node(line)
        line.expect(")")
        return (Reduce if fold == name else Scan)(BY_SYMBOL[fold], order[0], arg)

    def _recurrence(self, line: Line, axis: str, last: bool) -> Recur:
        args = [self._node(line)]
        line.expect(",")
        args.append(self._node(line))
        along: list[tuple[str, ...]] = []
        while line.accept(","):
            if line.accept("from", "("):
                start = self._node(line)
                line.expect(")", ")")
                return Recur(axis, tuple(along), tuple(args), last, start)
            line.expect("along")
            along.append(self.axes(line))
            line.expect("(")
            pair = self._arguments(line)
            if len(pair) != 2:
                line.fail(f"a sum of a step is of a pair, got {len(pair)} terms")
            args += pair
        line.expect(")")
        return Recur(axis, tuple(along), tuple(args), last)

    def _arguments(self, line: Line) -> tuple[Node, ...]:
        args = [self._node(line)]
        while line.accept(","):
            args.append(self._node(line))
        line.expect(")")
        return tuple(args)

    def _called(self, line: Line) -> Node:
        word = line.name()
        line.expect("(")
        node: Node
        match word:
            case "size":
                node = Size(line.name())
            case "index":
                node = Index(line.name())
            case "new" | "old" | "new_int" | "old_int":
                carry, over = line.name(), self.axes(line)
                node = State(carry, over, word.startswith("old"), word.endswith("_int"))
            case _ if word in BY_SYMBOL:
                return Map(BY_SYMBOL[word], self._arguments(line))
            case _:
                line.fail(f"unknown function {word!r}")
        line.expect(")")
        return node
