"""The picture of a kernel graph: kernels as boxes, walks as boxes in them, carries as their lines.

What a box reads comes in from the left and what it stores leaves on the right, at the level at
which it happens. Tensors that are written by one kernel and read by a later one are dashed.
Colours are the page's.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from superopt.report.boxes import Box
from superopt.report.boxes import Line
from superopt.report.boxes import boxes
from superopt.ugraph.levels import KernelGraph

LETTER, LINE, PAD = 7.3, 19.0, 9.0  # width of a letter, height of a line, space around
ARROW = 40.0  # its length outside of the kernels
ACCENT = "var(--accent, #0072B2)"


@dataclass(frozen=True)
class _Page:
    """Where boxes may be: between ``left`` and ``right``; tensors' names outside."""

    left: float
    right: float
    width: float


def picture(graph: KernelGraph) -> str:
    """The picture as one ``<svg>`` element that needs nothing else."""
    found = boxes(graph)
    return drawn(found, f"Picture of {graph.name}: {len(found)} kernels")


def drawn(found: Sequence[Box], title: str) -> str:
    """``found``, one below the other, as one ``<svg>`` element that is called ``title``."""
    longest = max(len(name) for b in found for name in _names(b))
    gutter = longest * LETTER + ARROW + 2 * PAD
    right = gutter + max(map(_width, found))
    page = _Page(gutter, right, right + gutter)
    height = sum(_height(b) + 2 * PAD for b in found)
    label = escape(title)
    parts = [
        f'<svg class="graph" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" '
        f'viewBox="0 0 {page.width:.0f} {height:.0f}" width="{page.width:.0f}" '
        f'height="{height:.0f}" font-family="ui-monospace, monospace" font-size="12" '
        f'fill="currentColor">'
    ]
    y = PAD
    for box in found:
        parts += _drawn(box, page.left, y, page.right - page.left, page)
        y += _height(box) + 2 * PAD
    return "\n".join([*parts, "</svg>"])


def _names(box: Box) -> Iterator[str]:
    yield from (*box.reads, *box.stores)
    for one in box.inner:
        yield from _names(one)


def _height(box: Box) -> float:
    """Of the box with everything inside."""
    lines = (len(box.head) + box.rows) * LINE
    return lines + 2 * PAD + sum(_height(b) + PAD for b in box.inner)


def _width(box: Box) -> float:
    """Of the box with everything inside."""
    own = max(len(line.text) for line in (*box.head, *box.body)) * LETTER
    return max([own, *map(_width, box.inner)]) + 2 * PAD


def _drawn(box: Box, x: float, y: float, width: float, page: _Page) -> Iterator[str]:
    stroke = "currentColor" if box.kind == "kernel" else ACCENT
    yield (
        f'<rect class="{box.kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{_height(box):.1f}" rx="5" style="stroke:{stroke}" fill-opacity="0.04"/>'
    )
    at = y + PAD
    for line in box.head:
        yield _text(line, x + PAD, at)
        at += LINE
    for one in box.inner:
        yield from _drawn(one, x + PAD, at, width - 2 * PAD, page)
        at += _height(one) + PAD
    for row, line in enumerate(box.body):
        yield _text(line, x + PAD, at + row * LINE)
    for row, name in enumerate(box.reads):
        y = at + (row + 0.5) * LINE
        yield _arrow("read", name, page.left - ARROW, x, y, box.passed)
    for row, name in enumerate(box.stores, len(box.body) - len(box.stores)):
        y = at + (row + 0.5) * LINE
        yield _arrow("store", name, x + width, page.right + ARROW, y, box.passed)


def _text(line: Line, x: float, y: float) -> str:
    style = f' style="fill:{ACCENT}"' if line.kind == "carry" else ""
    bold = ' font-weight="bold"' if line.kind == "head" else ""
    return (
        f'<text class="{line.kind}" x="{x:.1f}" y="{y + 0.7 * LINE:.1f}"{bold}{style}>'
        f"{escape(line.text)}<title>{escape(line.full)}</title></text>"
    )


def _arrow(kind: str, name: str, start: float, end: float, y: float, passed: frozenset[str]) -> str:
    dashes = ' stroke-dasharray="4 3"' if name.partition("[")[0] in passed else ""
    text, anchor = (start - 4, "end") if kind == "read" else (end + 4, "start")
    return (
        f'<g class="{kind}"><path d="M{start:.1f} {y:.1f}H{end:.1f}m-6 -4l6 4l-6 4" fill="none" '
        f'stroke="currentColor"{dashes}/><text x="{text:.1f}" y="{y + 4:.1f}" '
        f'text-anchor="{anchor}">{escape(name)}</text></g>'
    )
