"""What is claimed of a kernel with roles for all sizes: that it stays within its tensors.

Copies and stores by descriptor leave out what lies past an end of the tensor that the descriptor
describes: the hardware cuts every box (PTX ISA, tensor copies). So they are in bounds if the
launcher describes whole tensors, as they lie. Plain loads and stores of roles are not read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from superopt.verify.source.load import KernelText

DESCRIBED_BY = "descriptors of whole tensors, whose boxes the hardware cuts at their ends"
OPEN = "not read for all sizes; at those of the concurrent reading it holds"
DESCRIBING = "_shared_descriptors"
# How the launcher makes descriptors; in another form, nothing is said of them.
DESCRIBED = """
def _shared_descriptors(boxes):
    found = []
    for tensor, box, _ in boxes:
        unit = 16 // tensor.element_size()
        steps = [unit if n == 1 else s for s, n in zip(tensor.stride(), tensor.shape)]
        steps[-1] = 1
        layout = gl.NVMMASharedLayout.get_default_for(list(box), GLUON_DTYPES[tensor.dtype])
        found.append(SharedDescriptor(tensor, list(tensor.shape), steps, list(box), layout))
    return found
"""
OF_MEMORY = ("load", "store")
LANGUAGE = ("gl", "tl")


def has_roles(text: KernelText, function: str) -> bool:
    """Whether ``function`` starts roles."""
    decorators = text.kernels[function].decorator_list
    return any(ast.unparse(d) == "gluon.jit" for d in decorators)


def role_claims(text: KernelText, function: str) -> Iterator[tuple[str, list[str]]]:
    """Claims about ``function``, which has roles, each with what is wanting of it."""
    lines = [at for name in _all(text, function) for at in _plain(text, name)]
    plain = [f"line {at}: an access without descriptor" for at in sorted(lines)]
    known = [] if _describes(text) else [f"{DESCRIBING} is not known in this form"]
    yield f"{function}: copies and stores in bounds", [*known, *plain]
    yield f"{function}: every element is stored once", [OPEN]


def _all(text: KernelText, function: str) -> dict[str, None]:
    """``function`` and all that it names, as far as it is of the file: roles and helpers."""
    found: dict[str, None] = {}
    left = [function]
    while left:
        name = left.pop()
        if name in found:
            continue
        found[name] = None
        names = [n.id for n in ast.walk(text.kernels[name]) if isinstance(n, ast.Name)]
        left += [n for n in names if n in text.kernels]
    return found


def _plain(text: KernelText, function: str) -> Iterator[int]:
    """The lines of accesses that are not made by descriptor."""
    for node in ast.walk(text.kernels[function]):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in LANGUAGE:
                if name in OF_MEMORY or "atomic" in name or "asm" in name:
                    yield node.lineno
            case _:
                continue


def _describes(text: KernelText) -> bool:
    """Whether descriptors are made as it is known that they describe whole tensors."""
    printed = text.functions.get(DESCRIBING)
    if printed is None:
        return False
    (wanted,) = ast.parse(DESCRIBED).body
    assert isinstance(wanted, ast.FunctionDef)
    body = printed.body[1:] if ast.get_docstring(printed) is not None else printed.body
    same = ast.unparse(ast.Module(body, [])) == ast.unparse(ast.Module(wanted.body, []))
    return same and ast.unparse(printed.args) == ast.unparse(wanted.args)
