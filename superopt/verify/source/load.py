"""A kernel file as a syntax tree: its functions, constants and numbers, none of it executed."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from decimal import localcontext
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from superopt.syntax import parsed
from superopt.ugraph.scalar import Constant
from superopt.verify.source.helpers import meant

LARGEST = 2**31  # of positions; larger numbers are none
ROLES = "gluon.jit"
STARTS = "tle.gpu.warp_specialize"
DIGITS = 60  # of the closed forms that printed numerals are checked against
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628621")


@dataclass(frozen=True, eq=False)
class KernelText:
    """The text of one printed file.

    ``kernels``: the functions under ``triton.jit`` and ``gluon.jit``, helpers included;
    ``functions``: all others at the top level. ``constants``: what the file calls LOG2E, LN2 and
    PI, as printed.
    """

    name: str
    text: str
    tree: ast.Module
    kernels: dict[str, ast.FunctionDef]
    functions: dict[str, ast.FunctionDef]
    constants: dict[str, Fraction]


def read_text(source: Path | str, name: str = "kernel") -> KernelText:
    """A file, or a text that is called ``name`` in messages.

    Raises:
        SyntaxError: it is no Python.
    """
    if isinstance(source, Path):
        name, source = source.name, source.read_text()
    tree = parsed(source, name)
    kernels: dict[str, ast.FunctionDef] = {}
    functions: dict[str, ast.FunctionDef] = {}
    constants: dict[str, Fraction] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=function, decorator_list=marks):
                compiled = any(ast.unparse(m) in ("triton.jit", "gluon.jit") for m in marks)
                (kernels if compiled else functions)[function] = node
            case ast.Assign(
                targets=[ast.Name(id=label)],
                value=ast.Call(func=called, args=[ast.Constant(value=float(value))]),
            ) if ast.unparse(called) == "tl.constexpr":
                constants[label] = Fraction(repr(value))
            case _:
                continue
    return KernelText(name, source, tree, kernels, functions, constants)


@lru_cache(maxsize=64)
def roles_of(tree: ast.Module) -> frozenset[str]:
    """The functions that start roles and those that are roles: all under ``gluon.jit``, and what
    ``tle.gpu.warp_specialize`` stands in or is given."""
    found = set()
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        if ROLES in map(ast.unparse, node.decorator_list):
            found.add(node.name)
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == STARTS:
                found |= {node.name, *(n.id for n in ast.walk(call) if isinstance(n, ast.Name))}
    return frozenset(n.name for n in tree.body if isinstance(n, ast.FunctionDef)) & found


def numbers(text: KernelText) -> frozenset[int]:
    """The whole numbers in the kernels that may be distances between positions."""
    return frozenset(number for _, number in _distances(text))


def with_numbers(text: KernelText, by: Mapping[int, int]) -> KernelText:
    """The text with whole numbers of its kernels replaced, line by line as it was."""
    return _replaced(text, [(node, by[n]) for node, n in _distances(text) if n in by])


def with_fixed(text: KernelText, function: str, sizes: Mapping[str, int]) -> KernelText:
    """The text with other sizes of axes that a launcher knows, where it says them."""
    found: list[tuple[ast.Constant, int]] = []
    for node in ast.walk(text.functions[function]):
        match node:
            case ast.Assign(targets=[ast.Name(id="sizes")], value=ast.Dict(keys, values)):
                for key, value in zip(keys, values, strict=True):
                    match key, value:
                        case ast.Constant(value=str(axis)), ast.Tuple(elts=[size, _]):
                            if axis in sizes and isinstance(size, ast.Constant):
                                found.append((size, sizes[axis]))
    return _replaced(text, found)


def _replaced(text: KernelText, found: list[tuple[ast.Constant, int]]) -> KernelText:
    """The text with other numerals."""
    lines = text.text.splitlines(keepends=True)
    found.sort(key=lambda pair: (pair[0].lineno, pair[0].col_offset), reverse=True)
    for node, number in found:
        line = lines[node.lineno - 1].encode()  # columns count bytes
        line = line[: node.col_offset] + str(number).encode() + line[node.end_col_offset :]
        lines[node.lineno - 1] = line.decode()
    return read_text("".join(lines), text.name)


def _distances(text: KernelText) -> list[tuple[ast.Constant, int]]:
    return [found for name in text.kernels for found in distances_in(text, name)]


def distances_in(text: KernelText, kernel: str) -> list[tuple[ast.Constant, int]]:
    """The whole numbers in one kernel that may be distances between positions, where they stand.

    None are in helpers that stand for something, nor are the numerals that these are given:
    the digits of a grid are no distances, and with others the helper would be another one."""
    known = {name for name, node in text.kernels.items() if meant(node) is not None}
    if kernel in known:
        return []
    nodes = list(ast.walk(text.kernels[kernel]))
    calls = [n for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) in known]
    given = {id(numeral) for call in calls for a in call.args if (numeral := _numeral(a))}
    found = [(n, n.value) for n in nodes if isinstance(n, ast.Constant) and id(n) not in given]
    return [(n, value) for n, value in found if type(value) is int and value < LARGEST]


def _numeral(node: ast.expr) -> ast.Constant | None:
    """The numeral that an argument is, with or without a sign."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as numeral):
            return numeral
        case ast.Constant():
            return node
        case _:
            return None


def misprinted(text: KernelText) -> str | None:
    """A named constant whose numeral is not the double nearest to its closed form, or None."""
    known = {c.value: c for c in Constant}
    for name, value in text.constants.items():
        if name not in known:
            return f"constant {name} has no closed form"
        closed = closed_form(known[name])
        if float(value) != float(closed):
            return f"constant {name} is printed as {float(value)!r} and is {float(closed)!r}"
    return None


def closed_form(constant: Constant) -> Decimal:
    """The constant to ``DIGITS`` digits."""
    with localcontext() as context:
        context.prec = DIGITS
        match constant:
            case Constant.LN2:
                return Decimal(2).ln()
            case Constant.LOG2E:
                return 1 / Decimal(2).ln()
            case Constant.PI:
                return +PI
