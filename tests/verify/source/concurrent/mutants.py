"""Mutants of concurrency: one change of what a text says about waiting, arriving and slots."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass

from superopt.verify.source.load import roles_of

SYNCHRONISES = (
    "mbarrier.wait",
    "mbarrier.arrive",
    "mbarrier.expect",
    "fence_async_shared",
    "tma.store_wait",
    "warpgroup_mma_wait",
    "tma.async_copy_global_to_shared",
    "tma.async_copy_shared_to_global",
    "tle.gpu.wgmma_wait",
    "tle.gpu.copy",
)
OF_PIPES = ("acquire", "commit", "wait", "release")  # with the number of a tile


@dataclass(frozen=True)
class Mutant:
    """``what``: the kind of change; ``at``: the statement or expression that it changes; ``parts``:
    the file, of which the change with this number is made in one ``function``."""

    what: str
    at: str
    parts: tuple[str, ...]
    function: int
    number: int

    @property
    def text(self) -> str:
        """The file with the change."""
        (node,) = ast.parse(self.parts[self.function]).body
        what, at, change = _changes(node)[self.number]
        assert (what, at) == (self.what, self.at)
        change()
        parts = list(self.parts)
        parts[self.function] = ast.unparse(ast.fix_missing_locations(node))
        return "\n\n\n".join(parts)


Change = tuple[str, str, Callable[[], None]]


def mutants(text: str) -> Iterator[Mutant]:
    """All mutants of the roles of a text, in a fixed order."""
    tree = ast.parse(text)
    parts, roles = tuple(map(ast.unparse, tree.body)), roles_of(tree)
    for function, node in enumerate(tree.body):
        if isinstance(node, ast.FunctionDef) and node.name in roles:
            for number, (what, at, _) in enumerate(_changes(node)):
                yield Mutant(what, at, parts, function, number)


def _changes(function: ast.stmt) -> list[Change]:
    found: list[Change] = []
    for block in _blocks(function):
        found += _of_block(block)
    for call in (n for n in ast.walk(function) if isinstance(n, ast.Call)):
        found += _of_call(call)
    return found


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for inner in ast.walk(node):
        for name in ("body", "orelse"):
            block = getattr(inner, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _called(statement: ast.stmt) -> str:
    value = getattr(statement, "value", None)
    return ast.unparse(value.func) if isinstance(value, ast.Call) else ""


def _of_block(block: list[ast.stmt]) -> Iterator[Change]:
    for place, statement in enumerate(block):
        said = ast.unparse(statement)
        if _called(statement) not in SYNCHRONISES and not _of_pipe(_called(statement)):
            continue
        if isinstance(statement, ast.Expr):
            yield "dropped", said, lambda p=place: block.__setitem__(p, ast.Pass())
            yield "twice", said, lambda p=place: block.insert(p, copy.deepcopy(block[p]))
        elif isinstance(statement, ast.Assign) and not _of_pipe(_called(statement)):
            # A wait for products.
            yield "dropped", said, lambda s=statement: setattr(s, "value", _first_dep(s.value))
        if place:
            yield "earlier", said, lambda p=place: block.insert(p - 1, block.pop(p))
        if place + 1 < len(block):
            yield "later", said, lambda p=place: block.insert(p + 1, block.pop(p))


def _of_pipe(called: str) -> bool:
    """Whether this is the method of an end of a pipe."""
    name, _, method = called.rpartition(".")
    return name.isidentifier() and name != "mbarrier" and method in OF_PIPES


def _first_dep(call: ast.expr) -> ast.expr:
    assert isinstance(call, ast.Call)
    if not call.keywords:  # tle.gpu.wgmma_wait
        return call.args[1]
    (deps,) = (k.value for k in call.keywords if k.arg == "deps")
    assert isinstance(deps, ast.List)
    return deps.elts[0]


def _of_call(call: ast.Call) -> Iterator[Change]:
    said, function = ast.unparse(call), ast.unparse(call.func)
    if function == "mbarrier.wait":
        yield "other phase", said, lambda: _argument(call, 1, ast.BitXor(), 1)
    elif function == "mbarrier.expect":
        yield "fewer bytes", said, lambda: _argument(call, 1, ast.FloorDiv(), 2)
        yield "more bytes", said, lambda: _argument(call, 1, ast.Add(), 16)
    elif function == "mbarrier.init":
        yield "one arrival more", said, lambda: _keyword(call, "count", ast.Add(), 1)
        yield "one arrival less", said, lambda: _keyword(call, "count", ast.Sub(), 1)
    elif function == "mbarrier.arrive":
        two = ast.keyword("count", ast.Constant(2))
        yield "two arrivals", said, lambda: setattr(call, "keywords", [two])
    elif _of_pipe(function):
        yield "another number", said, lambda: _argument(call, 0, ast.Add(), 1)
    elif function == "tle.gpu.wgmma_wait":
        yield "one more under way", said, lambda: _argument(call, 0, ast.Add(), 1)
    elif function == "warpgroup_mma_wait":
        yield "one more under way", said, lambda: _keyword(call, "num_outstanding", ast.Add(), 1)
    elif function.endswith(".index"):
        yield "another slot", said, lambda: _argument(call, 0, ast.BitXor(), 1)


def _argument(call: ast.Call, place: int, how: ast.operator, by: int) -> None:
    call.args[place] = ast.BinOp(call.args[place], how, ast.Constant(by))


def _keyword(call: ast.Call, name: str, how: ast.operator, by: int) -> None:
    for keyword in call.keywords:
        if keyword.arg == name:
            keyword.value = ast.BinOp(keyword.value, how, ast.Constant(by))
