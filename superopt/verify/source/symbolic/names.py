"""That what a file calls by a name is what is read under that name."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from collections.abc import Sequence

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText

JIT = ("triton.jit", "gluon.jit")
PLAIN = ("functools.lru_cache(maxsize=1024)", "functools.lru_cache(maxsize=64)")


def check_names(text: KernelText) -> None:
    """Python calls what a name was bound to last, and what decorators make of it.

    Raises:
        OutsideVocabularyError: a name of the file is bound twice, or a function is decorated by
            what is not known.
    """
    bound = Counter(_bound(text.tree.body))
    for name, times in bound.items():
        if times > 1:
            raise OutsideVocabularyError(f"{name} is bound {times} times")
    for name, function in (text.kernels | text.functions).items():
        for mark in map(ast.unparse, function.decorator_list):
            if mark not in (*JIT, *PLAIN):
                raise OutsideVocabularyError(f"{name} is decorated by {mark}")


def _bound(body: Sequence[ast.AST]) -> Iterator[str]:
    """Every name that statements bind outside of functions, as often as they do."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((n.asname or n.name).partition(".")[0] for n in names)
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Lambda():
                continue
            case _:
                yield from _bound(list(ast.iter_child_nodes(node)))
