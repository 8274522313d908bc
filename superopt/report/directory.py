"""The directory of a run: whose it is, where a search works, and how its results come to lie there.

A search writes below a hidden folder of the directory. Only when everything is there do the
results take their places, and what an earlier run left there goes; so results of two runs are
never mixed, and a search that ends without any costs nothing. Files of others are not touched.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from pathlib import PurePosixPath
from typing import Any

from superopt.errors import UserError

FILE = "run.json"
REPORT = "report.md"
STORE = "timings.db"  # of measured times, beside the directories of runs
_WORK = ".superopt-"


def kernel_of(path: Path) -> Path:
    """The kernel file of the run in directory ``path``; ``path`` itself if it is no directory.

    Raises:
        UserError: the directory holds no run, or one without a verified kernel.
    """
    if not path.is_dir():
        return path
    if (record := earlier_run(path)) is None:
        raise UserError(f"{path}: holds no run of superopt; name a kernel file, or such a run")
    if not isinstance(name := record.get("kernel"), str):
        raise UserError(f"{path}: this run has no verified kernel; {path / REPORT} says why")
    return path / PurePosixPath(name).name


def check_directory(directory: Path) -> None:
    """Whether a run may go into ``directory``; nothing is created.

    Raises:
        UserError: it holds something else than a run, is no directory, or cannot be written.
    """
    _check_writable(directory)
    inside = _inside(directory)
    if inside and earlier_run(directory) is None:
        raise UserError(
            f"--out {directory}: not empty, and not the directory of an earlier run "
            f"(it holds {inside[0]!r}, but no {FILE} of superopt); name an empty or a new directory"
        )
    _check_alone(directory)


def check_parent(directory: Path) -> None:
    """Whether the runs of several functions may go below ``directory``; nothing is created.

    Raises:
        UserError: it holds something else than directories of runs, or cannot be used.
    """
    _check_writable(directory)
    for name in _inside(directory):
        if name.startswith(STORE):  # or a journal of it
            continue
        inner = directory / name
        if not inner.is_dir() or (_inside(inner) and earlier_run(inner) is None):
            raise UserError(
                f"--out {directory}: it holds {name!r}, which is no run of superopt; every "
                f"function gets a directory below it, so name an empty or a new directory"
            )


def start_work(directory: Path) -> Path:
    """A new empty folder inside ``directory`` (which is created) for a search at work.

    Raises:
        UserError: it cannot be made, or another process works there.
    """
    work = directory / f"{_WORK}{os.getpid()}"
    _check_alone(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for old in _works(directory):  # of dead processes, or of this one
            shutil.rmtree(old)
        work.mkdir()
    except OSError as error:
        raise UserError(f"--out {directory}: cannot be written: {error.strerror}") from error
    return work


def discard(work: Path) -> None:
    """Removes the folder of a search, and its directory if nothing else is in it."""
    shutil.rmtree(work, ignore_errors=True)
    if work.parent.is_dir() and not any(work.parent.iterdir()):
        work.parent.rmdir()


def files_of(work: Path) -> list[str]:
    """The files below ``work``, as sorted relative names; ``run.json`` is not among them."""
    found = (p.relative_to(work).as_posix() for p in work.rglob("*") if p.is_file())
    return sorted(f for f in found if f != FILE)


def publish(work: Path, files: Sequence[str]) -> None:
    """Moves ``files`` and run.json from ``work`` to its directory; the earlier run's files go."""
    directory = work.parent
    old = _files(earlier_run(directory))
    for name in files:
        place = directory / name
        place.parent.mkdir(exist_ok=True)
        (work / name).replace(place)
    for name in old:
        if name not in files:
            (directory / name).unlink(missing_ok=True)
    for folder in {(directory / name).parent for name in old} - {directory}:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    (work / FILE).replace(directory / FILE)
    discard(work)


def claim(directory: Path, *names: str) -> None:
    """Lists files ``names`` in the run.json of ``directory`` as the run's own, so that the next
    run there takes them away."""
    file = directory / FILE
    record = json.loads(file.read_text())
    files = sorted({*record["files"], *names})
    if files == record["files"]:
        return
    new = file.with_name(f"{FILE}.new")
    new.write_text(json.dumps(record | {"files": files}, indent=1, allow_nan=False) + "\n")
    new.replace(file)


def earlier_run(directory: Path) -> dict[str, Any] | None:
    """What the run.json of ``directory`` holds, or None if there is none of superopt."""
    try:
        found = json.loads((directory / FILE).read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("tool") == "superopt" else None


def _files(record: dict[str, Any] | None) -> list[str]:
    """The files that a run.json claims, without any that would lie outside its directory."""
    names = record.get("files", []) if record else []
    paths = [PurePosixPath(n) for n in names if isinstance(n, str)]
    return [str(p) for p in paths if not p.is_absolute() and ".." not in p.parts and p.parts]


def _check_writable(directory: Path) -> None:
    existing = directory.absolute()
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise UserError(f"--out {directory}: {existing} is a file, not a directory")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise UserError(f"--out {directory}: {existing} is not writable")


def _check_alone(directory: Path) -> None:
    """Raises a ``UserError`` if another process searches or times in ``directory``."""
    for work in _works(directory):
        if _alive(work):
            raise UserError(f"{directory}: another process works there ({work.name})")


def _inside(directory: Path) -> list[str]:
    """What lies in ``directory``, apart from the folders of searches."""
    if not directory.is_dir():
        return []
    return sorted(p.name for p in directory.iterdir() if not p.name.startswith(_WORK))


def _works(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"{_WORK}*")) if directory.is_dir() else []


def _alive(work: Path) -> bool:
    """Whether the process that made the folder ``work`` still runs."""
    number = work.name.removeprefix(_WORK)
    if not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return int(number) != os.getpid()
