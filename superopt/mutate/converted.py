"""Conversions that may be left out, because they are made anyway where the value is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from superopt.mutate.enclosing import enclosing
from superopt.mutate.outcome import Subject
from superopt.mutate.reasons import CONVERTED
from superopt.mutate.reasons import WIDENED
from superopt.mutate.reasons import Try
from superopt.mutate.source import SourceMutant


def converted(subject: Subject, mutant: SourceMutant) -> Iterator[Try]:
    """Texts with what shows it put before the statement. A loop keeps the types that it carries:
    it is none of the readings' texts if one type is another one.

    What is dropped is a conversion of a float to fp32, which changes no number; then all is
    computed in fp32 as before, for the readings have no meaning for a function that rounds to
    fewer bits. Or the operator around it, or each one that reads the name which it is given,
    converts both operands alike.
    """
    match mutant.site.node:
        case ast.Call(func=ast.Attribute(value=value, attr="to"), args=[dtype]):
            if mutant.after != ast.unparse(value):
                return  # a conversion to fewer bits loses digits before any of that
        case _:
            return
    text, line, what = subject.text.text, mutant.site.statement, mutant.after
    if ast.unparse(dtype) == "tl.float32":
        kept = f"tl.where(({what}) == ({what}), {what}, 1.0)"
        yield WIDENED, [_carrying(text, line, what, kept), mutant.text]
    for seen in enclosing(subject, mutant):
        match seen.site.node:
            case ast.BinOp(left=one, right=two) if mutant.site.node in (_bare(one), _bare(two)):
                yield CONVERTED, [_carrying(text, line, seen.before, seen.after)]
    if (used := _at_uses(mutant, dtype)) is not None:
        yield CONVERTED, [used]


def _at_uses(mutant: SourceMutant, dtype: ast.expr) -> str | None:
    """The mutant with a loop at each use of the name that is assigned, if all are operands of
    operators: from the operator with the conversion to the one without it."""
    tree = ast.parse(mutant.text)
    (function,) = (n for n in tree.body if _is_named(n, mutant.site.function))
    statements = [n for n in ast.walk(function) if isinstance(n, ast.stmt)]
    (own,) = (s for s in statements if s.lineno == mutant.site.statement)
    match own:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            if ast.unparse(value) != mutant.after:
                return None
        case _:
            return None
    held = {id(inner): node for node in ast.walk(function) for inner in ast.iter_child_nodes(node)}
    text = mutant.text
    uses = [n for n in ast.walk(function) if _is_load(n, name)]
    for use in sorted(uses, key=lambda n: n.lineno, reverse=True):  # the lines before stay
        around: ast.AST = use
        while isinstance(held[id(around)], ast.Subscript):
            around = held[id(around)]
        operator = held[id(around)]
        if not isinstance(operator, ast.BinOp):
            return None
        without = ast.unparse(operator)
        use.id = f"{name}.to({ast.unparse(dtype)})"
        line = max(s.lineno for s in statements if s.lineno <= use.lineno)
        text = _carrying(text, line, ast.unparse(operator), without)
        use.id = name
    return text if uses else None


def _carrying(text: str, line: int, first: str, second: str) -> str:
    """The text with a loop before a line that carries one expression into another."""
    lines, at = text.splitlines(keepends=True), line - 1
    margin = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    loop = [f"kept = {first}", "for turn in range(0, 1):", f"    kept = {second}"]
    return "".join([*lines[:at], *(f"{margin}{line}\n" for line in loop), *lines[at:]])


def _is_named(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == name


def _is_load(node: ast.AST, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _bare(node: ast.expr) -> ast.expr:
    """A tile without the dimensions that it is given."""
    return _bare(node.value) if isinstance(node, ast.Subscript) else node
