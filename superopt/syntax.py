"""The syntax tree of a text, from any thread.

Before Python 3.12 two threads that parse at once may both fail with a ``SystemError``: how deep a
tree is was counted for all of them together (https://github.com/python/cpython/issues/106905).
"""

from __future__ import annotations

import ast
import threading

_ONE_AT_A_TIME = threading.Lock()


def parsed(text: str, name: str = "<text>") -> ast.Module:
    """The tree of ``text``; ``name``: of its file, for errors.

    Raises:
        SyntaxError: it is no Python.
    """
    with _ONE_AT_A_TIME:
        return ast.parse(text, name)
