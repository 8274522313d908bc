"""The roofline plot (Williams, Waterman and Patterson, 2009): what was reached of what a device
can do, by the bytes and the matrix operations that an operator as written needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from superopt.device import Device
from superopt.report.figure import BLUE
from superopt.report.figure import CYCLE
from superopt.report.figure import GREY
from superopt.report.figure import INK
from superopt.report.figure import PALE
from superopt.report.figure import SHAPES
from superopt.report.figure import new
from superopt.report.figure import styled
from superopt.tune.roofline import Work

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TERA = 1e12
GIGA = 1e9


@dataclass(frozen=True)
class Reached:
    """What one case reached: its work, the winner's time, and the times of all that was timed.
    Microseconds. ``units``: which matrix rate bounds it (``bf16``, ``tf32``, ...)."""

    case: str
    work: Work
    units: str
    us: float
    others: tuple[float, ...]


def roofline(cases: Sequence[Reached], device: Device) -> Figure:
    """Cases with matrix products under the roof; those without as shares of the bandwidth."""
    products = [c for c in cases if c.work.flop > 0]
    streams = [c for c in cases if c.work.flop == 0]
    with styled():
        both = bool(products and streams)
        height = 4.8 if products else 1.4 + 0.6 * len(streams)
        figure, columns = new(9.6 if both else 7.2, height, 2 if both else 1)
        if products:
            _roof(columns[0], products, device)
        if streams:
            _bandwidth(columns[-1], streams, device)
        return figure


def _roof(axes: Axes, cases: Sequence[Reached], device: Device) -> None:
    from matplotlib.ticker import FuncFormatter
    from matplotlib.ticker import NullFormatter

    intensity = {c.case: c.work.flop / c.work.bytes for c in cases}
    units = list(dict.fromkeys(c.units for c in cases))
    ridges = [device.matrix_rate(u) / device.dram for u in units]
    ends = [*intensity.values(), *ridges]
    left, right = min(ends) / 6, max(ends) * 6
    for unit, ridge in zip(units, ridges, strict=True):
        top = device.matrix_rate(unit) / TERA
        axes.plot([ridge, right], [top, top], color=INK, linewidth=1.4)
        axes.annotate(
            f"{unit}, {top:.0f} TFLOP/s", (right, top), xytext=(0, 4),
            textcoords="offset points", ha="right",
        )  # fmt: skip
    slope = device.dram / TERA
    last = max(ridges)
    axes.plot(
        [left, last], [left * slope, last * slope], color=INK, linewidth=1.4,
        label=f"memory, {device.dram / GIGA:.0f} GB/s",
    )  # fmt: skip
    for number, case in enumerate(cases):
        rates = [case.work.flop / us / 1e6 for us in case.others]
        x = intensity[case.case]
        axes.plot([x] * len(rates), rates, "_", color=GREY, markersize=7, alpha=0.6, zorder=1)
        axes.plot(
            x, case.work.flop / case.us / 1e6, SHAPES[number % len(SHAPES)],
            color=CYCLE[number % len(CYCLE)], markersize=8, markeredgecolor="white",
            label=f"{case.case}: {case.work.flop / case.us / 1e6:.3g} TFLOP/s", zorder=3,
        )  # fmt: skip
    axes.plot([], [], "_", color=GREY, markersize=7, label="other measured")
    axes.set(xscale="log", yscale="log", xlim=(left, right))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("matrix operations a byte (operator as written)")
    axes.set_ylabel("TFLOP/s")
    axes.set_title(f"Roofline of {device.name} (sustained)")
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.16), ncols=2, borderaxespad=0.0)


def _bandwidth(axes: Axes, cases: Sequence[Reached], device: Device) -> None:
    reached = [c.work.bytes / c.us / 1e3 for c in cases]
    limit = device.dram / GIGA
    axes.barh(range(len(cases)), reached, color=BLUE, height=0.5, zorder=2)
    for y, (case, rate) in enumerate(zip(cases, reached, strict=True)):
        rates = [case.work.bytes / us / 1e3 for us in case.others]
        axes.plot(rates, [y + 0.36] * len(rates), "|", color=GREY, markersize=6, zorder=3)
        inside = rate > limit / 2
        axes.annotate(
            f"{rate:.0f} GB/s, {rate / limit:.0%}", (rate, y), xytext=(-6 if inside else 6, 0),
            textcoords="offset points", ha="right" if inside else "left", va="center",
            color="white" if inside else INK, zorder=4,
        )  # fmt: skip
    axes.axvline(limit, color=INK, linewidth=1.4)
    axes.annotate(
        f"memory, {limit:.0f} GB/s", (limit, 1.0), xycoords=("data", "axes fraction"),
        xytext=(-4, -2), textcoords="offset points", ha="right", va="top",
    )  # fmt: skip
    axes.set_yticks(range(len(cases)), [c.case for c in cases])
    axes.set_ylim(len(cases) - 0.4, -0.95)
    axes.set_xlim(0, max([limit, *reached]) * 1.06)
    axes.grid(axis="x", color=PALE, linewidth=0.8)
    axes.set_xlabel("GB/s of the operator as written; grey: other measured")
    axes.set_title("Without matrix products")
