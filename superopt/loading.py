"""Which specs a file holds."""

from __future__ import annotations

import linecache
import os
import sys
from pathlib import Path
from types import CodeType
from types import ModuleType

from superopt.errors import SuperoptError
from superopt.errors import UserError
from superopt.location import error_location
from superopt.location import place
from superopt.location import shown
from superopt.spec import Spec


def load(target: str) -> list[Spec]:
    """The specs of ``FILE``, in the order in which they stand there, or that of
    ``FILE:function``. The file is executed; nothing is written beside it.

    Raises:
        UserError: no such file or function, no spec, or the file fails; one line with file
            and line.
    """
    file, function = split_target(target)
    module = _execute(file)
    if function is not None:
        return [_named(module, file, function)]
    path = os.path.abspath(file)
    values = dict.fromkeys(v for v in vars(module).values() if isinstance(v, Spec))
    own = [s for s in values if os.path.abspath(s.file) == path]
    if not own:
        raise UserError(f"{shown(file)} holds no spec; a spec is a function under @spec(cases=...)")
    return own


def load_one(target: str) -> Spec:
    """The only spec of ``FILE``, or that of ``FILE:function``.

    Raises:
        UserError: as ``load``, or the file holds several.
    """
    specs = load(target)
    if len(specs) > 1:
        names = ", ".join(s.name for s in specs)
        raise UserError(f"{target} holds several specs ({names}); name one as FILE:FUNCTION")
    return specs[0]


def split_target(target: str) -> tuple[str, str | None]:
    """``FILE`` and ``function`` (None: all) of ``FILE`` or ``FILE:function``."""
    file, colon, function = target.rpartition(":")
    if colon and not os.path.exists(target):
        return file, function
    return target, None


def _named(module: ModuleType, file: str, function: str) -> Spec:
    value = vars(module).get(function)
    if isinstance(value, Spec):
        return value
    names = [n for n, v in vars(module).items() if isinstance(v, Spec)]
    have = f"it has {', '.join(names)}" if names else "it holds no spec"
    if value is None:
        raise UserError(f"{shown(file)} has no {function!r}; {have}")
    code = getattr(value, "__code__", None)
    where = place(file, code.co_firstlineno) if code is not None else shown(file)
    raise UserError(f"{function!r} is no spec (no @spec(cases=...) above it); {have}", where)


def _execute(file: str) -> ModuleType:
    """Runs a file as a module of its own, without leaving compiled files behind."""
    code = _compiled(file)
    linecache.checkcache(file)
    module = ModuleType(f"superopt_spec_{Path(file).stem}")
    module.__file__ = file
    folder = os.path.dirname(os.path.abspath(file))
    sys.modules[module.__name__] = module  # dataclasses and pickle look modules up
    sys.path.insert(0, folder)
    try:
        exec(code, vars(module))
    except SuperoptError as error:
        if isinstance(error, UserError) and error.where is not None:
            raise
        raise UserError(str(error), error_location(error) or shown(file)) from error
    except (Exception, SystemExit) as error:  # the user's own lines: report, do not crash
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        raise UserError(text, error_location(error) or shown(file)) from error
    finally:
        sys.path.remove(folder)
    return module


def _compiled(file: str) -> CodeType:
    try:
        text = Path(file).read_bytes()
    except FileNotFoundError:
        raise UserError(f"no file {file!r}") from None
    except OSError as error:
        raise UserError(f"cannot read {file!r}: {error.strerror}") from None
    try:
        return compile(text, file, "exec")
    except SyntaxError as error:
        raise UserError(f"syntax error: {error.msg}", place(file, error.lineno or 1)) from None
    except ValueError as error:  # a null byte
        raise UserError(f"{file!r} is no Python source: {error}") from None
