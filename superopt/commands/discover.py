"""``superopt discover``: laws by enumeration, proved, and compared with the shipped ones."""

from __future__ import annotations

import sys

from rich.progress import Progress
from rich.progress import SpinnerColumn
from rich.progress import TextColumn
from rich.progress import TimeElapsedColumn

from superopt.commands.console import error_console
from superopt.discover.compare import Standing
from superopt.discover.compare import standing
from superopt.discover.report import page
from superopt.discover.search import Discovery
from superopt.discover.search import discover
from superopt.discover.search import shipped
from superopt.errors import INTERRUPTED
from superopt.verify.verdict import accepted

NO_LAW = 1


def run_discover(size: int, seed: int, quiet: bool) -> int:
    """Print the page; 0 if every shipped law is proved, 1 if one is not.

    An interrupt ends the search; what was found until then is printed.
    """
    found = Discovery(size, seed)
    standings: list[Standing] = []
    code = 0
    try:
        with _progress(quiet) as progress:
            task = progress.add_task("laws", total=None)
            for law in shipped():
                progress.update(task, description=f"proving {law.name}")
                standings.append(standing(law, size, seed))
            for found in discover(size, seed):
                progress.update(task, description=_state(found))
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.stdout.write(page(found, standings))
    return code or (0 if all(accepted(s.verdict) for s in standings) else NO_LAW)


def _state(found: Discovery) -> str:
    return (
        f"{found.where}: {found.terms} terms, {found.pairs} pairs, {found.derived} derived, "
        f"{len(found.laws)} laws"
    )


def _progress(quiet: bool) -> Progress:
    """On the error stream: the page can be sent to a file."""
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    return Progress(*columns, console=error_console(), transient=True, disable=quiet)
