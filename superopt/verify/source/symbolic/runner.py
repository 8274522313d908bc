"""Reads the function that launches the kernels of one graph, with the numbers of one plan."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText
from superopt.verify.source.symbolic import taken
from superopt.verify.source.symbolic.dealt import AT_ONCE
from superopt.verify.source.symbolic.formula import FALSE
from superopt.verify.source.symbolic.formula import TRUE
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import Truth
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import both
from superopt.verify.source.symbolic.formula import truths
from superopt.verify.source.symbolic.launcher import INTEGERS
from superopt.verify.source.symbolic.launcher import Host
from superopt.verify.source.symbolic.launcher import Numbers
from superopt.verify.source.symbolic.launcher import strides_of
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.printed import PrintedFunctions
from superopt.verify.source.symbolic.tle import starts_roles
from superopt.verify.source.symbolic.value import Address
from superopt.verify.source.symbolic.value import Mask
from superopt.verify.source.symbolic.value import Named
from superopt.verify.source.symbolic.value import Opaque
from superopt.verify.source.symbolic.value import Tensor
from superopt.verify.source.symbolic.value import Value
from superopt.verify.source.symbolic.value import Whole
from superopt.verify.source.symbolic.vocabulary import fits


@dataclass(frozen=True)
class Launch:
    """One launch: a function, what its parameters are, and how many programs run.

    ``path``: what holds when it is made. ``early``: when it may begin before the launch before it
    has ended. ``asked``: the launcher's own conditions of it. ``dealt``: how many tiles its
    programs deal out among themselves.
    """

    function: str
    arguments: Mapping[str, Value]
    programs: Poly
    path: tuple[Formula, ...]
    early: Formula = FALSE
    asked: Formula = TRUE
    dealt: Poly | None = None


class Runner:
    """The launches of one graph, in order, and the workspaces that it makes."""

    def __init__(
        self, text: KernelText, host: Host, numbers: Sequence[Numbers], concrete: bool = False
    ) -> None:
        self.text, self.host, self.numbers, self.concrete = text, host, numbers, concrete
        self.printed = PrintedFunctions(text, host, concrete)
        self.atoms = host.atoms
        self.names: dict[str, Value] = {}
        self.at, self.launch = 0, numbers[0]
        self.used: dict[tuple[int, str], int] = {}  # of the numbers, by launch and name
        self.launches: list[Launch] = []
        self.workspaces: list[Tensor] = []
        self.path: list[Formula] = []
        self.truths = 0  # of which nothing is known
        self.roles_asked = False  # whether roles may be taken, where the reading stands

    def read(self, graph: int) -> Runner:
        """Reads the function of a graph. Raises OutsideVocabularyError."""
        call = self.host.runners.get(graph)
        if call is None or ast.unparse(call.func) not in self.text.functions:
            raise OutsideVocabularyError(f"launcher: graph {graph} has no runner")
        function = self.text.functions[ast.unparse(call.func)]
        if len(function.args.args) != len(call.args):
            raise OutsideVocabularyError(f"launcher: {ast.unparse(call)}")
        for parameter, given in zip(function.args.args, call.args, strict=True):
            known = self.host.names.get(ast.unparse(given), Opaque())
            self.names[parameter.arg] = known
        self._block(function.body)
        return self

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id="launch")],
                value=ast.Subscript(slice=ast.Constant(value=int(index))),
            ):
                if index >= len(self.numbers):
                    raise OutsideVocabularyError(f"plan: no launch {index}")
                self.at, self.launch = index, self.numbers[index]
            case ast.Assign(
                targets=[ast.Name(id="launch")], value=ast.Call(func=ast.Name(id="_instead"))
            ):
                self.printed.taking()
                return  # that of this plan, or of another one, which is read by itself
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found = self._value(value)
                if isinstance(found, Address) and found.tensor.kind == "workspace":
                    found = self._workspace(name, found.tensor)
                self.names[name] = found
            case ast.If(test=test, body=body, orelse=other):
                self._arms(test, body, other)
            case ast.Expr(
                value=ast.Call(func=ast.Subscript(value=ast.Name(id=name), slice=grid)) as call
            ):
                self._launches(name, grid, call)
            case ast.Expr(value=ast.Constant()):
                return
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id="TAKEN"))]):
                return  # what it tells of itself
            case _:
                raise OutsideVocabularyError(f"launcher: {ast.unparse(statement)}")

    def _arms(self, test: ast.expr, body: Sequence[ast.stmt], other: Sequence[ast.stmt]) -> None:
        """Both, each with what was known before; what only one of them makes is not known after."""
        condition = self._value(test)
        before, names = len(self.launches), dict(self.names)
        if isinstance(condition, Mask) and not truths(condition.formula):
            self.path.append(condition.formula)
            self._block(body)
            self.path.pop()
        elif isinstance(condition, Mask | tuple):  # roles or none, descriptors or none
            asked = self.roles_asked
            self.roles_asked = asked or taken.asks(test, self.names)
            self._block(body)
            self.roles_asked = asked
        else:
            raise OutsideVocabularyError(f"launcher: if {ast.unparse(test)}")
        between, then = len(self.launches), self.names
        self.names = names
        self._block(other)
        decided = isinstance(condition, Mask) and not truths(condition.formula)
        if not decided and not before < between < len(self.launches):
            raise OutsideVocabularyError(
                f"launcher: an arm of {ast.unparse(test)} launches nothing"
            )
        for name in {**then, **self.names}:
            if then.get(name) != self.names.get(name):
                self.names[name] = Opaque()

    def _workspace(self, name: str, made: Tensor) -> Address:
        tensor = Tensor(
            name,
            made.shape,
            strides_of(self.atoms, name, made.shape, True, self.concrete),
            "workspace",
            made.dtype,
            apart=True,  # torch.empty makes it contiguous
        )
        self.workspaces.append(tensor)
        return Address(tensor, ZERO)

    # Launches.

    def _launches(self, name: str, grid: ast.expr, call: ast.Call) -> None:
        programs = self._value(grid)
        if not isinstance(programs, tuple) or len(programs) != 1:
            raise OutsideVocabularyError(f"launcher: grid {ast.unparse(grid)}")
        (count,) = programs
        if not isinstance(count, Whole) or name not in self.text.kernels:
            raise OutsideVocabularyError(f"launcher: {name}[{ast.unparse(grid)}]")
        if starts_roles(self.text, name) and not self.roles_asked:
            raise OutsideVocabularyError(f"launcher: {name} without asking {taken.WHY}")
        function = self.text.kernels[name]
        given = dict(zip((a.arg for a in function.args.args), call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg}
        arguments: dict[str, Value] = {}
        path = list(self.path)
        for parameter in function.args.args:
            if parameter.arg not in given:
                raise OutsideVocabularyError(f"launcher: {name} lacks {parameter.arg}")
            kind = "" if parameter.annotation is None else ast.unparse(parameter.annotation)
            found = self._passed(self._value(given[parameter.arg]), kind)
            if isinstance(found, Whole) and found.bits == 32:  # a larger one makes it 64 bits wide
                path += [f for f in fits(found.poly, 32) if not self.atoms.follows(f)]
            arguments[parameter.arg] = found
        early = self._value(given["launch_pdl"]) if "launch_pdl" in given else Mask(FALSE)
        if not isinstance(early, Mask):
            raise OutsideVocabularyError(f"launcher: launch_pdl={ast.unparse(given['launch_pdl'])}")
        asked = both(self.path)
        match grid:
            case ast.Tuple(elts=[ast.Call(func=ast.Name(id=called), args=[tiles, *_])]) if (
                called == AT_ONCE and isinstance(found := self._value(tiles), Whole)
            ):
                dealt: Poly | None = found.poly
            case _:
                dealt = None
        self.launches.append(
            Launch(name, arguments, count.poly, tuple(path), early.formula, asked, dealt)
        )

    def _passed(self, value: Value, kind: str) -> Value:
        if not isinstance(value, Whole):
            return value
        of_language = kind.removeprefix("gl.").removeprefix("tl.")  # Gluon's are the same
        return Whole(value.poly, {"constexpr": 0, "int64": 64}.get(of_language, 32))

    # Expressions.

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=bool(value)):
                return Mask(TRUE if value else FALSE)
            case ast.BoolOp():  # of the device, say
                self.truths += 1
                return Mask(Truth(f"host_{self.truths}"))
            case ast.Constant(value=int(value)):
                return Whole(number(value))
            case ast.Name(id=name):
                return self.names.get(name, Named(name))
            case ast.Tuple(elts=elements):
                return tuple(map(self._value, elements))
            case ast.Subscript(value=base, slice=ast.Constant(value=key)):
                if ast.unparse(base) == "launch.tiles":
                    return self._tile(str(key))
                found = self._value(base)
                known = isinstance(found, tuple) and isinstance(key, int)
                return found[key] if known else Opaque()  # type: ignore[index]
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, self._value(left), self._value(right))
            case ast.Compare(left=left, ops=[ast.Gt()], comparators=[right]):
                return self._greater(self._value(left), self._value(right))
            case ast.Call(func=called, args=args, keywords=keywords):
                return self._call(ast.unparse(called), called, args, keywords)
            case _:
                return self._option(node)

    def _greater(self, a: Value, b: Value) -> Value:
        known = isinstance(a, Whole) and isinstance(b, Whole)
        return Mask(below(b.poly, a.poly)) if known else Opaque()  # type: ignore[union-attr]

    def _option(self, node: ast.expr) -> Value:
        """What a plan says of the launch in hand."""
        match ast.unparse(node):
            case "launch.parts":
                return self._number("parts", self.launch.parts)
            case "launch.group":
                return self._number("group", self.launch.group)
            case _:
                return Opaque()

    def _tile(self, axis: str) -> Value:
        tiles = dict(self.launch.tiles)
        if axis not in tiles:
            raise OutsideVocabularyError(f"plan: no tile for axis {axis}")
        return self._number(f"tile of {axis}", tiles[axis])

    def _number(self, name: str, value: int) -> Whole:
        """A number of the plan, which the launches then depend on."""
        self.used[self.at, name] = value
        return Whole(number(value))

    def _binary(self, op: ast.operator, a: Value, b: Value) -> Value:
        match op, a, b:
            case ast.Mult(), Whole(poly=x), Whole(poly=y):
                return Whole(x * y)
            case ast.Add(), Whole(poly=x), Whole(poly=y):
                return Whole(x + y)
            case ast.Sub(), Whole(poly=x), Whole(poly=y):
                return Whole(x - y)
            case ast.FloorDiv(), Whole(poly=x), Whole(poly=y) if (
                (x.constant or 0) > 0 < (y.constant or 0)
            ):
                return Whole(number((x.constant or 0) // (y.constant or 1)))
            case _:
                return Opaque()

    def _call(
        self, name: str, called: ast.expr, args: Sequence[ast.expr], keywords: list[ast.keyword]
    ) -> Value:
        given = [self._value(a) for a in args]
        if (said := self.printed.value(name, given)) is not None:
            return said
        match name, given:
            case "triton.cdiv", [Whole(poly=a), Whole(poly=b)]:
                return Whole(self.atoms.divided(a + b - ONE, b)[0])
            case "torch.empty", [tuple() as shape, *_]:
                dtype = next(ast.unparse(k.value) for k in keywords if k.arg == "dtype")
                sizes = tuple(v.poly for v in shape if isinstance(v, Whole))
                if len(sizes) < len(shape):
                    raise OutsideVocabularyError(f"launcher: a workspace of shape {shape}")
                return Address(Tensor("", sizes, (), "workspace", INTEGERS.get(dtype, "")), ZERO)
            case "int", [Whole() as value]:
                return value
            case _, [Whole(poly=index)] if name.endswith(".stride"):
                assert isinstance(called, ast.Attribute)
                base = self._value(called.value)
                if isinstance(base, Address) and index.constant in range(len(base.tensor.strides)):
                    return Whole(base.tensor.strides[index.constant or 0])
                return Opaque()
            case _:
                return Opaque()
