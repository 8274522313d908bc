"""Expressions of a printed function: arithmetic of integers, masks and addresses; tiles broadcast
along their dimensions."""

from __future__ import annotations

import ast
from typing import TypeVar

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.formula import FALSE
from superopt.verify.source.symbolic.formula import TRUE
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import Truth
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import both
from superopt.verify.source.symbolic.formula import either
from superopt.verify.source.symbolic.formula import equal
from superopt.verify.source.symbolic.formula import negated
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.value import Access
from superopt.verify.source.symbolic.value import Address
from superopt.verify.source.symbolic.value import Dims
from superopt.verify.source.symbolic.value import Mask
from superopt.verify.source.symbolic.value import Named
from superopt.verify.source.symbolic.value import Opaque
from superopt.verify.source.symbolic.value import Step
from superopt.verify.source.symbolic.value import Steps
from superopt.verify.source.symbolic.value import Use
from superopt.verify.source.symbolic.value import Value
from superopt.verify.source.symbolic.value import Whole
from superopt.verify.source.symbolic.value import merged

A = TypeVar("A", Whole, Mask, Address)
B = TypeVar("B", Whole, Mask, Address)
MODULES = ("tl", "tle", "triton", "math", "libdevice", "mbarrier", "tma")


class Expressions:
    """What the expressions of one function mean; ``pid``: the program id.

    ``data``: what every whole number in memory is (None: anything).
    """

    def __init__(
        self,
        text: KernelText,
        atoms: Atoms,
        pid: Poly,
        names: dict[str, Value],
        data: int | None = None,
    ) -> None:
        self.text, self.atoms, self.pid, self.names, self.data = text, atoms, pid, names, data
        self.path: list[Formula] = []
        self.trips: list[str] = []
        self.accesses: list[Access] = []
        self.uses: list[Use] = []
        self.waits: list[tuple[int, tuple[Formula, ...]]] = []  # accesses before each, its path
        self.ranges: dict[str, Whole] = {}  # of lanes, by what they are as long as
        self.branches = 0  # that the line in hand is in
        self.line = 0
        self._truths = 0

    def outside(self, node: ast.AST) -> OutsideVocabularyError:
        """The refusal of a construct."""
        return OutsideVocabularyError(f"line {self.line}: {ast.unparse(node)}")

    def use(self, steps: Steps) -> None:
        """Numbers on which memory accesses depend."""
        if steps:
            self.uses.append(Use(steps, tuple(self.path)))

    def value(self, node: ast.expr) -> Value:
        """What an expression stands for. Raises OutsideVocabularyError."""
        match node:
            case ast.Constant(value=value):
                return self._literal(node, value)
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return tuple(map(self.value, parts))
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(node, op, self.value(left), self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(node, op, self.value(operand))
            case ast.BoolOp(op=op, values=parts):
                return self._joined(op, [self.truth(self.value(p)) for p in parts])
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compare(op, self.value(left), self.value(right))
            case ast.Subscript(value=base, slice=index):
                return self._index(node, self.value(base), index)
            case ast.Attribute():
                return Named(ast.unparse(node))
            case ast.Call():
                return self._call(node)
            case _:
                raise self.outside(node)

    def _literal(self, node: ast.expr, value: object) -> Value:
        match value:
            case bool():
                return Mask(TRUE if value else FALSE)
            case int():
                return Whole(number(value))
            case float():
                return Opaque()
            case str():
                return Named(value)
            case _:
                raise self.outside(node)

    def _name(self, node: ast.expr, name: str) -> Value:
        if name in self.names:
            return self.names[name]
        if name in self.text.constants:
            return Opaque()
        if name in self.text.kernels:
            return Named(name)
        raise OutsideVocabularyError(f"line {self.line}: what {name} is here is not known")

    def _call(self, node: ast.Call) -> Value:
        keywords = {k.arg: self.value(k.value) for k in node.keywords if k.arg}
        name = ast.unparse(node.func)
        if len(keywords) < len(node.keywords):
            raise self.outside(node)
        if isinstance(node.func, ast.Attribute) and _root(node.func) not in MODULES:
            arguments = [self.value(node.func.value), *map(self.value, node.args)]
            name = f".{node.func.attr}"
        else:
            arguments = [self.value(a) for a in node.args]
        return self.call(node, name, arguments, keywords)

    def call(
        self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        """A call; the name of a method begins with a dot, and its value is the first argument."""
        raise self.outside(node)

    # Operators.

    def _binary(self, node: ast.expr, op: ast.operator, a: Value, b: Value) -> Value:
        if isinstance(a, Mask) or isinstance(b, Mask):
            return self._logic(node, op, a, b)
        if isinstance(b, Address) and isinstance(op, ast.Add):
            a, b = b, a
        match a, op, b:
            case Address(), ast.Add(), Whole():
                a, b, dims = self.along(a, b)
                steps = merged(a.steps, b.steps)
                return Address(a.tensor, a.offset + b.poly, dims, steps)
            case Whole(), (
                ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod()
            ), Whole():
                return self.arithmetic(op, a, b)
            case ((Opaque() | Whole()), _, (Opaque() | Whole())):
                return Opaque()
            case _:
                raise self.outside(node)

    def arithmetic(self, op: ast.operator, a: Whole, b: Whole) -> Whole:
        """A result in as many bits as the wider operand has."""
        a, b, dims = self.along(a, b)
        match op:
            case ast.Add():
                poly = a.poly + b.poly
            case ast.Sub():
                poly = a.poly - b.poly
            case ast.Mult():
                poly = a.poly * b.poly
            case ast.FloorDiv():
                poly = self.atoms.divided(a.poly, b.poly)[0]
            case _:
                poly = self.atoms.divided(a.poly, b.poly)[1]
        return self.whole(poly, max(a.bits, b.bits), dims, merged(a.steps, b.steps))

    def whole(self, poly: Poly, bits: int, dims: Dims, steps: Steps) -> Whole:
        """A result that has to fit into ``bits``."""
        if 0 < bits < 64:
            steps = merged(steps, (Step(poly, bits, self.line),))
        return Whole(poly, bits, dims, steps)

    def _logic(self, node: ast.expr, op: ast.operator, a: Value, b: Value) -> Value:
        if not isinstance(op, ast.BitAnd | ast.BitOr):
            if isinstance(op, ast.Add | ast.Sub | ast.Mult):
                return Opaque()
            raise self.outside(node)
        one, other, dims = self.along(self.truth(a), self.truth(b))
        join = both if isinstance(op, ast.BitAnd) else either
        formula = join((one.formula, other.formula))
        return Mask(formula, dims, merged(one.steps, other.steps))

    def _joined(self, op: ast.boolop, masks: list[Mask]) -> Mask:
        join = both if isinstance(op, ast.And) else either
        return Mask(join(m.formula for m in masks), (), merged(*(m.steps for m in masks)))

    def _unary(self, node: ast.expr, op: ast.unaryop, a: Value) -> Value:
        match op, a:
            case ast.USub(), Whole(poly=poly, bits=bits, dims=dims, steps=steps):
                return self.whole(-poly, bits, dims, steps)
            case ((ast.Not() | ast.Invert()), Mask(formula=formula, dims=dims, steps=steps)):
                return Mask(negated(formula), dims, steps)
            case ((ast.USub() | ast.UAdd()), Opaque()):
                return a
            case ((ast.Not() | ast.Invert()), Opaque()):
                return self.unknown_truth(())
            case _:
                raise self.outside(node)

    def _compare(self, op: ast.cmpop, a: Value, b: Value) -> Value:
        if not (isinstance(a, Whole) and isinstance(b, Whole)):
            return self.unknown_truth(())
        a, b, dims = self.along(a, b)
        left, right = a.poly, b.poly
        formula: Formula
        match op:
            case ast.Lt():
                formula = below(left, right)
            case ast.LtE():
                formula = at_least(right, left)
            case ast.Gt():
                formula = below(right, left)
            case ast.GtE():
                formula = at_least(left, right)
            case ast.Eq():
                formula = equal(left, right)
            case _:
                formula = negated(equal(left, right))
        return Mask(formula, dims, merged(a.steps, b.steps))

    def _index(self, node: ast.expr, base: Value, index: ast.expr) -> Value:
        if isinstance(base, Opaque):
            return base
        if not isinstance(base, Whole | Mask | Address):
            raise self.outside(node)
        old = list(base.dims)
        dims: list[str | None] = []
        for part in index.elts if isinstance(index, ast.Tuple) else [index]:
            match part:
                case ast.Slice(lower=None, upper=None, step=None) if old:
                    dims.append(old.pop(0))
                case ast.Constant(value=None):
                    dims.append(None)
                case _:
                    raise self.outside(node)
        if old:
            raise self.outside(node)
        return _with_dims(base, tuple(dims))

    # Tiles.

    def along(self, a: A, b: B) -> tuple[A, B, Dims]:
        """Both with the dimensions that they have together."""
        rank = max(len(a.dims), len(b.dims))
        one = (None,) * (rank - len(a.dims)) + a.dims
        other = (None,) * (rank - len(b.dims)) + b.dims
        dims = list(one)
        for place, (x, y) in enumerate(zip(one, other, strict=True)):
            if x is None:
                dims[place] = y
            elif y is not None and x != y:
                if self.atoms.upper(atom(x)) != self.atoms.upper(atom(y)):
                    raise OutsideVocabularyError(f"line {self.line}: lanes {x} along lanes {y}")
                b = self.renamed(b, {y: atom(x)})
        lanes = [d for d in dims if d is not None]
        if len(set(lanes)) < len(lanes):
            raise OutsideVocabularyError(f"line {self.line}: one range along two dimensions")
        return a, b, tuple(dims)

    def renamed(self, value: A, by: dict[str, Poly]) -> A:
        """A tile over other lanes."""
        fixed = {
            n: atom(n) for n, d in self.atoms.definitions.items() if not d.args and n not in by
        }
        by = {**fixed, **by}
        steps = tuple(
            Step(self.atoms.instance(s.poly, by, "'"), s.bits, s.line) for s in value.steps
        )
        match value:
            case Whole():
                poly = self.atoms.instance(value.poly, by, "'")
                return Whole(poly, value.bits, value.dims, steps)  # type: ignore[return-value]
            case Mask():
                formula = self.atoms.condition(value.formula, by, "")
                return Mask(formula, value.dims, steps)  # type: ignore[return-value]
            case _:
                offset = self.atoms.instance(value.offset, by, "'")
                return Address(value.tensor, offset, value.dims, steps)

    def truth(self, value: Value) -> Mask:
        """A value as a condition."""
        match value:
            case Mask():
                return value
            case Whole(poly=poly, dims=dims, steps=steps):
                return Mask(negated(equal(poly, number(0))), dims, steps)
            case _:
                return self.unknown_truth(())

    def unknown_truth(self, dims: Dims) -> Mask:
        """A condition on data."""
        self._truths += 1
        return Mask(Truth(f"data_{self._truths}"), dims)

    def chosen(self, condition: Mask, a: Value, b: Value) -> Value:
        """``a`` where the condition holds, else ``b``."""
        match a, b:
            case Whole(), Whole():
                a, b, _ = self.along(a, b)
                condition, a, _ = self.along(condition, a)
                condition, b, dims = self.along(condition, b)
                poly = self.atoms.choice(condition.formula, a.poly, b.poly)
                bits = max(a.bits, b.bits)
                return Whole(poly, bits, dims, merged(condition.steps, a.steps, b.steps))
            case Mask(), Mask():
                a, b, _ = self.along(a, b)
                condition, a, _ = self.along(condition, a)
                condition, b, dims = self.along(condition, b)
                yes = both((condition.formula, a.formula))
                no = both((negated(condition.formula), b.formula))
                return Mask(either((yes, no)), dims, merged(condition.steps, a.steps, b.steps))
            case _:
                return a if a == b else Opaque()


def _root(node: ast.expr) -> str:
    """The name that a dotted name begins with; empty if it is none."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _with_dims(value: Whole | Mask | Address, dims: Dims) -> Value:
    match value:
        case Whole(poly=poly, bits=bits, steps=steps):
            return Whole(poly, bits, dims, steps)
        case Mask(formula=formula, steps=steps):
            return Mask(formula, dims, steps)
        case Address(tensor=tensor, offset=offset, steps=steps):
            return Address(tensor, offset, dims, steps)
