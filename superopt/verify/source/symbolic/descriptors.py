"""How a launcher makes descriptors: they describe whole tensors, as they lie."""

from __future__ import annotations

import ast

from superopt.syntax import parsed
from superopt.verify.source.load import KernelText

PLAIN, SHARED = "_descriptors", "_shared_descriptors"
# In another form, nothing is said of them.
FORMS = """
def _descriptors(launch, *boxes):
    if not launch.descriptors or _old(boxes[0][0].device):
        return ()
    found = []
    for tensor, box in boxes:
        unit = 16 // tensor.element_size()
        shape, steps = list(tensor.shape), [*tensor.stride()[:-1], 1]
        for axis, step in enumerate(steps[:-1]):
            if shape[axis] == 1:
                steps[axis] = unit
            elif step % unit or not 0 < step < 2**36 * unit:
                return ()
        if 0 in shape or tensor.data_ptr() % 16:
            return ()
        found.append(TensorDescriptor(tensor, shape, steps, list(box)))
    return found


def _shared_descriptors(boxes):
    found = []
    for tensor, box, _ in boxes:
        unit = 16 // tensor.element_size()
        steps = [unit if n == 1 else s for s, n in zip(tensor.stride(), tensor.shape)]
        steps[-1] = 1
        layout = gl.NVMMASharedLayout.get_default_for(list(box), GLUON_DTYPES[tensor.dtype])
        found.append(SharedDescriptor(tensor, list(tensor.shape), steps, list(box), layout))
    return found


def _shared_descriptors(boxes):
    found = []
    for tensor, box, _ in boxes:
        unit = 16 // tensor.element_size()
        steps = [unit if n == 1 else s for s, n in zip(tensor.stride(), tensor.shape)]
        steps[-1] = 1
        found.append(TensorDescriptor(tensor, list(tensor.shape), steps, list(box)))
    return found
"""


def known(text: KernelText, name: str) -> bool:
    """Whether ``name`` makes descriptors as it is known that they describe whole tensors."""
    return same_form(text.functions.get(name), FORMS)


def same_form(printed: ast.FunctionDef | None, forms: str) -> bool:
    """Whether a function of a file is one of those of its name in ``forms``, but for its words."""
    known = [n for n in parsed(forms).body if isinstance(n, ast.FunctionDef)]
    return printed is not None and _plain(printed) in [
        _plain(n) for n in known if n.name == printed.name
    ]


def _plain(function: ast.FunctionDef) -> tuple[str, str]:
    """The parameters and the statements of a function, as text."""
    documented = ast.get_docstring(function) is not None
    body = function.body[1:] if documented else function.body
    return ast.unparse(function.args), ast.unparse(ast.Module(body, []))
