"""Conversions that may be left out, because they are made anyway where the value is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

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
    fewer bits. Or the operator around it converts both operands alike.
    """
    if mutant.after.endswith(")"):  # a conversion to fewer bits loses digits before any of that
        return
    match mutant.site.node:
        case ast.Call(func=ast.Attribute(attr="to"), args=[to]) if ast.unparse(to) == "tl.float32":
            kept = f"tl.where({mutant.after} == {mutant.after}, {mutant.after}, 1.0)"
            yield WIDENED, [_carried(subject, mutant, mutant.after, kept), mutant.text]
    for seen in enclosing(subject, mutant):
        match seen.site.node:
            case ast.BinOp(left=one, right=two) if mutant.site.node in (_bare(one), _bare(two)):
                yield CONVERTED, [_carried(subject, mutant, seen.before, seen.after)]


def _carried(subject: Subject, mutant: SourceMutant, first: str, second: str) -> str:
    """The text with a loop before the statement that carries one expression into another."""
    lines, at = subject.text.text.splitlines(keepends=True), mutant.site.statement - 1
    margin = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    loop = [f"kept = {first}", "for turn in range(0, 1):", f"    kept = {second}"]
    return "".join([*lines[:at], *(f"{margin}{line}\n" for line in loop), *lines[at:]])


def _bare(node: ast.expr) -> ast.expr:
    """A tile without the dimensions that it is given."""
    return _bare(node.value) if isinstance(node, ast.Subscript) else node
