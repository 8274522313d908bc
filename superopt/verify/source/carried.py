"""What a loop carries from one iteration to the next keeps its type, or Triton compiles nothing."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from superopt.verify.source.faults import FaultError
from superopt.verify.source.tiles import Tile

BEFORE, AFTER = "__before_loop__", "__after_body__"
Types = dict[str, tuple[object, tuple[int, ...]]]


class Watched(ast.NodeTransformer):
    """Loops of compiled functions, with the types of what they assign compared after the body."""

    def __init__(self) -> None:
        self._loops = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Looks into compiled functions alone."""
        if any(ast.unparse(mark) == "triton.jit" for mark in node.decorator_list):
            self.generic_visit(node)
        return node

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        """The loop with the comparison at its end, after a record of the types."""
        self._loops += 1
        kept = f"__loop_{self._loops}"
        self.generic_visit(node)
        names = ast.Tuple([ast.Constant(n) for n in _assigned(node.body)], ast.Load())
        here = ast.Call(ast.Name("locals", ast.Load()), [], [])
        first = ast.Assign(
            [ast.Name(kept, ast.Store())],
            ast.Call(ast.Name(BEFORE, ast.Load()), [here, names], []),
        )
        known = ast.Name(kept, ast.Load())
        last = ast.Expr(ast.Call(ast.Name(AFTER, ast.Load()), [known, here], []))
        node.body.append(last)
        return [ast.copy_location(first, node), ast.copy_location(node, node)]


def before_loop(names: Mapping[str, Any], assigned: Sequence[str]) -> Types:
    """The types of what a loop assigns, where there is something before it."""
    return {n: _type(names[n]) for n in assigned if isinstance(names.get(n), Tile)}


def after_body(before: Types, names: Mapping[str, Any]) -> None:
    """Raises FaultError if one has another type after the body."""
    for name, (dtype, shape) in before.items():
        found = names[name]
        if isinstance(found, Tile) and _type(found) != (dtype, shape):
            said = f"{name} is {dtype} {list(shape)} before a loop and {found.dtype} "
            raise FaultError(f"{said}{list(found.shape)} after its body")


def _type(value: Tile) -> tuple[object, tuple[int, ...]]:
    return value.dtype, value.shape


def _assigned(body: Sequence[ast.stmt]) -> list[str]:
    found: dict[str, None] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = None
    return list(found)
