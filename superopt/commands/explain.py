"""``superopt explain``: how the winner came to be, and what became of the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from superopt.errors import UserError
from superopt.report.directory import FILE
from superopt.report.record import read


def run_repairs(paths: Sequence[Path], times: bool) -> int:
    """Print the page of the repairs of the specs in ``paths`` (files, or folders of them); 0."""
    from superopt.report.repairs import page

    files: list[str] = []
    for path in paths:
        found = sorted(path.glob("*.py")) if path.is_dir() else [path]
        if not found:
            raise UserError(f"{path}: no spec file (*.py) in this folder")
        files += map(str, found)
    print(page(files, times=times), end="")
    return 0


def run_explain(paths: Sequence[Path], times: bool = False) -> int:
    """Explain the run in a directory, or the run beside a kernel file; 0."""
    if times or len(paths) > 1:
        what = "--times is" if times else "several paths are"
        raise UserError(f"{what} for --repairs; a run is explained with `superopt explain RUN`")
    (path,) = paths
    if not path.exists():
        raise UserError(f"{path}: no such run or kernel file")
    file = (path if path.is_dir() else path.parent) / FILE
    record = read(file)
    console = Console(soft_wrap=True, highlight=False)
    try:
        console.print(
            f"[bold]{record['name']}[/bold] for {record['target']}, seed {record['seed']}"
        )
        for case in record["cases"]:
            _case(console, case)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UserError(f"{file}: damaged: {type(error).__name__}: {error}") from error
    return 0


def _case(console: Console, case: dict[str, Any]) -> None:
    sizes = " ".join(f"{a}={n}" for a, n in case["sizes"].items())
    console.print(f"\n[bold]case {case['name']}[/bold] ({sizes}, {case['dtype']})")
    console.print(_coverage(case["counts"]))
    by_digest = {c["digest"]: c for c in case["candidates"]}
    if case["winner"]:
        _winner(console, by_digest[case["winner"]["digest"]])
    else:
        console.print("no verified kernel")
    refused = [c for c in case["candidates"] if c["stage"] == "refused"]
    for candidate in refused:
        console.print(f"refused {candidate['digest'][:12]}: {candidate['reason']}", markup=False)


def _coverage(counts: dict[str, Any]) -> Table:
    table = Table("candidates", "number")
    table.add_row("seen", str(counts["seen"]))
    table.add_row("built", str(counts["built"]))
    table.add_row("duplicates", str(counts["duplicates"]))
    for kind in ("rejected", "pruned"):
        for reason, number in counts[kind].items():
            table.add_row(f"{kind}: {reason}", str(number))
    end = "the whole space was seen" if counts["complete"] else "the budget ended the search"
    table.caption = end
    return table


def _winner(console: Console, winner: dict[str, Any]) -> None:
    console.print(f"winner {winner['digest'][:12]}, {winner['model_us']} us by the model")
    console.print("derivation:")
    for number, step in enumerate(winner["derivation"] or ["as written"], 1):
        console.print(f"  {number}. {step}", markup=False)
    if winner["repairs"]:
        console.print("repair:")
        for line in winner["repairs"]:
            console.print(f"  {line}", markup=False)
    console.print("evidence:")
    for claim, word, fields in winner["verdicts"]:
        detail = ", ".join(f"{k}={v}" for k, v in fields.items() if v not in ("", [], ()))
        console.print(f"  {claim}: {word} ({detail})", markup=False)
    console.print(winner["graph"], markup=False)
