"""What superopt says when the fault is its own: a report to send, and a file to repeat it."""

from __future__ import annotations

import json
import platform
import tempfile
import traceback
from pathlib import Path

from superopt.versions import version_of


def report_bug(error: BaseException, argv: list[str]) -> str:
    """The text to print; beside it a file is written with all that repeats the fault.

    The file holds the command, the versions, the traceback and the text of the spec file, if
    the command names one that exists.
    """
    specs = [Path(a.partition(":")[0]) for a in argv[1:] if a.partition(":")[0].endswith(".py")]
    repro = {
        "command": argv,
        "python": platform.python_version(),
        "versions": {name: version_of(name) for name in ("superopt", "torch", "triton", "sympy")},
        "traceback": traceback.format_exception(error),
        "files": {str(p): p.read_text() for p in specs if p.is_file()},
    }
    with tempfile.NamedTemporaryFile(
        "w", prefix="superopt-bug-", suffix=".json", delete=False
    ) as file:
        json.dump(repro, file, indent=1)
    return (
        f"superopt failed by its own fault: {type(error).__name__}: {error}\n"
        f"Please report it with the file {file.name}, which holds the command, the versions, "
        "the traceback and the spec."
    )
