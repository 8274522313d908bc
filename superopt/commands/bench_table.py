"""How ``superopt bench`` shows a case: one table of contenders, their times and ratios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from superopt.tune.bench_job import OURS


def show_case(console: Console, function: str, entry: Mapping[str, Any]) -> None:
    """One table: every contender and mode, and how each compares with the kernel."""
    sizes = " ".join(f"{a}={n}" for a, n in entry["sizes"].items())
    console.print(f"\n{function}, case {entry['case']}: {sizes}, {entry['dtype']}")
    if entry["problem"]:
        console.print(f"  no times: {entry['problem']}")
        return
    if why := entry["check"]["problem"]:
        console.print(f"  no times: the kernel fails its check on the device: {why}")
        return
    roof = entry["roofline"]
    least = f"{roof['us']:.1f} us by {roof['bound']}"
    plural = "s" if entry["sets"] > 1 else ""
    console.print(f"  least time {least}; {entry['sets']} set{plural} of inputs; {_error(entry)}")
    unit = next((r["unit"] for r in entry["rows"] if "unit" in r), "rate")
    table = Table("mode", "contender", box=None, pad_edge=False)
    for head in ("median us", "quartiles", unit, "of roofline", "time over ours"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("")
    for row in entry["rows"]:
        table.add_row(*_cells(row))
    console.print(table)


def _error(entry: Mapping[str, Any]) -> str:
    check = entry["check"]
    return f"error {check['error']:.1e}, limit {check['limit']:.1e}"


def _cells(row: Mapping[str, Any]) -> list[str]:
    if "us" not in row:
        return [row["mode"], row["name"], "", "", "", "", "", f"failed: {row['failed']}"]
    note = f"WRONG: {row['wrong']}" if row["wrong"] else "" if row["checked"] else "yardstick"
    against = f"{row['ratio']:.3f}" if "ratio" in row else ""
    if against and row["name"] != OURS:
        against += f" ({row['ratio_low']:.3f} to {row['ratio_high']:.3f})"
    return [
        row["mode"],
        row["name"],
        f"{row['us']:.1f}",
        f"{row['low']:.1f} to {row['high']:.1f}",
        f"{row['rate']:.0f}",
        f"{row['share']:.0%}",
        against,
        note,
    ]
