"""Where in the user's own files something happened, for messages that name file and line."""

from __future__ import annotations

import os
import sys
import traceback
from types import FrameType

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def user_frame() -> FrameType | None:
    """The innermost frame that is not superopt's own code, or None."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def user_location() -> str | None:
    """``file:line`` of the innermost line that is not superopt's own code."""
    frame = user_frame()
    return None if frame is None else place(frame.f_code.co_filename, frame.f_lineno)


def error_location(error: BaseException) -> str | None:
    """``file:line`` of the innermost user's line that ``error`` passed through.

    Lines of other libraries (the standard library, torch) count only if there is no better.
    """
    lines = [f for f in traceback.extract_tb(error.__traceback__) if not _is_ours(f.filename)]
    own = [f for f in lines if not _is_installed(f.filename)] or lines
    return place(own[-1].filename, own[-1].lineno or 0) if own else None


def place(file: str, line: int) -> str:
    """``file:line``, the file relative to the working directory if it lies below it."""
    return f"{shown(file)}:{line}"


def shown(file: str) -> str:
    """A path as messages show it."""
    here = os.getcwd() + os.sep
    path = os.path.abspath(file)
    return path[len(here) :] if path.startswith(here) and not file.startswith("<") else file


def _is_ours(file: str) -> bool:
    return os.path.abspath(file).startswith(_PACKAGE)


def _is_installed(file: str) -> bool:
    lib = os.path.dirname(os.__file__) + os.sep
    return file.startswith((lib, "<")) or f"{os.sep}site-packages{os.sep}" in file
