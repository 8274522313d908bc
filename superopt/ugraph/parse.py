"""Reads the text of graphs (``text.py`` says how it looks) back into the identical graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from fractions import Fraction
from typing import TypeVar

from superopt.errors import IllTyped
from superopt.errors import ParseError
from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Listed
from superopt.ugraph.carry import Move
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Clear
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.lines import NAME
from superopt.ugraph.lines import NUMBER
from superopt.ugraph.lines import Line
from superopt.ugraph.lines import lines
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Hole
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.parse_parts import read_config
from superopt.ugraph.parse_parts import read_place
from superopt.ugraph.scalar import BY_SYMBOL
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn

Parsed = Node | Program | BlockGraph | KernelGraph | Config
G = TypeVar("G", bound=Parsed)

BEST, BEST_AT = "best", "best_at"  # lists of the best, and of where they are
_LISTS = ("listed", "places")  # a carry that keeps the one, or the other
SCAN = "scan_"  # stands before the name of a fold: its prefixes along the axis


def parse(text: str) -> Parsed:
    """The graph that ``text`` says.

    Raises:
        ParseError: it says none; the message begins with the number of the line.
    """
    return _Reader(list(lines(text))).graph()


def parse_as(kind: type[G], text: str) -> G:
    """Like ``parse``, for a reader that knows what must be there."""
    graph = parse(text)
    if not isinstance(graph, kind):
        raise ParseError(f"line 1: expected a {kind.__name__}, found a {type(graph).__name__}")
    return graph


@dataclass
class _Reader:
    """The lines that are left, and the names bound so far."""

    lines: list[Line]
    at: int = 0
    bound: dict[str, Node] = field(default_factory=dict)

    def graph(self) -> Parsed:
        if not self.lines:
            raise ParseError("line 1: the text is empty")
        found = self._graph()
        if (line := self._next()) is not None:
            line.fail(f"{line.peek()!r} does not belong here")
        return found

    def _graph(self) -> Parsed:
        line = self._next()
        assert line is not None
        match line.peek():
            case "program":
                return self._program()
            case "kernels":
                return self._kernels()
            case "kernel":
                return self._block()
            case "config":
                return read_config(self._header("config"))
            case "node":
                line.expect("node")
                return self._last(line)
            case word:
                return line.fail(f"unknown section {word!r}")

    def _next(self) -> Line | None:
        """The next line that binds no name; those that do are read on the way."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.accept("let", "%"):
                return line
            name = line.take()
            line.expect("=")
            self.bound[name] = self._expression(line)
            line.end()
            self.at += 1
        return None

    def _is(self, word: str, depth: int) -> Line | None:
        """The next line, entered, if it begins with ``word`` at ``depth``."""
        line = self._next()
        if line is None or line.depth != depth or not line.accept(word):
            return None
        self.at += 1
        return line

    def _header(self, word: str) -> Line:
        line = self._is(word, 0)
        assert line is not None
        return line

    def _last(self, line: Line) -> Node:
        self.at += 1
        node = self._expression(line)
        line.end()
        return node

    def _name_line(self, line: Line) -> str:
        name = line.name()
        line.end()
        return name

    def _program(self) -> Program:
        name = self._name_line(self._header("program"))
        params = self._params()
        fixed = self._fixed()
        outputs = tuple(self._stores("output", 0))
        return Program(name, params, outputs, fixed)

    def _fixed(self) -> tuple[tuple[str, int], ...]:
        found: list[tuple[str, int]] = []
        while line := self._is("fixed", 0):
            axis = line.name()
            line.expect("=")
            found.append((axis, line.integer()))
            line.end()
        return tuple(found)

    def _kernels(self) -> KernelGraph:
        name = self._name_line(self._header("kernels"))
        params = self._params()
        fixed = self._fixed()
        outputs: list[str] = []
        while line := self._is("output", 0):
            outputs.append(self._name_line(line))
        kernels: list[BlockGraph] = []
        while (line := self._next()) is not None and line.peek() == "kernel":
            kernels.append(self._block())
        return KernelGraph(name, params, tuple(outputs), tuple(kernels), fixed)

    def _params(self) -> tuple[Input | Scalar, ...]:
        found: list[Input | Scalar] = []
        while line := self._is("param", 0):
            node = self._expression(line)
            line.end()
            if not isinstance(node, Input | Scalar):
                line.fail("a parameter is a tensor or a scalar")
            found.append(node)
        return tuple(found)

    def _stores(self, word: str, depth: int) -> Iterator[Store]:
        while line := self._is(word, depth):
            name, order, dtype = self._tensor(line)
            line.expect("=")
            value = self._expression(line)
            line.end()
            yield Store(name, order, dtype, value)

    def _block(self) -> BlockGraph:
        self._header("kernel")
        places: list[tuple[str, Place]] = []
        while line := self._is("place", 1):
            places.append((line.name(), read_place(line)))
            line.end()
        order: list[Turn] = []
        if line := self._is("order", 1):
            while line.peek():
                order.append(self._turn(line))
        walks = self._walks(1)
        stores = tuple(self._stores("store", 1))
        return BlockGraph(tuple(places), walks, stores, tuple(order))

    def _turn(self, line: Line) -> Turn:
        if not line.accept("reverse", "("):
            return Turn(line.name())
        axis = line.name()
        line.expect(")")
        return Turn(axis, reverse=True)

    def _walks(self, depth: int) -> tuple[Walk, ...]:
        found: list[Walk] = []
        while line := self._is("walk", depth):
            found.append(self._walk(line, depth + 1))
        return tuple(found)

    def _walk(self, line: Line, depth: int) -> Walk:
        """A walk whose parts stand at ``depth``."""
        axis = line.name()
        start = self._bounds(line) if line.accept("from") else ()
        stop = self._bounds(line) if line.accept("to") else ()
        reverse = line.accept("backwards")
        line.end()
        clear = self._clear(depth)
        inner = self._walks(depth)
        carries: list[Carry] = []
        while header := self._is("carry", depth):
            carries.append(self._carry(header, depth))
        stores = tuple(self._stores("store", depth))
        return Walk(axis, tuple(carries), stores, start, stop, reverse, clear, inner)

    def _clear(self, depth: int) -> Clear | None:
        if (line := self._is("clear", depth)) is None:
            return None
        start = self._bounds(line) if line.accept("from") else ()
        stop = self._bounds(line) if line.accept("to") else ()
        conditions: list[Node] = []
        if line.accept("of"):
            conditions.append(self._expression(line))
            while line.accept(","):
                conditions.append(self._expression(line))
        line.end()
        return Clear(tuple(conditions), start, stop)

    def _bounds(self, line: Line) -> tuple[Bound, ...]:
        found = [self._bound(line)]
        while line.accept(","):
            found.append(self._bound(line))
        return tuple(found)

    def _bound(self, line: Line) -> Bound:
        terms: list[tuple[str, int]] = []
        while (term := self._term(line)) is not None:
            terms.append(term)
            line.expect("+")
        return Bound(tuple(terms), self._expression(line))

    def _term(self, line: Line) -> tuple[str, int] | None:
        """``m`` or ``3*m``; None if the offset comes next."""
        if line.peek(1) == "*":
            coefficient = line.integer()
            line.expect("*")
            return line.name(), coefficient
        if NAME.fullmatch(line.peek()) and line.peek(1) == "+":
            return line.name(), 1
        return None

    def _carry(self, line: Line, depth: int) -> Carry:
        name, over = line.name(), []
        line.expect("over")
        while not (line.peek() == "by" and line.peek(2) in ("of", "moved", *_LISTS)):
            over.append(line.name())
        line.expect("by")
        fold = self._function(line)
        action = self._function(line) if line.accept("moved", "by") else Fn.MUL
        listed = self._listed(line) if line.peek() in _LISTS else None
        line.expect("of")
        term = self._expression(line)
        line.end()
        moves: list[Move] = []
        while header := self._is("move", depth + 1):
            source = header.name()
            header.expect("with")
            moves.append(Move(source, self._expression(header)))
            header.end()
        return Carry(name, tuple(over), fold, term, tuple(moves), action, listed)

    def _listed(self, line: Line) -> Listed:
        at = line.name() == _LISTS[1]
        axes = self._axes(line)
        if len(axes) != 2:
            line.fail("a list has an axis for the ranks and one for the positions")
        line.expect("with")
        return Listed(*axes, line.name(), at)

    def _function(self, line: Line) -> Fn:
        word = line.name()
        if word not in BY_SYMBOL:
            line.fail(f"unknown function {word!r}")
        return BY_SYMBOL[word]

    def _tensor(self, line: Line) -> tuple[str, tuple[str, ...], str | None]:
        name = line.name()
        order = self._axes(line)
        return name, order, line.name() if line.accept(":") else None

    def _axes(self, line: Line) -> tuple[str, ...]:
        line.expect("[")
        axes: list[str] = []
        while not line.accept("]"):
            axes.append(line.name())
        return tuple(axes)

    def _expression(self, line: Line) -> Node:
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
        name, order, dtype = self._tensor(line)
        if dtype is not None or not line.accept("("):
            return Input(name, order, dtype)
        if name in (BEST, BEST_AT) and len(order) == 3:
            return Best(*order, self._arguments(line), name == BEST_AT)
        fold = name.removeprefix(SCAN)
        if fold not in BY_SYMBOL or len(order) != 1:
            line.fail(f"{name!r} over {len(order)} axes is no fold")
        arg = self._node(line)
        line.expect(")")
        return (Reduce if fold == name else Scan)(BY_SYMBOL[fold], order[0], arg)

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
                carry, over = line.name(), self._axes(line)
                node = State(carry, over, word.startswith("old"), word.endswith("_int"))
            case _ if word in BY_SYMBOL:
                return Map(BY_SYMBOL[word], self._arguments(line))
            case _:
                line.fail(f"unknown function {word!r}")
        line.expect(")")
        return node
