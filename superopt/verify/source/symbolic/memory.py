"""Which functions of a file touch memory by address, themselves or through others."""

from __future__ import annotations

import ast

from superopt.verify.source.load import KernelText

OF_MEMORY = (
    *("load", "store", "copy"),
    *("async_copy_global_to_shared", "async_copy_shared_to_global"),
)


def touches(text: KernelText, function: str) -> bool:
    """Whether ``function``, or what it names of the file, loads, stores, copies or may do so."""
    seen: dict[str, None] = {}
    left = [function]
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen[name] = None
        for node in ast.walk(text.kernels[name]):
            match node:
                case ast.Attribute(attr=attr):
                    if attr in OF_MEMORY or "atomic" in attr or "asm" in attr:
                        return True
                case ast.Name(id=other) if other in text.kernels:
                    left.append(other)
    return False
