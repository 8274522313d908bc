"""Scalars of Triton's interpreter as indices, where numpy no longer turns arrays into them.

The interpreter holds a scalar as an array of one element. Triton 3.6 makes ``range(0, n)`` of it by
``int(array)``, which numpy 2.4 refuses; later versions of Triton squeeze it first, as is done here.
"""

from __future__ import annotations

from typing import Any


def by_squeezing() -> None:
    """Makes scalars usable as indices in the interpreter of this process, in any version."""
    from triton.runtime import interpreter

    patched = interpreter._patch_lang_tensor
    if getattr(patched, "by_squeezing", False):
        return

    def patch(tensor: Any, scope: Any) -> Any:
        found = patched(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.squeeze()))
        return found

    patch.by_squeezing = True  # type: ignore[attr-defined]
    interpreter._patch_lang_tensor = patch
