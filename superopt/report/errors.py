"""The figure of errors: how much of its tolerance every execution used, by family of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from superopt.report.figure import CYCLE
from superopt.report.figure import INK
from superopt.report.figure import PALE
from superopt.report.figure import RED
from superopt.report.figure import SHAPES
from superopt.report.figure import new
from superopt.report.figure import styled
from superopt.verify.run.checks import Figure as Compared

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST = 1e-4  # shares of a tolerance below it are drawn there
MOST = 10.0  # and shares above it, infinite ones too, there


def errors(figures: Sequence[Compared]) -> Figure:
    """A line for each family of inputs, a point for each output of each execution.

    The axis is the error as a share of its limit (the nearer one of the two limits): what lies
    right of the line at 1 failed. Only outputs that were compared have a point.
    """
    with styled():
        groups = families(figures)
        figure, (axes,) = new(7.2, 1.1 + 0.2 * len(groups))
        dtypes = list(dict.fromkeys(f.dtype for group in groups.values() for f in group))
        for number, dtype in enumerate(dtypes):
            points = [
                (share(f), y)
                for y, group in enumerate(groups.values())
                for f in group
                if f.dtype == dtype
            ]
            axes.plot(
                [x for x, _ in points], [y for _, y in points], SHAPES[number % len(SHAPES)],
                color=CYCLE[number % len(CYCLE)], markersize=4.5, alpha=0.75, markeredgewidth=0,
                label=dtype, clip_on=False,
            )  # fmt: skip
        axes.axvline(1.0, color=RED, linewidth=1.4)
        axes.annotate(
            "limit", (1.0, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 3),
            textcoords="offset points", ha="center", color=RED,
        )  # fmt: skip
        axes.set_xscale("log")
        axes.set_xlim(LEAST, MOST)
        axes.set_yticks(range(len(groups)), list(groups))
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0, labelsize=8.5)
        axes.grid(axis="both", color=PALE, linewidth=0.6)
        axes.set_xlabel(f"error / limit (at most {LEAST:g} at the left edge)", color=INK)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
        return figure


def share(figure: Compared) -> float:
    """Where the point of ``figure`` lies; an error that is no number lies at the right edge."""
    return max(LEAST, figure.used) if figure.used < MOST else MOST


def families(figures: Sequence[Compared]) -> dict[str, list[Compared]]:
    """Figures that were compared with a limit, by family of inputs, in order of appearance."""
    found: dict[str, list[Compared]] = {}
    for figure in figures:
        if figure.rel_limit:
            found.setdefault(figure.label, []).append(figure)
    return found
