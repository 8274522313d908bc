"""What takes the place of FlagTree's language where only upstream Triton is there.

A plain kernel in that language differs from an upstream one by hints, so upstream's compiler and
interpreter can run its text: ``tle.load`` is a function that loads, and drops the hint. That shows
what the text computes and what it needs; what FlagTree would make of it is not shown. There is
nothing here for ``tle.gpu`` and ``tle.pipe``: upstream cannot say them in such a kernel.
"""

from __future__ import annotations

import importlib.util
import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

PACKAGE = "triton.experimental.tle"
LANGUAGE = f"{PACKAGE}.language"

TEXT = """
import triton
import triton.language as tl


@triton.jit
def load(pointer, mask=None, other=None, is_async=False):
    return tl.load(pointer, mask=mask, other=other)
"""


def flagtree() -> bool:
    """Whether this triton is FlagTree's."""
    return importlib.util.find_spec(PACKAGE) is not None


def lacking(text: str) -> bool:
    """Whether a file with ``text`` needs FlagTree, which is not here."""
    return LANGUAGE in text and not flagtree()


@contextmanager
def in_place() -> Iterator[bool]:
    """While a file is loaded, the stand-in is what it imports, unless FlagTree is here; which of
    them is the value."""
    if flagtree():
        yield False
        return
    names = (PACKAGE, LANGUAGE)
    package, language = (ModuleType(name) for name in names)
    language.__file__ = f"<{LANGUAGE}>"
    # Triton asks for the source of every function that it compiles.
    linecache.cache[language.__file__] = (
        len(TEXT),
        None,
        TEXT.splitlines(keepends=True),
        language.__file__,
    )
    exec(compile(TEXT, language.__file__, "exec"), vars(language))
    package.language = language  # type: ignore[attr-defined]
    sys.modules.update(zip(names, (package, language), strict=True))
    try:
        yield True
    finally:
        for name in names:
            del sys.modules[name]
