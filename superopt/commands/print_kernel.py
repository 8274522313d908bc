"""``superopt print``: a verified kernel in another dialect, checked like the one it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from superopt.certificate import certificate_path
from superopt.certificate import changed
from superopt.certificate import is_of
from superopt.certificate import questions_path
from superopt.certificate import read_certificate
from superopt.certificate import seal_path
from superopt.commands.console import error_console
from superopt.commands.console import line_console
from superopt.emit.dialect import Dialect
from superopt.emit.module import body_digest
from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED
from superopt.errors import UserError
from superopt.report.directory import claim
from superopt.report.directory import earlier_run
from superopt.report.directory import kernel_of
from superopt.reprint import in_dialect
from superopt.reprint import reprint

LEVELS = ("auto", "lite")


def run_print(kernel: Path, dialect: str, level: str, out: Path | None, jobs: int) -> int:
    """Write the kernel in ``dialect`` with a certificate; 0, or 1 if a check of it failed.

    Raises:
        UserError: the kernel is not as it was verified, there is no such dialect or level, ``out``
            is something else, or the dialect has no words for a graph.
    """
    wanted = _one(dialect, [d.value for d in Dialect], "--dialect")
    roles = _one(level, LEVELS, "--level") == "auto"
    kernel = kernel_of(kernel)
    if different := changed(kernel):
        raise UserError(f"{different[0]} is not as it was verified; search again")
    known = read_certificate(kernel)
    if not is_of(known, kernel):
        raise UserError(f"{certificate_path(kernel)}: is about another file than {kernel}")
    claims = in_dialect(known, Dialect(wanted), roles)
    out = out or kernel.with_name(f"{_stem(kernel)}_{wanted}.py")
    _check_place(out, kernel)
    progress = error_console()
    with progress.status("printing") as status:
        # A log has no line that changes: there each step is a line.
        tell = status.update if progress.is_terminal else progress.print
        done = reprint(kernel, claims, out, jobs, tell)
    console = line_console()
    if done.file is None:
        console.print(f"FAILED: {claims.program.name} in {wanted}: {done.failed}")
        return NONE_FOUND
    if earlier_run(out.parent) is not None:
        claim(out.parent, *(p.name for p in _files(out)))
    console.print(f"{claims.program.name}: verified kernel {out}")
    for line in done.told:
        console.print(f"  {line}")
    console.print(f"  next    superopt verify {out}")
    return VERIFIED


def _one(given: str, known: Sequence[str], option: str) -> str:
    if given not in known:
        raise UserError(f"{option} {given!r}: one of {', '.join(known)}")
    return given


def _stem(kernel: Path) -> str:
    """The name of a kernel file without its dialect."""
    stem = kernel.stem
    for one in Dialect:
        stem = stem.removesuffix(f"_{one.value}")
    return stem


def _files(kernel: Path) -> tuple[Path, ...]:
    return kernel, certificate_path(kernel), questions_path(kernel), seal_path(kernel)


def _check_place(out: Path, kernel: Path) -> None:
    """That ``out`` is new, or a kernel file that is not the one that is read.

    Files that differ in their suffix alone would have one certificate.
    """
    if out.suffix != ".py":
        raise UserError(f"--out {out}: a kernel file is Python; call it {out.stem}.py, say")
    if not out.parent.is_dir():
        raise UserError(f"--out {out}: there is no directory {out.parent}")
    if out.resolve() == kernel.resolve():
        raise UserError(f"--out {out}: is the kernel that is printed anew; name another file")
    if not out.exists():
        return
    try:
        body_digest(out.read_text())
    except (OSError, ValueError):
        raise UserError(f"--out {out}: exists and is no kernel file; name another file") from None
