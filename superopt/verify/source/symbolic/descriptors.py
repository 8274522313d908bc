"""How a launcher makes descriptors for roles: they describe whole tensors, as they lie."""

from __future__ import annotations

import ast

from superopt.verify.source.load import KernelText

DESCRIBING = "_shared_descriptors"
# In another form, nothing is said of them.
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


def whole(text: KernelText) -> bool:
    """Whether descriptors are made as it is known that they describe whole tensors."""
    printed = text.functions.get(DESCRIBING)
    if printed is None:
        return False
    (wanted,) = ast.parse(DESCRIBED).body
    assert isinstance(wanted, ast.FunctionDef)
    body = printed.body[1:] if ast.get_docstring(printed) is not None else printed.body
    same = ast.unparse(ast.Module(body, [])) == ast.unparse(ast.Module(wanted.body, []))
    return same and ast.unparse(printed.args) == ast.unparse(wanted.args)
