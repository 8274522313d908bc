"""``superopt prove``: every law, proved again."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from superopt.verify.reals.laws import prove_all
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken


def run_prove() -> int:
    """Print a line a law; 0 if each is proved, else 1."""
    table = Table("law", "verdict", "seconds", title="laws")
    failed = 0
    for name, verdict, seconds in prove_all():
        failed += not accepted(verdict)
        table.add_row(Text(name), Text(spoken(verdict)), f"{seconds:.2f}")
    console = Console()
    console.print(table)
    console.print(f"{table.row_count} laws, {failed} not proved")
    return 1 if failed else 0
