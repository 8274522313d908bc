"""``superopt report``: the pages of a run, made again from its run.json."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from superopt.commands.console import line_console
from superopt.errors import UserError
from superopt.report.directory import FILE
from superopt.report.directory import REPORT
from superopt.report.directory import claim
from superopt.report.markdown import report
from superopt.report.record import read
from superopt.report.restore import run_from

PAGE = "report.html"
_NEEDS = {"jinja2": "jinja2", "matplotlib": "matplotlib"}


def run_report(path: Path, out: Path | None) -> int:
    """Write report.md and report.html of the run in directory ``path``; 0.

    ``out``: where the HTML page goes instead; then nothing of the run is changed.

    Raises:
        UserError: there is no run, it is damaged, a library is missing, or a page cannot be
            written.
    """
    if not path.exists():
        raise UserError(f"{path}: no such run or kernel file")
    for module, package in _NEEDS.items():
        if find_spec(module) is None:
            raise UserError(f"superopt report needs {package}: pip install {package}")
    directory = path if path.is_dir() else path.parent
    run = run_from(read(directory / FILE), directory)
    from superopt.report.page import page

    text = page(run)
    console = line_console()
    if out is not None:
        _write(out, text)
        console.print(f"{run.name}: {out}")
        return 0
    _write(directory / REPORT, report(run))
    _write(directory / PAGE, text)
    claim(directory, REPORT, PAGE)
    console.print(f"{run.name}: {directory / REPORT}, {directory / PAGE}")
    return 0


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
