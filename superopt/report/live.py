"""Live progress of a search on a terminal, and plain lines elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Stage


class Progress:
    """Shows what the search sees: seen, rejected by reason, verified, best, share of roofline.

    It is told of changes by the pipeline and never asks anything back.
    """

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self._console = console
        self._live = (
            Live(console=console, refresh_per_second=8, transient=True)
            if console.is_terminal and not quiet
            else None
        )
        self._quiet = quiet
        self._title = ""
        self._stage = ""
        self._counts = Counts()
        self._verified = 0
        self._best: tuple[float, float] | None = None

    def __enter__(self) -> Self:
        if self._live:
            self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.__exit__(kind, error, at)

    def case(self, function: str, case: str) -> None:
        """A new case begins."""
        self._title, self._verified, self._best = f"{function} / {case}", 0, None
        self._counts = Counts()
        self._redraw()

    def stage(self, text: str) -> None:
        """What is being done now."""
        self._stage = text
        self._redraw()

    def counts(self, counts: Counts) -> None:
        """What became of the candidates so far."""
        self._counts = counts
        self._redraw()

    def verified(self, model_us: float, share: float) -> None:
        """One more candidate passed every check."""
        self._verified += 1
        if self._best is None or model_us < self._best[0]:
            self._best = (model_us, share)
        self._redraw()

    def done(self, result: CaseRun) -> None:
        """A case ends: one line stays."""
        if self._quiet:
            return
        verified = sum(c.stage is Stage.VERIFIED for c in result.candidates)
        counts = result.counts
        rejected = sum(n for _, n in counts.rejected)
        pruned = sum(n for _, n in counts.pruned)
        line = (
            f"{self._title}: seen {counts.seen}, built {counts.built}, rejected {rejected}, "
            f"pruned {pruned}, verified {verified}"
        )
        if result.winner:
            line += f"; winner {result.winner.model_us:.1f} us by the model, "
            line += f"{result.winner.share:.0%} of the roofline"
        else:
            line += "; no verified kernel"
        self._console.print(line, highlight=False)

    def error(self, text: str) -> None:
        """A function ends with an error: the line goes to standard error."""
        if self._live:
            self._live.stop()
        print(text, file=sys.stderr)
        if self._live:
            self._live.start()

    def _redraw(self) -> None:
        if not self._live:
            return
        table = Table(title=self._title, show_header=False, title_justify="left")
        table.add_row("now", self._stage)
        table.add_row("seen", str(self._counts.seen))
        table.add_row("built", str(self._counts.built))
        for reason, number in self._counts.rejected[:6]:
            table.add_row("rejected", f"{number}  {reason}")
        for bound, number in self._counts.pruned:
            table.add_row("pruned", f"{number}  {bound}")
        table.add_row("verified", str(self._verified))
        if self._best:
            us, share = self._best
            table.add_row("best", f"{us:.1f} us by the model, {share:.0%} of roofline")
        self._live.update(table)
