"""The figures of a run: plain data in, a figure out."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from superopt.report.figure import BLUE
from superopt.report.figure import CYCLE
from superopt.report.figure import GREEN
from superopt.report.figure import GREY
from superopt.report.figure import INK
from superopt.report.figure import PALE
from superopt.report.figure import RED
from superopt.report.figure import SHAPES
from superopt.report.figure import new
from superopt.report.figure import styled
from superopt.report.summary import Funnel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 8.0  # ratio of values from which on an axis is logarithmic


@dataclass(frozen=True)
class Trial:
    """One measurement: of which structure, when, how long by the clock (None: it failed), and by
    the model. Seconds since timing began; microseconds."""

    structure: str
    seconds: float
    us: float | None
    model_us: float


@dataclass(frozen=True)
class Speedup:
    """One peer beside ours: its time over ours with quartiles, in ``mode``; ``aim``: the ratio
    that was asked for. ``yardstick``: it does not compute the operator."""

    workload: str
    peer: str
    ratio: float
    low: float
    high: float
    mode: str = ""
    aim: float | None = None
    yardstick: bool = False


def progress(trials: Sequence[Trial], best: Sequence[tuple[float, float]]) -> Figure:
    """Every measurement over time, and the best so far (seconds, microseconds) as a line."""
    with styled():
        figure, (axes,) = new(7.2, 3.6)
        timed = [t for t in trials if t.us is not None]
        _by_structure(axes, timed, lambda t: (t.seconds, t.us or 0.0))
        if best:
            end = max(t.seconds for t in trials)
            steps = [*best, (end, best[-1][1])]
            axes.step(
                [s for s, _ in steps], [us for _, us in steps],
                where="post", color=INK, linewidth=1.6, label="best so far", zorder=1,
            )  # fmt: skip
            axes.annotate(
                f"{best[-1][1]:.4g} us", (end, best[-1][1]), xytext=(0, -4),
                textcoords="offset points", ha="right", va="top",
            )  # fmt: skip
        failed = [t.seconds for t in trials if t.us is None]
        if failed:
            axes.plot(
                failed, [0.985] * len(failed), "x", color=RED, markersize=6, label="failed",
                transform=axes.get_xaxis_transform(), clip_on=False,
            )  # fmt: skip
        log_if_wide(axes, "y", [t.us for t in timed if t.us is not None])
        axes.set_xlabel("seconds since timing began")
        axes.set_ylabel("microseconds a call")
        axes.margins(y=0.12)
        if not timed:
            axes.set_yticks([])
        _legend_beside(axes)
        return figure


def scatter(trials: Sequence[Trial], correlation: float | None) -> Figure:
    """The model's time against the measured one; equal times lie on the line."""
    with styled():
        figure, (axes,) = new(7.2, 4.2)
        timed = [t for t in trials if t.us is not None]
        _by_structure(axes, timed, lambda t: (t.model_us, t.us or 0.0))
        values = [v for t in timed for v in (t.model_us, t.us) if v]
        if values:
            ends = (min(values) * 0.9, max(values) * 1.1)
            axes.plot(ends, ends, color=GREY, linewidth=1, linestyle="--", label="equal", zorder=1)
        word = "none" if correlation is None else f"{correlation:.2f}"
        axes.set_title(f"Spearman's rank correlation {word}, {len(timed)} timed")
        for which in ("x", "y"):
            log_if_wide(axes, which, values)
        axes.set_xlabel("microseconds by the model")
        axes.set_ylabel("microseconds measured")
        _legend_beside(axes)
        return figure


