"""The picture of a kernel graph: kernels as boxes, walks as boxes in them, carries as their lines.

What a box reads comes in from the left and what it stores leaves on the right, at the level at
which it happens; a walk lies inside the walk for whose every tile it begins anew. Tensors that are
written by one kernel and read by a later one are dashed. Colours are the page's.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from superopt.report.algebra import abbreviated
from superopt.report.algebra import algebra
from superopt.report.algebra import combined
from superopt.report.algebra import fold_name
from superopt.report.algebra import plain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Carry
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.walk import topo

LETTER, LINE, PAD = 7.3, 19.0, 9.0  # width of a letter, height of a line, space around
LONGEST = 92  # letters of a line; the rest is in its title
GUTTER = 150.0  # on both sides, for tensors


@dataclass(frozen=True)
class Line:
    """A line of a box. ``kind``: head, carry, or plain; ``full``: its whole text."""

    kind: str
    full: str

    @property
    def text(self) -> str:
        """What fits."""
        return self.full if len(self.full) <= LONGEST else self.full[: LONGEST - 3] + "..."


@dataclass(frozen=True)
class Box:
    """A kernel or a walk (``kind``), before it has a place: what it is, the walks in it, and then
    what is made of them. ``reads``, ``stores``: tensors of its own level, with their axes;
    ``passed``: the names that only kernels see."""

    kind: str
    head: tuple[Line, ...]
    inner: tuple[Box, ...]
    body: tuple[Line, ...]
    reads: tuple[str, ...]
    stores: tuple[str, ...]
    passed: frozenset[str]

    @property
    def rows(self) -> int:
        """Lines of the body, or of arrows beside it."""
        return max(len(self.body), len(self.reads), len(self.stores))

    @property
    def height(self) -> float:
        """With everything inside."""
        lines = (len(self.head) + self.rows) * LINE
        return lines + 2 * PAD + sum(b.height + PAD for b in self.inner)

    @property
    def width(self) -> float:
        """With everything inside."""
        own = max(len(line.text) for line in (*self.head, *self.body)) * LETTER
        return max([own, *(b.width for b in self.inner)]) + 2 * PAD


def boxes(graph: KernelGraph) -> tuple[Box, ...]:
    """The boxes of the kernels of ``graph``, in launch order."""
    passed = frozenset(
        s.name for k in graph.kernels for s in k.all_stores if s.name not in graph.outputs
    )
    return tuple(_kernel(i, block, passed) for i, block in enumerate(graph.kernels))


def picture(graph: KernelGraph) -> str:
    """The picture as one ``<svg>`` element that needs nothing else."""
    found = boxes(graph)
    inside = max(b.width for b in found)
    width = inside + 2 * GUTTER
    height = sum(b.height + 2 * PAD for b in found)
    label = escape(f"Picture of {graph.name}: {len(found)} kernels")
    parts = [
        f'<svg class="graph" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'font-family="ui-monospace, monospace" font-size="12" fill="currentColor">'
    ]
    y = PAD
    for box in found:
        parts += _drawn(box, GUTTER, y, inside, width)
        y += box.height + 2 * PAD
    return "\n".join([*parts, "</svg>"])


def _drawn(box: Box, x: float, y: float, width: float, page: float) -> Iterator[str]:
    accent = "var(--accent, #0072B2)"
    stroke = "currentColor" if box.kind == "kernel" else accent
    yield (
        f'<rect class="{box.kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{box.height:.1f}" rx="5" style="stroke:{stroke}" fill-opacity="0.04"/>'
    )
    at = y + PAD
    for line in box.head:
        yield _text(line, x + PAD, at)
        at += LINE
    for one in box.inner:
        yield from _drawn(one, x + PAD, at, width - 2 * PAD, page)
        at += one.height + PAD
    for row, line in enumerate(box.body):
        yield _text(line, x + PAD, at + row * LINE)
    for row, name in enumerate(box.reads):
        yield _arrow("read", name, GUTTER - 40, x, at + (row + 0.5) * LINE, box.passed)
    for row, name in enumerate(box.stores, box.rows - len(box.stores)):
        end = page - GUTTER + 40
        yield _arrow("store", name, x + width, end, at + (row + 0.5) * LINE, box.passed)


def _text(line: Line, x: float, y: float) -> str:
    style = ' style="fill:var(--accent, #0072B2)"' if line.kind == "carry" else ""
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


def _kernel(number: int, block: BlockGraph, passed: frozenset[str]) -> Box:
    grid = [f"{t.axis} (last first)" if t.reverse else t.axis for t in block.order]
    lines = [Line("head", f"kernel {number}: programs over {', '.join(grid) or 'nothing'}")]
    for words, kind in (
        ("walked", Loop), ("cut into parts", Split), ("within a tile", Whole), ("packed", Pack)
    ):  # fmt: skip
        axes = [_placed(a, p) for a, p in block.places if isinstance(p, kind)]
        if axes:
            lines.append(Line("plain", f"{words}: {', '.join(axes)}"))
    texts, legend = abbreviated([plain(s.value) for s in block.stores])
    body = [*_with(legend), *_made(block.stores, texts)]
    return Box(
        "kernel",
        tuple(lines),
        tuple(_walk(w, block, passed) for w in block.walks),
        tuple(body),
        _reads([s.value for s in block.stores]),
        tuple(map(_tensor, block.stores)),
        passed,
    )


def _placed(axis: str, place: object) -> str:
    return f"{axis} into {place.into}" if isinstance(place, Pack) else axis


def _walk(walk: Walk, block: BlockGraph, passed: frozenset[str]) -> Box:
    start = f"max({', '.join(['0', *map(_bound, walk.start)])})" if walk.start else "0"
    stop = ", ".join([f"size({walk.axis})", *map(_bound, walk.stop)])
    split = "one part of a " if isinstance(block.place[walk.axis], Split) else ""
    lines = [
        Line(
            "head",
            f"{split}walk of {walk.axis}{' (last tile first)' if walk.reverse else ''}: from "
            f"{start} to {f'min({stop})' if walk.stop else stop}",
        )
    ]
    if walk.clear is not None:
        lines.append(Line("plain", "clear tiles first, without their masks"))
    inner = tuple(_walk(w, block, passed) for w in walk.inner)
    own = _own(walk)
    return Box(
        "walk", tuple(lines), inner, tuple(_body(walk)), _reads(own),
        tuple(map(_tensor, walk.stores)), passed,
    )  # fmt: skip


def _body(walk: Walk) -> Iterator[Line]:
    """How the walk changes its carries for a tile, and what it stores."""
    by = walk.components
    terms = [plain(c.term) for c in walk.carries]
    kept = [plain(c.kept(by)) for c in walk.carries]
    values = [plain(s.value) for s in walk.stores]
    texts, legend = abbreviated([*terms, *kept, *values])
    yield from _with(legend)
    count = len(terms)
    for carry, term, old in zip(walk.carries, texts, texts[count:], strict=False):
        yield Line("carry", _carry(carry, walk.axis, term, old))
    yield from _made(walk.stores, texts[2 * count :])


def _with(legend: Sequence[str]) -> list[Line]:
    return [Line("plain", f"with {line}") for line in legend]


def _made(stores: Sequence[Store], texts: Sequence[str]) -> list[Line]:
    return [Line("plain", f"store {s.name} = {t}") for s, t in zip(stores, texts, strict=True)]


def _own(walk: Walk) -> list[Node]:
    """The expressions of a walk that are not those of walks in it."""
    inside = [r for w in walk.inner for r in w.roots()]
    return [r for r in walk.roots() if r not in inside]


def _bound(bound: Bound) -> str:
    return algebra(bound.value)


def _carry(carry: Carry, axis: str, term: str, old: str) -> str:
    name = f"carry {carry.name}[{' '.join(carry.over)}]"
    if carry.listed is not None:
        what = "places of the best" if carry.listed.at else "best"
        return f"{name}' = {what} of {carry.name} and {term} by value, then position"
    tile = f"{fold_name(carry.fold, axis)}({term})"
    return f"{name}' = {combined(carry.fold, old, tile)}"


def _tensor(store: Store) -> str:
    return f"{store.name}[{' '.join(store.order)}]"


def _reads(roots: Sequence[Node]) -> tuple[str, ...]:
    """The tensors and scalars that the expressions read, each once."""
    found: dict[str, None] = {}
    for node in topo(roots):
        match node:
            case Input(name=name, order=order):
                found[f"{name}[{' '.join(order)}]"] = None
            case Scalar(name=name):
                found[name] = None
    return tuple(found)
