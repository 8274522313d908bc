"""Reads the launcher: which tensors there are and what is checked of them, which plans there are,
and with which numbers each launch is made. Sizes and strides are symbols, tiles are the plan's.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText
from superopt.verify.source.symbolic import guards
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.value import Address
from superopt.verify.source.symbolic.value import Opaque
from superopt.verify.source.symbolic.value import Tensor
from superopt.verify.source.symbolic.value import Value
from superopt.verify.source.symbolic.value import Whole

INTEGERS = {f"torch.{d}": d for d in ("int8", "int16", "int32", "int64", "bool")}


@dataclass(frozen=True)
class Numbers:
    """What a plan says of one launch."""

    tiles: tuple[tuple[str, int], ...]
    parts: int
    group: int
    descriptors: bool = False


@dataclass(frozen=True)
class PlanText:
    """A row of the file: which graph, and the numbers of each launch."""

    name: str
    graph: int
    launches: tuple[Numbers, ...]


@dataclass
class Host:
    """The public function as far as it concerns memory, before any plan is chosen."""

    atoms: Atoms
    guards: frozenset[guards.Guard]
    tensors: dict[str, Tensor] = field(default_factory=dict)
    names: dict[str, Value] = field(default_factory=dict)
    runners: dict[int, ast.Call] = field(default_factory=dict)
    sizes: dict[str, Poly] = field(default_factory=dict)  # by axis


def plans(text: KernelText) -> tuple[PlanText, ...]:
    """The rows of PLANS. Raises OutsideVocabularyError."""
    for node in text.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="PLANS")], value=ast.Tuple(elts=rows)):
                return tuple(map(_plan, rows))
    raise OutsideVocabularyError("the file has no PLANS")


def _plan(row: ast.expr) -> PlanText:
    match row:
        case ast.Call(args=[name, graph, ast.Tuple(elts=launches), *_]):
            made = tuple(map(_numbers, launches))
            return PlanText(ast.literal_eval(name), ast.literal_eval(graph), made)
        case _:
            raise OutsideVocabularyError(f"plan {ast.unparse(row)}")


def _numbers(call: ast.expr) -> Numbers:
    match call:
        case ast.Call(args=[tiles], keywords=keywords):
            known = {k.arg: ast.literal_eval(k.value) for k in keywords}
            return Numbers(
                tuple(ast.literal_eval(tiles).items()),
                known.get("parts", 1),
                known.get("group", 1),
                known.get("descriptors", False),
            )
        case _:
            raise OutsideVocabularyError(f"launch {ast.unparse(call)}")


def largest(text: KernelText) -> int | None:
    """The number that sizes stay below, as printed."""
    for node in text.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="LARGEST")], value=value):
                return _power(value)
    return None


def _power(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _power(left), _power(right)
            if a is None or b is None:
                return None
            match op:
                case ast.Pow():
                    return int(a**b)
                case ast.Sub():
                    return a - b
                case ast.Add():
                    return a + b
                case ast.Mult():
                    return a * b
    return None


class HostReader:
    """Reads the public function."""

    def __init__(self, text: KernelText, atoms: Atoms, sizes: Mapping[str, int] | None) -> None:
        self.text = text
        self.host = Host(atoms, guards.guards(text))
        self.given = sizes  # by axis, None: symbols
        self.others: dict[str, str] = {}  # what outputs must lie apart from: variables by label

    def read(self, name: str) -> Host:
        """What the function says. Raises OutsideVocabularyError."""
        if name not in self.text.functions:
            raise OutsideVocabularyError(f"the file has no function {name}")
        body = self.text.functions[name].body
        for place, statement in enumerate(body):
            if not (place == len(body) - 1 and isinstance(statement, ast.Return)):
                self._statement(statement)
        return self.host

    def _statement(self, statement: ast.stmt) -> None:
        host = self.host
        match statement:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Name(id="_check"),
                    args=[ast.Constant(value=str(label)), ast.Name(id=name), axes, dtypes, *_],
                )
            ) if label == name:
                self._input(name, ast.literal_eval(axes), ast.unparse(dtypes))
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="_scalar"), args=[_, _, kind]),
            ):
                host.names[name] = self._scalar(name, ast.unparse(kind))
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Subscript(
                    value=ast.Subscript(value=ast.Name(id="sizes"), slice=ast.Constant(value=axis))
                ),
            ):
                host.names[name] = Whole(self._size(str(axis)), 32)
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(
                    func=ast.Name(id="_output"), args=[_, _, shape, dtype, _, ast.Name(id="others")]
                ),
            ):
                self._output(name, shape, ast.unparse(dtype))
            case ast.Assign(targets=[ast.Name(id="others")], value=value):
                self._unread(statement)
                self.others = _labelled(value)
            case ast.Assign(
                targets=[
                    ast.Subscript(value=ast.Name(id="others"), slice=ast.Constant(value=str(label)))
                ],
                value=ast.Name(id=name),
            ):
                self.others[label] = name
            case ast.With(items=[ast.withitem(optional_vars=None)], body=body):
                for inner in body:
                    self._runs(inner, 0)
            case _:
                self._unread(statement)

    def _unread(self, statement: ast.stmt) -> None:
        """A statement that does not matter to what is read: it binds another name.

        Whatever leaves early, stores in place or binds a known name anew has no meaning here.
        """
        match statement:
            case ast.Expr(value=ast.Constant()):
                return
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._is_free(
                name
            ) and _only_reads(value):
                return
            case ast.If(test=ast.Compare(left=ast.Name(id="plan")), body=[inner], orelse=[]):
                self._unread(inner)
            case _:
                raise OutsideVocabularyError(f"launcher: {ast.unparse(statement)}")

    def _is_free(self, name: str) -> bool:
        """Whether nothing that was read has this name."""
        known = {*self.host.names, *self.text.functions, *self.text.kernels}
        return name not in known and not (name == "sizes" and self.host.tensors)

    def _runs(self, statement: ast.stmt, graph: int) -> None:
        match statement:
            case ast.Expr(value=ast.Call() as call):
                self.host.runners[graph] = call
            case ast.If(
                test=ast.Compare(
                    left=ast.Attribute(value=ast.Name(id="plan"), attr="graph"),
                    ops=[ast.Eq()],
                    comparators=[ast.Constant(value=int(number_))],
                ),
                body=[inner],
                orelse=other,
            ):
                self._runs(inner, number_)
                for one in other:
                    self._runs(one, graph)
            case _:
                raise OutsideVocabularyError(f"launcher: {ast.unparse(statement)}")

    def _size(self, axis: str) -> Poly:
        host = self.host
        if axis not in host.sizes:
            if self.given is not None:
                host.sizes[axis] = number(self.given[axis])
                return host.sizes[axis]
            host.sizes[axis] = host.atoms.free(f"{axis}_size", shared=True)
            facts = [at_least(host.sizes[axis], ZERO)]
            limit = largest(self.text)
            if limit is not None and guards.SIZES in host.guards:
                facts.append(below(host.sizes[axis], number(limit)))
            host.atoms.assume(_atom(host.sizes[axis]), *facts)
        return host.sizes[axis]

    def _input(self, name: str, axes: Sequence[str], dtypes: str) -> None:
        shape = tuple(map(self._size, axes))
        self._checked("_check", {guards.RANK, guards.SAME, guards.DTYPE})
        plain = guards.INNERMOST in self.host.guards
        dtype = INTEGERS.get(dtypes.strip("(),"), "")
        self._tensor(name, shape, "input", dtype, plain)

    def _output(self, name: str, shape: ast.expr, dtype: str) -> None:
        found = self.host.guards
        sizes = []
        for part in shape.elts if isinstance(shape, ast.Tuple) else ():
            value = self.host.names.get(ast.unparse(part))
            if not isinstance(value, Whole):
                raise OutsideVocabularyError(f"launcher: shape {ast.unparse(shape)}")
            sizes.append(value.poly)
        self._checked("_output", {guards.SHAPE, guards.OUTPUT_DTYPE})
        held = set(self.host.tensors) <= set(self.others.values())
        apart = held and {guards.APART, guards.OTHERS} <= found
        plain = guards.OUTPUT_INNERMOST in found
        self._tensor(name, tuple(sizes), "output", INTEGERS.get(dtype, ""), plain, apart)

    def _checked(self, name: str, wanted: set[guards.Guard]) -> None:
        """That a helper checks what shapes and dtypes are known by."""
        if missing := sorted(wanted - self.host.guards):
            raise OutsideVocabularyError(f"launcher: {name} does not check {missing[0][2]}")

    def _tensor(
        self,
        name: str,
        shape: tuple[Poly, ...],
        kind: str,
        dtype: str,
        plain: bool,
        apart: bool = False,
    ) -> None:
        strides = strides_of(self.host.atoms, name, shape, plain, self.given is not None)
        made = Tensor(name, shape, strides, kind, dtype, apart)
        self.host.tensors[name] = made
        self.host.names[name] = Address(made, ZERO)

    def _scalar(self, name: str, kind: str) -> Value:
        if kind != "int":
            return Opaque()
        if self.given is not None:
            return Whole(number(self.given.get(name, 2)), 32)
        found = self.host.atoms.free(name, shared=True)
        limit = number(2**30)
        if guards.SCALAR in self.host.guards:
            self.host.atoms.assume(_atom(found), at_least(limit, found), at_least(found, -limit))
        return Whole(found, 32)


def strides_of(
    atoms: Atoms, name: str, shape: Sequence[Poly], plain: bool, concrete: bool
) -> tuple[Poly, ...]:
    """Symbols for the strides of a tensor, 1 innermost if that is checked; or numbers."""
    if not shape:
        return ()
    if concrete:
        found = [ONE]
        for size in reversed(shape[1:]):
            found.append(number((size.constant or 1) * (found[-1].constant or 1) + 3 * len(found)))
        return tuple(reversed(found))
    outer = [atoms.free(f"{name}.stride({i})", shared=True) for i in range(len(shape) - 1)]
    last = ONE if plain else atoms.free(f"{name}.stride(-1)", shared=True)
    for one in outer:
        atoms.assume(_atom(one), at_least(one, ZERO))
    return (*outer, last)


def _labelled(value: ast.expr) -> dict[str, str]:
    """The variables that a dictionary holds, by label; none if it is no plain one."""
    match value:
        case ast.Dict(keys=labels, values=held):
            found: dict[str, str] = {}
            for pair in zip(labels, held, strict=True):
                match pair:
                    case (ast.Constant(value=str(label)), ast.Name(id=name)):
                        found[label] = name
                    case _:
                        return {}
            return found
        case _:
            return {}


def _only_reads(value: ast.expr) -> bool:
    """Whether an expression leaves the names and the sizes of the launcher as they are."""
    return not any(
        isinstance(n, ast.NamedExpr)
        or (isinstance(n, ast.Name) and n.id == "sizes")
        or (isinstance(n, ast.Call) and not isinstance(n.func, ast.Name))
        for n in ast.walk(value)
    )


def _atom(poly: Poly) -> str:
    assert poly.atom is not None
    return poly.atom
