"""Whether two expressions of a kernel are equal for all sizes, asked of the symbolic reading.

A load from a tensor without elements is put before the statement, under the mask that the two
differ. It is in bounds if and only if the mask is never true.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.verdict import Proved

if TYPE_CHECKING:
    from superopt.mutate.outcome import Subject
    from superopt.mutate.source import SourceMutant

PROBE = "probe"


def never(subject: Subject, mutant: SourceMutant) -> bool:
    """Whether the mutated expression never differs from the one before."""
    a, b = mutant.before, mutant.after
    conditions = (f"({a}) != ({b})", f"(({a}) & ~({b})) | (~({a}) & ({b}))")
    return any(never_true(subject, mutant, c) for c in conditions)


def never_true(subject: Subject, mutant: SourceMutant, condition: str) -> bool:
    """Whether a condition never holds where the mutated statement begins."""
    tree = ast.parse(subject.text.text)
    name = mutant.site.function
    load = ast.parse(f"tl.load({PROBE}_ptr, mask={condition})").body[0]
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        if node.name == name:
            node.args.args.append(ast.arg(f"{PROBE}_ptr"))
            node.args.defaults = []
            if not _insert(node.body, mutant.site.statement, load):
                return False
        elif calls := [c for c in ast.walk(node) if _launches(c, name)]:
            for call in calls:
                assert isinstance(call, ast.Call)
                call.keywords.insert(0, ast.keyword(f"{PROBE}_ptr", ast.Name(PROBE)))
            made = f"{PROBE} = torch.empty((0,), dtype=torch.int32)"
            node.body.insert(0, ast.parse(made).body[0])
    text = ast.unparse(ast.fix_missing_locations(tree))
    claims = dict(read_symbolic(text, subject.function, refute=False).claims)
    return isinstance(claims.get(f"{name}: loads of {PROBE} in bounds"), Proved)


def _insert(body: list[ast.stmt], line: int, load: ast.stmt) -> bool:
    """Puts ``load`` before the statement that begins in ``line``."""
    for place, node in enumerate(body):
        if node.lineno == line:
            body.insert(place, load)
            return True
        for inner in ("body", "orelse"):
            if _insert(getattr(node, inner, []), line, load):
                return True
    return False


def _launches(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Subscript(value=ast.Name(id=known))):
            return known == name
        case _:
            return False
