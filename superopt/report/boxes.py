"""A kernel graph as boxes with lines of text: kernels, the walks in them, the carries of each.

What a box reads and stores is that of its own level; a walk lies inside the walk for whose every
tile it begins anew. States are written as in ``algebra``: with a prime behind a tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass

from superopt.report.algebra import abbreviated
from superopt.report.algebra import algebra
from superopt.report.algebra import combined
from superopt.report.algebra import fold_name
from superopt.report.algebra import plain
from superopt.report.algebra import shared
from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
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

LONGEST = 92  # letters of a line; the rest is in its title


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


def boxes(graph: KernelGraph) -> tuple[Box, ...]:
    """The boxes of the kernels of ``graph``, in launch order."""
    passed = frozenset(
        s.name for k in graph.kernels for s in k.all_stores if s.name not in graph.outputs
    )
    return tuple(_kernel(i, block, passed) for i, block in enumerate(graph.kernels))


def _kernel(number: int, block: BlockGraph, passed: frozenset[str]) -> Box:
    grid = [f"{t.axis} (last first)" if t.reverse else t.axis for t in block.order]
    lines = [Line("head", f"kernel {number}: programs over {', '.join(grid) or 'nothing'}")]
    for words, kind in (
        ("walked", Loop), ("cut into parts", Split), ("within a tile", Whole), ("packed", Pack)
    ):  # fmt: skip
        axes = [_placed(a, p) for a, p in block.places if isinstance(p, kind)]
        if axes:
            last = "; a second launch combines the states of the parts" if kind is Split else ""
            lines.append(Line("plain", f"{words}: {', '.join(axes)}{last}"))
    texts, legend = shared([plain(s.value) for s in block.stores])
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
        if carry.listed.taken:
            return f"{name}' = what goes with {carry.listed.other}' of {carry.name} and {term}"
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