def speedups(rows: Sequence[Speedup]) -> Figure:
    """One line a peer, grouped by workload: right of 1 ours is faster. Bars are quartiles."""
    with styled():
        lines = _grouped(rows)
        figure, (axes,) = new(8.4, 1.3 + 0.27 * len(lines))
        for y, (_, row) in enumerate(lines):
            if row is None:
                continue
            faster = row.ratio >= 1
            color, shape = (BLUE, "o") if faster else (RED, "D")
            if row.yardstick:
                color, shape = GREY, "s"
            axes.hlines(y, row.low, row.high, color=color, linewidth=3.5, alpha=0.45)
            axes.plot(
                row.ratio, y, shape, color=color, markersize=6,
                markerfacecolor=color if shape == "o" else "white",
            )  # fmt: skip
            axes.annotate(
                f"{row.ratio:.2f}x", (1.0, y), xycoords=("axes fraction", "data"),
                xytext=(6, 0), textcoords="offset points", va="center", color=color,
                annotation_clip=False,
            )  # fmt: skip
            if row.aim is not None:
                axes.plot(row.aim, y, "|", color=INK, markersize=11, markeredgewidth=1.6)
        axes.axvline(1.0, color=INK, linewidth=1)
        axes.set_yticks(range(len(lines)), [label for label, _ in lines])
        for tick, (_, row) in zip(axes.get_yticklabels(), lines, strict=True):
            tick.set_fontweight("bold" if row is None else "normal")
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(lines) - 0.4, -0.6)
        ends = [v for r in rows for v in (r.low, r.high, r.aim or r.ratio)]
        log_if_wide(axes, "x", [*ends, 1.0], 3.0, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
        axes.set_xlim(min([*ends, 1.0]) * 0.94, max([*ends, 1.0]) * 1.06)
        axes.grid(axis="x", color=PALE, linewidth=0.8)
        aims = " The tick is the aim." if any(r.aim is not None for r in rows) else ""
        axes.set_xlabel(f"time of the peer / time of ours (above 1: ours is faster).{aims}")
        return figure


def funnel(found: Funnel) -> Figure:
    """What became of everything, in numbers beside bars."""
    with styled():
        built = [(f"built, {name}", n, BLUE) for name, n in found.stages]
        groups = [
            ("seen", found.seen, INK),
            ("duplicate", found.duplicates, PALE),
            ("rejected", found.rejected, RED),
            ("pruned by a bound", found.pruned, GREY),
            *built,
        ]
        lines = [groups]
        if found.tried:
            failed = [(f"failed: {name}", n, RED) for name, n in found.failed]
            lines.append(
                [("tried on the device", found.tried, INK), *failed, ("timed", found.timed, GREEN)]
            )
        most = max(len(g) for g in lines)
        figure, columns = new(4.6 * len(lines), 0.7 + 0.3 * most, len(lines))
        titles = ("Candidates", "Candidates with Configs")
        for axes, group, title in zip(columns, lines, titles, strict=False):
            _bars(axes, group)
            axes.set_title(title)
        return figure


def _bars(axes: Axes, group: Sequence[tuple[str, int, str]]) -> None:
    numbers = [n for _, n, _ in group]
    bars = axes.barh(range(len(group)), numbers, color=[c for _, _, c in group], height=0.7)
    axes.bar_label(bars, [str(n) for n in numbers], padding=4)
    axes.set_yticks(range(len(group)), [name for name, _, _ in group])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_xlim(0, max([*numbers, 1]) * 1.18)


def _grouped(rows: Sequence[Speedup]) -> list[tuple[str, Speedup | None]]:
    """Lines of the figure: the name of each workload, then its peers."""
    groups: dict[str, list[Speedup]] = {}
    for row in rows:
        groups.setdefault(row.workload, []).append(row)
    found: list[tuple[str, Speedup | None]] = []
    for workload, members in groups.items():
        found.append((workload, None))
        modes = {r.mode for r in rows}
        for row in members:
            notes = [row.mode] * (len(modes) > 1) + ["yardstick"] * row.yardstick
            found.append((f"{row.peer} ({', '.join(notes)})" if notes else row.peer, row))
    return found


def _legend_beside(axes: Axes) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)


def _by_structure(
    axes: Axes, trials: Sequence[Trial], place: Callable[[Trial], tuple[float, float]]
) -> None:
    """Points with a colour and a shape for each structure, in order of appearance."""
    names = list(dict.fromkeys(t.structure for t in trials))
    for number, name in enumerate(names):
        points = [place(t) for t in trials if t.structure == name]
        axes.plot(
            [x for x, _ in points], [y for _, y in points], SHAPES[number % len(SHAPES)],
            color=CYCLE[number % len(CYCLE)], markersize=5, alpha=0.75, markeredgewidth=0,
            label=name, zorder=2,
        )  # fmt: skip


def log_if_wide(
    axes: Axes,
    which: str,
    values: Sequence[float],
    wide: float = WIDE,
    ticks: Sequence[float] = (1.0, 2.0, 5.0),
) -> None:
    """A logarithmic axis ``which`` with plain numbers, where values differ ``wide``-fold.

    ``ticks``: of every power of ten, if there are not many.
    """
    from matplotlib.ticker import FuncFormatter
    from matplotlib.ticker import LogLocator
    from matplotlib.ticker import NullFormatter

    good = [v for v in values if v > 0]
    if not good or max(good) < wide * min(good):
        return
    axes.set(**{f"{which}scale": "log"})
    axis = axes.xaxis if which == "x" else axes.yaxis
    many = max(good) > 100 * min(good)
    axis.set_major_locator(LogLocator(subs=(1.0,) if many else tuple(ticks)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
