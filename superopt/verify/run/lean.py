"""Triton's interpreter without work whose result nobody sees; every result has the same bits.

For each operation on whole numbers it computes in int64 whether it overflows, and then asserts
nothing unless it debugs; it makes a table of all dtypes whenever it looks one up; and it lists the
language's members anew for each launch and each call of a function. Together that is two fifths of
its time.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any


def leanly() -> None:
    """Makes the interpreter of this process lean. Calling it again changes nothing."""
    from triton.runtime import interpreter

    if getattr(interpreter, "lean", False):
        return
    builder = interpreter.interpreter_builder
    if not builder.options.debug:
        builder.options = replace(builder.options, sanitize_overflow=False)
    _look_up_dtypes_once(interpreter)
    _list_members_once(interpreter)
    interpreter.lean = True


def _look_up_dtypes_once(interpreter: Any) -> None:
    language, looked_up = interpreter.tl, interpreter._get_np_dtype
    known: dict[str, Any] = {}

    def dtype_of(kind: Any) -> Any:
        element = kind.element_ty if isinstance(kind, language.block_type) else kind
        if isinstance(element, language.pointer_type):
            return looked_up(element)
        if element.name not in known:
            known[element.name] = looked_up(element)
        return known[element.name]

    interpreter._get_np_dtype = dtype_of


def _list_members_once(interpreter: Any) -> None:
    is_builtin = interpreter.tl.core.is_builtin
    names: dict[Any, list[str]] = {}  # of builtins, by module or class

    def patch(owner: Any, builder: Any, scope: Any) -> None:
        if owner not in names:
            names[owner] = [n for n, member in inspect.getmembers(owner) if is_builtin(member)]
        for name in names[owner]:
            member = getattr(owner, name)
            if is_builtin(member):  # and not yet patched
                interpreter._patch_attr(owner, name, member, builder, scope)

    interpreter._patch_builtin = patch
