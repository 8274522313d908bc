"""Mutants of a printed text: the file with one expression or statement changed."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from superopt.mutate.kinds import KINDS
from superopt.mutate.scope import Scope
from superopt.mutate.scope import scopes
from superopt.verify.source.load import KernelText

STATEMENT = "statement"
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Site:
    """Where a text is changed: the lines and columns (in bytes) of a node; ``whole``: of lines.

    ``statement``: the first line of the statement that it is in, and ``function`` its function.
    """

    first: tuple[int, int]
    last: tuple[int, int]
    function: str
    statement: int
    compiled: bool
    node: ast.AST


@dataclass(frozen=True, eq=False)
class SourceMutant:
    """One change. ``kind``: its row; ``before``, ``after``: the text there."""

    kind: str
    site: Site
    before: str
    after: str
    text: str

    def diff(self, original: str) -> str:
        """The lines that changed, as ``diff`` shows them."""
        lines = difflib.unified_diff(
            original.splitlines(), self.text.splitlines(), lineterm="", n=0
        )
        return "\n".join(list(lines)[3:])


def source_mutants(text: KernelText, function: str, index: int) -> tuple[SourceMutant, ...]:
    """Every mutant of what graph ``index`` runs, each text once, in the order of the text."""
    found: dict[str, SourceMutant] = {}
    for scope in scopes(text, function, index):
        for mutant in (*_expressions(text, scope), *_statements(text, scope)):
            if mutant.text != text.text:
                found.setdefault(mutant.text, mutant)
    return tuple(found.values())


def balanced(
    mutants: Sequence[SourceMutant], count: int | None, seed: int
) -> tuple[SourceMutant, ...]:
    """``count`` of them (None: all), chosen by ``seed``, in the order of the text.

    Kinds take turns, so that those with few mutants are there, too.
    """
    if count is None or count >= len(mutants):
        return tuple(mutants)
    rng = Random(seed)
    queues: dict[str, list[int]] = {}
    for place, mutant in enumerate(mutants):
        queues.setdefault(mutant.kind, []).append(place)
    for queue in queues.values():
        rng.shuffle(queue)
    chosen: list[int] = []
    while len(chosen) < count:
        for queue in queues.values():
            chosen += [queue.pop()] if queue else []
    return tuple(mutants[i] for i in sorted(chosen[:count]))


def drawn(items: tuple[T, ...], count: int, seed: int) -> tuple[T, ...]:
    """At most ``count`` of any mutants, chosen by ``seed``, in their order."""
    chosen = Random(seed).sample(range(len(items)), min(count, len(items)))
    return tuple(items[i] for i in sorted(chosen))


def replaced(text: str, site: Site, by: str) -> str:
    """The text with another one at a site."""
    lines = text.splitlines(keepends=True)
    (top, left), (bottom, right) = site.first, site.last
    head = lines[top - 1].encode()[:left].decode()
    tail = lines[bottom - 1].encode()[right:].decode()
    return "".join([*lines[: top - 1], head + by + tail, *lines[bottom:]])


def _expressions(text: KernelText, scope: Scope) -> Iterator[SourceMutant]:
    for statement in _all(scope.function.body):
        for node in _own(statement):
            site = _site(node, scope, statement.lineno)
            for kind in KINDS:
                for other in kind.change(node, scope):
                    if ast.dump(other) == ast.dump(node):
                        continue
                    after = ast.unparse(other)
                    by = f"({after})" if _compound(other) else after
                    changed = replaced(text.text, site, by)
                    yield SourceMutant(kind.name, site, ast.unparse(node), after, changed)


def _statements(text: KernelText, scope: Scope) -> Iterator[SourceMutant]:
    """A statement left out, done twice where that can matter, or after the next one."""
    for body in _bodies(scope.function.body):
        for place, node in enumerate(body):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # a docstring
            site = _site(node, scope, node.lineno)
            said = ast.unparse(node)
            if not isinstance(node, ast.Return):
                yield SourceMutant(STATEMENT, site, said, "pass", replaced(text.text, site, "pass"))
            margin = " " * node.col_offset
            own = _lines(text.text, site)
            if _reads_itself(node):
                twice = f"{own}\n{margin}{own}"
                changed = replaced(text.text, site, twice)
                yield SourceMutant(STATEMENT, site, said, f"{said}; again", changed)
            if place + 1 < len(body) and _depend(node, body[place + 1]):
                after = _site(body[place + 1], scope, node.lineno)
                both = Site(site.first, after.last, site.function, node.lineno, site.compiled, node)
                turned = f"{_lines(text.text, after)}\n{margin}{own}"
                changed = replaced(text.text, both, turned)
                yield SourceMutant(STATEMENT, both, said, "after the next", changed)


def _all(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for part in _bodies(body):
        yield from part


def _bodies(body: Sequence[ast.stmt]) -> Iterator[Sequence[ast.stmt]]:
    yield body
    for node in body:
        for inner in ("body", "orelse"):
            if part := getattr(node, inner, None):
                yield from _bodies(part)


def _own(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement that are in no statement within it."""
    open_: list[ast.AST] = [
        node for node in ast.iter_child_nodes(statement) if not isinstance(node, ast.stmt)
    ]
    while open_:
        node = open_.pop(0)
        if isinstance(node, ast.expr) and not (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            yield node
        if not isinstance(node, ast.Constant):
            open_ += list(ast.iter_child_nodes(node))


def _site(node: ast.expr | ast.stmt, scope: Scope, statement: int) -> Site:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Site(
        (node.lineno, node.col_offset),
        (node.end_lineno, node.end_col_offset),
        scope.function.name,
        statement,
        scope.compiled,
        node,
    )


def _lines(text: str, site: Site) -> str:
    """What stands at a site."""
    lines = text.splitlines(keepends=True)[site.first[0] - 1 : site.last[0]]
    whole = "".join(lines).encode()
    end = len(whole) - len(lines[-1].encode()) + site.last[1]
    return whole[site.first[1] : end].decode()


def _compound(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp | ast.BoolOp | ast.Compare | ast.UnaryOp)


def _reads_itself(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value))
        case _:
            return False


def _depend(one: ast.stmt, next_: ast.stmt) -> bool:
    """Whether the order of two statements can matter: one assigns what the other names, or both
    touch memory."""
    stored = [
        {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for s in (one, next_)
    ]
    named = [{n.id for n in ast.walk(s) if isinstance(n, ast.Name)} for s in (one, next_)]
    return bool(stored[0] & named[1] or stored[1] & named[0])
