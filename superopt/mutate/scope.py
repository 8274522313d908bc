"""What one graph of a kernel file executes: its functions, and the names that they use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from superopt.verify.source.load import KernelText


@dataclass(frozen=True, eq=False)
class Scope:
    """A function of the text. ``names``: what it reads and assigns, in the order of the text;
    ``compiled``: whether it runs on the device."""

    function: ast.FunctionDef
    names: tuple[str, ...]
    compiled: bool

    def family(self, name: str) -> tuple[str, ...]:
        """Names of the same sort (``n_size``, ``m_size``) but ``name`` itself: those that one
        may be mistaken for."""
        sort = sort_of(name)
        return tuple(n for n in self.names if sort and n != name and sort_of(n) == sort)


def sort_of(name: str) -> str:
    """What a name stands for, apart from the tensor or axis that it begins with."""
    for sort in ("_stride_", "_ptr", "_at", "_in", "_first", "_lane", "_size", "_tile", "_tiles"):
        if sort in name if sort.endswith("_") else name.endswith(sort):
            return sort
    return "TILE_" if name.startswith("TILE_") else "EVEN_" if name.startswith("EVEN_") else ""


def scopes(text: KernelText, function: str, index: int) -> tuple[Scope, ...]:
    """The functions that graph ``index`` of the public ``function`` runs, helpers included."""
    known = {**text.functions, **text.kernels}
    runner = f"_run_g{index}"
    open_ = [runner] if runner in known else []
    open_ += [name for name in text.kernels if name.startswith(f"{function}_g{index}_")]
    found: dict[str, None] = {}
    while open_:
        name = open_.pop(0)
        if name in found:
            continue
        found[name] = None
        used = (n.id for n in ast.walk(known[name]) if isinstance(n, ast.Name))
        open_ += [n for n in used if n in known]
    return tuple(
        Scope(known[n], tuple(dict.fromkeys(_names(known[n]))), n in text.kernels) for n in found
    )


def _names(function: ast.FunctionDef) -> Iterator[str]:
    yield from (a.arg for a in function.args.args)
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield node.id
