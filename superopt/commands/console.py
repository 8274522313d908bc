"""Where commands print their lines and tables."""

from __future__ import annotations

from rich.console import Console

WIDTH = 160  # of tables in output that is no terminal


def line_console() -> Console:
    """Lines as they are, to the terminal or a file: not broken, nothing in them is markup."""
    return Console(highlight=False, soft_wrap=True, markup=False)


def table_console() -> Console:
    """One row, one line: a pipe has no width of its own, and a cut figure is worse than a broken
    line."""
    console = line_console()
    if not console.is_terminal:
        console.width = WIDTH
    return console


def error_console() -> Console:
    """Progress of commands whose output may be sent to a file."""
    return Console(stderr=True, highlight=False, markup=False)
