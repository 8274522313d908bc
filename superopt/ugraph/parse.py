"""Reads the text of graphs (``text.py`` says how it looks) back into the identical graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

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
from superopt.ugraph.lines import Line
from superopt.ugraph.lines import lines
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.parse_nodes import NodeReader
from superopt.ugraph.parse_parts import read_config
from superopt.ugraph.parse_parts import read_place
from superopt.ugraph.scalar import Fn

Parsed = Node | Program | BlockGraph | KernelGraph | Config
G = TypeVar("G", bound=Parsed)

_LISTS = ("listed", "places", "taken")  # a carry that keeps the one, or another


def parse(text: str) -> Parsed:
    """The graph that ``text`` says.

    Raises:
        ParseError: it says none; the message begins with the number of the line.
    """
    return Reader(list(lines(text))).graph()


def parse_as(kind: type[G], text: str) -> G:
    """Like ``parse``, for a reader that knows what must be there."""
    graph = parse(text)
    if not isinstance(graph, kind):
        raise ParseError(f"line 1: expected a {kind.__name__}, found a {type(graph).__name__}")
    return graph


class Reader(NodeReader):
    """``lines``: of a text, of which that at ``at`` is read next."""

    def __init__(self, lines: list[Line]) -> None:
        super().__init__({})
        self.lines, self.at = lines, 0

    def graph(self) -> Parsed:
        """What all lines say."""
        if not self.lines:
            raise ParseError("line 1: the text is empty")
        found = self._graph()
        if (line := self.next_line()) is not None:
            line.fail(f"{line.peek()!r} does not belong here")
        return found

    def _graph(self) -> Parsed:
        line = self.next_line()
        assert line is not None
        match line.peek():
            case "program":
                return self._program()
            case "kernels":
                return self._kernels()
            case "kernel":
                return self.block()
            case "config":
                return read_config(self._header("config"))
            case "node":
                line.expect("node")
                return self._last(line)
            case word:
                return line.fail(f"unknown section {word!r}")

    def next_line(self) -> Line | None:
        """The next line that binds no name; those that do are read on the way."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.accept("let", "%"):
                return line
            name = line.take()
            line.expect("=")
            self.bound[name] = self.expression(line)
            line.end()
            self.at += 1
        return None

    def section(self, word: str, depth: int) -> Line | None:
        """The next line, entered, if it begins with ``word`` at ``depth``."""
        line = self.next_line()
        if line is None or line.depth != depth or not line.accept(word):
            return None
        self.at += 1
        return line

    def _header(self, word: str) -> Line:
        line = self.section(word, 0)
        assert line is not None
        return line

    def _last(self, line: Line) -> Node:
        self.at += 1
        node = self.expression(line)
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
        while line := self.section("fixed", 0):
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
        while line := self.section("output", 0):
            outputs.append(self._name_line(line))
        kernels: list[BlockGraph] = []
        while (line := self.next_line()) is not None and line.peek() == "kernel":
            kernels.append(self.block())
        return KernelGraph(name, params, tuple(outputs), tuple(kernels), fixed)

    def _params(self) -> tuple[Input | Scalar, ...]:
        found: list[Input | Scalar] = []
        while line := self.section("param", 0):
            node = self.expression(line)
            line.end()
            if not isinstance(node, Input | Scalar):
                line.fail("a parameter is a tensor or a scalar")
            found.append(node)
        return tuple(found)

    def _stores(self, word: str, depth: int) -> Iterator[Store]:
        while line := self.section(word, depth):
            name, order, dtype = self.tensor(line)
            line.expect("=")
            value = self.expression(line)
            line.end()
            yield Store(name, order, dtype, value)

    def block(self) -> BlockGraph:
        """One kernel, beginning with its header."""
        self._header("kernel")
        places: list[tuple[str, Place]] = []
        while line := self.section("place", 1):
            places.append((line.name(), read_place(line)))
            line.end()
        order: list[Turn] = []
        if line := self.section("order", 1):
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
        while line := self.section("walk", depth):
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
        while header := self.section("carry", depth):
            carries.append(self._carry(header, depth))
        stores = tuple(self._stores("store", depth))
        return Walk(axis, tuple(carries), stores, start, stop, reverse, clear, inner)

    def _clear(self, depth: int) -> Clear | None:
        if (line := self.section("clear", depth)) is None:
            return None
        start = self._bounds(line) if line.accept("from") else ()
        stop = self._bounds(line) if line.accept("to") else ()
        conditions: list[Node] = []
        if line.accept("of"):
            conditions.append(self.expression(line))
            while line.accept(","):
                conditions.append(self.expression(line))
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
        return Bound(tuple(terms), self.expression(line))

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
        while not (line.peek() == "by" and line.peek(2) in ("of", "moved", "stepwise", *_LISTS)):
            over.append(line.name())
        line.expect("by")
        fold = self.function(line)
        action = self.function(line) if line.accept("moved", "by") else Fn.MUL
        listed = self._listed(line) if line.peek() in _LISTS else None
        stepwise = line.accept("stepwise")
        line.expect("of")
        term = self.expression(line)
        line.end()
        moves: list[Move] = []
        while header := self.section("move", depth + 1):
            source = header.name()
            header.expect("with")
            moves.append(Move(source, self.expression(header)))
            header.end()
        return Carry(name, tuple(over), fold, term, tuple(moves), action, listed, stepwise)

    def _listed(self, line: Line) -> Listed:
        kept = line.name()
        axes = self.axes(line)
        if len(axes) != 2:
            line.fail("a list has an axis for the ranks and one for the positions")
        line.expect("with")
        return Listed(*axes, line.name(), kept == _LISTS[1], kept == _LISTS[2])
