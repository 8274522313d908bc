"""What users of torch and numpy are used to write, and what stands for it in a spec.

A spec has no methods but the folds; whatever else is asked of a tensor is refused with what to
write instead.
"""

from __future__ import annotations

import sys
from inspect import isfunction

FOLDS = frozenset(
    ("all", "any", "cummax", "cummin", "cumprod", "cumsum", "max", "mean", "min", "prod", "sum")
)

_NAMED_AXES = "tensors meet by the names of their axes, so nothing is transposed or reshaped"
_CASTS = (
    "there are no casts: a parameter and an output say how they are stored, and round_to(x, "
    '"fp16") rounds in between'
)
_SIZES = 'size("n") is the number of positions on axis n'
_INSTEAD = {
    **dict.fromkeys(("T", "mT", "transpose", "permute", "view", "reshape", "flatten"), _NAMED_AXES),
    **dict.fromkeys(("unsqueeze", "squeeze", "expand", "repeat", "contiguous"), _NAMED_AXES),
    **dict.fromkeys(("shape", "size", "numel", "dim", "ndim"), _SIZES),
    **dict.fromkeys(("to", "float", "half", "bfloat16", "double", "int", "long", "type"), _CASTS),
    **dict.fromkeys(("dtype", "astype"), _CASTS),
    **dict.fromkeys(("matmul", "mm", "bmm", "dot", "einsum"), 'write (a * b).sum("k")'),
    **dict.fromkeys(("clamp", "clip"), "write minimum(maximum(x, low), high)"),
    **dict.fromkeys(("masked_fill", "tril", "triu"), "write where(condition, x, -inf)"),
    **dict.fromkeys(("amax", "amin"), 'write x.max("n"), x.min("n")'),
    "std": 'write sqrt(var(x, "n")), which divides by the size',
    "pow": "write x ** 2",
    "square": "write x * x",
    "reciprocal": "write 1 / x",
    "topk": 'write top_k(x, "n", k=8, into="t")',
    "argmin": 'write bottom_k(x, "n", k=1, into="t"), of which the second is the position',
}


def instead(name: str) -> str:
    """What to write for a method or function ``name`` of another library."""
    if name in _INSTEAD:
        return _INSTEAD[name]
    if name in FOLDS:
        return f'write x.{name}("n")'
    if isfunction(vars(sys.modules["superopt"]).get(name)):  # what a spec may import
        return f"write superopt's function {name}(x, ...)"
    return "docs/language.md lists what there is"
