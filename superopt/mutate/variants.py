"""The forms in which a file has one launch, and which of them a change of its text can reach.

A launch is printed as a plain function, and where plans ask for it as one that takes descriptors
and as one with roles. Each form has a reading of its own, which executes no function of the others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from superopt.emit.descriptor import SUFFIX
from superopt.verify.source.load import KernelText
from superopt.verify.source.load import roles_of

PLAIN, DESCRIBED, ROLES = "plain", "described", "roles"


def variants(text: KernelText, function: str, index: int) -> dict[str, frozenset[str]]:
    """By form, the compiled functions that graph ``index`` of the public ``function`` may run."""
    roles = roles_of(text.tree)
    starts: dict[str, list[str]] = {PLAIN: []}
    for name in text.kernels:
        if name.startswith(f"{function}_g{index}_"):
            form = ROLES if name in roles else DESCRIBED if name.endswith(SUFFIX) else PLAIN
            starts.setdefault(form, []).append(name)
    return {form: _reached(text, names) for form, names in starts.items()}


def reached_by(
    text: KernelText, changed: KernelText, forms: dict[str, frozenset[str]]
) -> tuple[str, ...]:
    """The ``forms`` of ``text`` that another text may run differently: all, unless each change is
    in compiled functions, and none of these is one of the form."""
    before, after = _parts(text), _parts(changed)
    names = {n for n in (*before, *after) if before.get(n) != after.get(n)}
    compiled = frozenset().union(*forms.values())
    if not names or not names <= compiled:
        return tuple(forms)
    return tuple(form for form, own in forms.items() if names & own)


def _parts(text: KernelText) -> dict[str, str]:
    """The functions by name, and all else that stands at the top level under no name."""
    known = {**text.functions, **text.kernels}
    others = [n for n in text.tree.body if not isinstance(n, ast.FunctionDef)]
    return {name: ast.dump(n) for name, n in known.items()} | {"": str(list(map(ast.dump, others)))}


def _reached(text: KernelText, starts: Iterable[str]) -> frozenset[str]:
    """The compiled functions among ``starts`` and all that are named in one of them."""
    open_, found = list(starts), set[str]()
    while open_:
        name = open_.pop()
        if name not in found:
            found.add(name)
            used = (n.id for n in ast.walk(text.kernels[name]) if isinstance(n, ast.Name))
            open_ += [n for n in used if n in text.kernels]
    return frozenset(found)
