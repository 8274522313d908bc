"""Live progress of a search on a terminal, and plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import threading
import time
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from superopt.closing import Closing
from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Stage

_REASONS = 6  # of rejection, on the terminal
EVERY = 30.0  # seconds between two lines that say what is being done, where there is no terminal


class Progress(Closing):
    """Shows what the search sees: seen, rejected by reason, verified, best, share of roofline.

    It is told of changes by the pipeline and never asks anything back. Where there is no terminal
    a line says ``every`` so many seconds what is being done.
    """

    def __init__(self, console: Console, quiet: bool = False, every: float = EVERY) -> None:
        self._console = console
        self._every, self._began, self._ended = every, time.monotonic(), threading.Event()
        self._saying: threading.Thread | None = None
        if not console.is_terminal and not quiet:
            self._saying = threading.Thread(target=self._say_at_times, daemon=True)
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
        self._refused: list[str] = []
        self._best: tuple[float, float] | None = None

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        if self._saying:
            self._saying.start()
        return super().__enter__()

    def close(self) -> None:
        """Ends what moves on the terminal, and what is said at times."""
        if self._live:
            self._live.stop()
        self._ended.set()
        if self._saying:
            self._saying.join()

    def _say_at_times(self) -> None:
        while not self._ended.wait(self._every):
            if self._stage:
                spent = time.monotonic() - self._began
                title = f"{self._title}: " if self._title else ""
                self.say(f"{title}{self._stage} (after {spent:.0f} s)")

    def case(self, function: str, case: str) -> None:
        """A new case begins."""
        self._title, self._verified, self._best = f"{function} / {case}", 0, None
        self._counts, self._refused = Counts(), []
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

    def refused(self, why: str) -> None:
        """A check said no to one more candidate, or could not say yes."""
        self._refused.append(why)
        self._redraw()

    def timing(self, done: int, trials: int, best_us: float) -> None:
        """So many of at most ``trials`` Configs were tried; the fastest takes ``best_us``."""
        best = f", best {best_us:.1f} us" if math.isfinite(best_us) else ""
        self.stage(f"timing {done}/{trials}{best}")

    def done(self, result: CaseRun) -> None:
        """A case ends: one line stays."""
        if self._quiet:
            return
        verified = sum(c.holds for c in result.candidates)
        refused = sum(c.stage is Stage.REFUSED for c in result.candidates)
        counts = result.counts
        rejected = sum(n for _, n in counts.rejected)
        pruned = sum(n for _, n in counts.pruned)
        line = (
            f"{self._title}: seen {counts.seen}, built {counts.built}, rejected {rejected}, "
            f"pruned {pruned}, verified {verified}{f', refused {refused}' if refused else ''}"
        )
        if result.winner and result.winner.timed:
            figures = result.winner.timed
            line += f"; winner {figures.us:.1f} us measured ({figures.low:.1f} to "
            line += f"{figures.high:.1f}), {result.winner.model_us:.1f} us by the model"
        elif result.winner:
            line += f"; winner {result.winner.model_us:.1f} us by the model, "
            line += f"{result.winner.share:.0%} of the roofline"
        else:
            line += "; no verified kernel"
        self._console.print(line, highlight=False, markup=False)

    def say(self, text: str) -> None:
        """A line that stays."""
        if not self._quiet:
            self._console.print(text, highlight=False, markup=False)

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
        table = Table(title=Text(self._title), show_header=False, title_justify="left")
        rows = [("now", self._stage), ("seen", f"{self._counts.seen}")]
        rows.append(("built", f"{self._counts.built}"))
        rows += [("rejected", f"{n}  {reason}") for reason, n in self._most_rejected()]
        rows += [("pruned", f"{n}  {bound}") for bound, n in self._counts.pruned]
        rows.append(("verified", f"{self._verified}"))
        if self._refused:
            rows.append(("refused", f"{len(self._refused)}  last: {self._refused[-1]}"))
        if self._best:
            us, share = self._best
            rows.append(("best", f"{us:.1f} us by the model, {share:.0%} of roofline"))
        table.add_column(no_wrap=True, min_width=max(len(name) for name, _ in rows))
        table.add_column(no_wrap=True, overflow="ellipsis")
        for name, text in rows:  # Text, for a reason may hold brackets
            table.add_row(name, Text(text))
        self._live.update(table)

    def _most_rejected(self) -> list[tuple[str, int]]:
        """The reasons that were given most often."""
        found = sorted(self._counts.rejected, key=lambda pair: -pair[1])
        return found[:_REASONS]
