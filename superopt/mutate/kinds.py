"""What is changed in an expression of a printed text: one row a kind.

The kinds are those of faults that printers of kernels have had, and the usual mutation operators
(DeMillo, Lipton and Sayward 1978).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

from superopt.mutate.scope import Scope
from superopt.mutate.scope import sort_of

Change = Callable[[ast.expr, Scope], Iterator[ast.expr]]

OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mod, ast.Mult),
    ast.Mod: (ast.FloorDiv,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
FUNCTIONS = {
    "exp2": ("exp", "log2"),
    "exp": ("exp2",),
    "log2": ("log", "exp2"),
    "log": ("log2",),
    "sqrt": ("rsqrt",),
    "rsqrt": ("sqrt",),
    "maximum": ("minimum",),
    "minimum": ("maximum",),
    "sum": ("max",),
}
VALUES = {"0.0": ("1.0", "float('-inf')"), "1.0": ("0.0", "2.0")}
COMMUTE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)


def operator(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """Another operator, or the operands in the other order."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            for other in OPERATORS.get(type(op), ()):
                yield ast.BinOp(left, other(), right)
            if not isinstance(op, COMMUTE):
                yield ast.BinOp(right, op, left)
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert(), operand=operand):
            yield operand


def comparison(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """Another comparison, and limits that are off by one."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for other in COMPARISONS.get(type(op), ()):
                yield ast.Compare(left, [other()], [right])


def bound(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """What a position is compared with, one more or less."""
    match node:
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() as op], comparators=[right]):
            for step in (ast.Add(), ast.Sub()):
                moved = ast.BinOp(right, step, ast.Constant(1))
                yield ast.Compare(left, [op], [moved])


def mask(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """One of several conditions dropped, or the mask of a load or store."""
    match node:
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
            yield left
            yield right
        case ast.Call(func=ast.Attribute(attr="load" | "store")):
            yield from _without(node, "mask")


def other(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """What a masked load gives."""
    match node:
        case ast.Call(func=ast.Attribute(attr="load"), keywords=given):
            yield from _without(node, "other")
            for place, keyword in enumerate(given):
                for value in VALUES.get(ast.unparse(keyword.value), ()):
                    if keyword.arg == "other":
                        changed = deepcopy(node)
                        changed.keywords[place].value = _read(value)
                        yield changed


def guard(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """A choice that is always made alike, or the other way round."""
    match node:
        case ast.Call(func=ast.Attribute(attr="where"), args=[condition, yes, no]):
            yield yes
            yield no
            yield ast.Call(node.func, [condition, no, yes], [])


def initial(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """What an accumulator begins with."""
    match node:
        case ast.Call(func=ast.Attribute(attr="full"), args=[shape, value, dtype]):
            before = ast.unparse(value)
            values = (
                "0.0", "1.0", "float('-inf')", "float('inf')", "-10000.0",
            )  # fmt: skip
            for after in values if "." in before or "inf" in before else ("0", "1"):
                if after != before:
                    yield ast.Call(node.func, [shape, _read(after), dtype], [])


def cast(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """A conversion dropped, or to another dtype."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="to"), args=[dtype]):
            yield value
            for narrow in {"tl.int64": ("tl.int32",), "tl.float32": ("tl.float16",)}.get(
                ast.unparse(dtype), ()
            ):
                yield ast.Call(node.func, [_read(narrow)], [])
        case ast.Attribute(value=ast.Name(id="tl" | "torch" as root), attr="float32"):
            yield ast.Attribute(ast.Name(root, ast.Load()), "float16", ast.Load())
        case ast.Attribute(value=ast.Name(id="tl" | "torch" as root), attr="int64"):
            yield ast.Attribute(ast.Name(root, ast.Load()), "int32", ast.Load())


def factor(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """A factor, weight or summand dropped, or applied twice."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Add() | ast.Sub() as op, right=right):
            yield left
            yield right
            if not isinstance(op, ast.Sub):
                yield ast.BinOp(node, op, right)
        case ast.BinOp(left=left, op=ast.Div() | ast.FloorDiv() | ast.Mod()):
            yield left


def name(node: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """Another tile index, size, stride, mask or pointer of the same function."""
    match node:
        case ast.Name(id=known, ctx=ast.Load()):
            for found in scope.family(known):
                yield ast.Name(found, ast.Load())
            if sort_of(known) == "_stride_":
                yield ast.Constant(1)


def limits(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """Begin, end or step of a loop or range of lanes."""
    match node:
        case ast.Call(func=called, args=[first, stop, *step]) if ast.unparse(called) in (
            "range", "tl.range", "tl.arange",
        ):  # fmt: skip
            one = ast.Constant(1)
            for change in (ast.Add(), ast.Sub()):
                yield ast.Call(called, [first, ast.BinOp(stop, change, one), *step], node.keywords)
            for by in step:
                yield ast.Call(called, [ast.BinOp(first, ast.Add(), by), stop, by], node.keywords)
                less = ast.BinOp(stop, ast.Sub(), by)
                yield ast.Call(called, [first, less, by], node.keywords)
                more = ast.BinOp(stop, ast.Add(), by)
                yield ast.Call(called, [first, more, by], node.keywords)
                for twice in (ast.BinOp(ast.Constant(2), ast.Mult(), by), one):
                    yield ast.Call(called, [first, stop, twice], node.keywords)


def axis(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """The dimension of a fold, or the one along which lanes lie."""
    match node:
        case ast.Call(func=ast.Attribute(attr="sum" | "max" | "min"), keywords=given):
            for place, keyword in enumerate(given):
                match keyword:
                    case ast.keyword(arg="axis", value=ast.Constant(value=int(old))):
                        for new in (0, 1, 2):
                            if new != old:
                                changed = deepcopy(node)
                                changed.keywords[place].value = ast.Constant(new)
                                yield changed
        case ast.Call(
            func=ast.Attribute(attr="reduce" | "associative_scan"),
            args=[value, ast.Constant(value=int(old)), by],
        ):
            for new in (0, 1, 2):
                if new != old:
                    yield ast.Call(node.func, [value, ast.Constant(new), by], node.keywords)
        case ast.Subscript(value=base, slice=ast.Tuple(elts=parts)) if len(parts) > 1:
            for place in range(len(parts) - 1):
                turned = list(parts)
                turned[place : place + 2] = parts[place + 1], parts[place]
                yield ast.Subscript(base, ast.Tuple(turned, ast.Load()), ast.Load())


def function(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """Another function of the same operands, or none."""
    match node:
        case ast.Call(func=ast.Attribute(attr="dot"), args=[a, b, c]):
            yield ast.Call(node.func, [a, b], node.keywords)
            yield c
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr=known), args=[first, *_]):
            for instead in FUNCTIONS.get(known, ()):
                called = ast.Attribute(ast.Name("tl", ast.Load()), instead, ast.Load())
                yield ast.Call(called, node.args, node.keywords)
            if known in ("maximum", "minimum"):
                yield first
                yield node.args[1]
            if known in ("exp2", "exp", "log", "log2", "sqrt", "rsqrt", "trans"):
                yield first


def constant(node: ast.expr, _: Scope) -> Iterator[ast.expr]:
    """A number of the text, one more or less; a truth value, the other one."""
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
            if value:
                yield ast.Constant(value - 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(value + 1.0)
            if value:
                yield ast.Constant(value * 0.5)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(digits))]):
            yield ast.Constant(0.0)
            turned = digits.removeprefix("-") if digits.startswith("-") else f"-{digits}"
            yield ast.Call(node.func, [ast.Constant(turned)], [])


@dataclass(frozen=True)
class Kind:
    """A row: what the change is called, and the expressions that may stand instead of one."""

    name: str
    change: Change


KINDS: tuple[Kind, ...] = (
    Kind("operator", operator),
    Kind("comparison", comparison),
    Kind("bound", bound),
    Kind("mask dropped", mask),
    Kind("other value", other),
    Kind("guard", guard),
    Kind("initial value", initial),
    Kind("cast", cast),
    Kind("factor", factor),
    Kind("name", name),
    Kind("loop limits", limits),
    Kind("axis", axis),
    Kind("function", function),
    Kind("constant", constant),
)


def _without(call: ast.Call, name: str) -> Iterator[ast.expr]:
    left = [k for k in call.keywords if k.arg != name]
    if len(left) < len(call.keywords):
        yield ast.Call(call.func, call.args, left)


def _read(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
