"""Where commands print their lines."""

from __future__ import annotations

from rich.console import Console


def line_console() -> Console:
    """Lines as they are, to the terminal or a file: not broken, nothing in them is markup."""
    return Console(highlight=False, soft_wrap=True, markup=False)
