"""Graphs as text that people read, scripts search and ``parse`` turns into the same graph.

The text is what is stored and hashed: it depends on nothing but the graph. Every node that is
used twice, or whose own text is long, is bound once, in the line above its first use::

    kernels softmax
    param x[m n]
    output out
    kernel 0
      place m Grid
      place n Loop
      order m
      walk n
        carry c0 over m by max of x[m n]
        let %0 = new(c0[m])
        ...

``new(c0[m])`` and ``old(c0[m])`` are states, ``add[n](x)`` is a fold, ``$s`` a scalar.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from dataclasses import field
from fractions import Fraction

from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Clear
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Hole
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.parse import Parsed
from superopt.ugraph.parse import parse
from superopt.ugraph.parse_nodes import BEST
from superopt.ugraph.parse_nodes import BEST_AT
from superopt.ugraph.parse_nodes import BEST_TAKEN
from superopt.ugraph.parse_nodes import RECUR
from superopt.ugraph.parse_nodes import RECUR_LAST
from superopt.ugraph.parse_nodes import SCAN
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

__all__ = ["digest", "parse", "show"]

# Longer texts of subterms are bound to a name, so lines stay short and parsing shallow.
_INLINE = 72


def show(value: Parsed) -> str:
    """The text of a node, a program, a block graph, a kernel graph or a config."""
    writer = _Writer()
    match value:
        case Node():
            writer.share([value])
            writer.line(0, f"node {writer.expression(value, 0)}")
        case Program():
            _program(writer, value)
        case KernelGraph():
            _kernels(writer, value)
        case BlockGraph():
            _block(writer, value, "kernel")
        case Config():
            writer.line(0, _config(value))
    return "\n".join(writer.lines) + "\n"


def digest(value: Parsed) -> str:
    """32 hexadecimal digits that stand for the text of ``value``."""
    return hashlib.blake2b(show(value).encode(), digest_size=16).hexdigest()


@dataclass
class _Writer:
    """Lines so far, and the names bound in them."""

    lines: list[str] = field(default_factory=list)
    texts: dict[Node, str] = field(default_factory=dict)
    uses: Counter[Node] = field(default_factory=Counter)
    bound: int = 0

    def line(self, depth: int, text: str) -> None:
        """Writes one line."""
        self.lines.append("  " * depth + text)

    def share(self, roots: list[Node]) -> None:
        """Starts a scope: nodes that are used twice below ``roots`` will be bound."""
        self.texts = {}
        self.uses = Counter(roots)
        for node in topo(roots):
            self.uses.update(children(node))

    def expression(self, root: Node, depth: int) -> str:
        """The text of ``root``; lines that bind its subterms are written before."""
        for node in topo([root]):
            if node in self.texts:
                continue
            text = _node(node, [self.texts[c] for c in children(node)])
            shared = self.uses[node] > 1 or (len(text) > _INLINE and node is not root)
            if children(node) and shared:
                self.line(depth, f"let %{self.bound} = {text}")
                text = f"%{self.bound}"
                self.bound += 1
            self.texts[node] = text
        return self.texts[root]


def _node(node: Node, parts: list[str]) -> str:
    match node:
        case Reduce(fn=fn, axis=axis):
            return f"{fn.symbol}[{axis}]({parts[0]})"
        case Scan(fn=fn, axis=axis):
            return f"{SCAN}{fn.symbol}[{axis}]({parts[0]})"
        case Best(axis=axis, into=into, of=of, at=at, taken=taken):
            name = BEST_TAKEN if taken else BEST_AT if at else BEST
            return f"{name}[{axis} {into} {of}]({', '.join(parts)})"
        case Recur(axis=axis, along=along, last=last, first=first):
            pairs = zip(along, parts[2:-1:2], parts[3:-1:2], strict=True)
            sums = [f"along[{' '.join(names)}]({out}, {into})" for names, out, into in pairs]
            start = [f"from({parts[-1]})"] if first != Const(Fraction(0)) else []
            listed = ", ".join([*parts[:2], *sums, *start])
            return f"{RECUR_LAST if last else RECUR}[{axis}]({listed})"
        case Map(fn=fn):
            return f"{fn.symbol}({', '.join(parts)})"
        case _:
            return _leaf(node)


def _leaf(node: Node) -> str:
    match node:
        case Const(value=value):
            return number(value)
        case Named(name=name):
            return name.value
        case Input(name=name, order=order, dtype=dtype):
            return tensor(name, order, dtype)
        case Scalar(name=name, dtype=dtype):
            return f"${name}" if dtype == "fp32" else f"${name}:{dtype}"
        case Size(axis=axis):
            return f"size({axis})"
        case Index(axis=axis):
            return f"index({axis})"
        case State(carry=carry, over=over, old=old, whole=whole):
            word = f"{'old' if old else 'new'}{'_int' if whole else ''}"
            return f"{word}({tensor(carry, over, None)})"
        case Hole(name=name):
            return f"?{name}"
        case _:
            raise TypeError(f"no text for {type(node).__name__}")


def number(value: Number) -> str:
    """An exact number: ``3``, ``-1/2``, ``inf``."""
    return str(value) if isinstance(value, Fraction) else ("inf" if value > 0 else "-inf")


def tensor(name: str, order: tuple[str, ...], dtype: str | None) -> str:
    """A tensor with its axes in memory order: ``ids[b n]:int32``."""
    return f"{name}[{' '.join(order)}]" + (f":{dtype}" if dtype else "")


def _program(writer: _Writer, program: Program) -> None:
    writer.share([s.value for s in program.outputs])
    writer.line(0, f"program {program.name}")
    _params(writer, program.params)
    _fixed(writer, program.fixed)
    for store in program.outputs:
        _store(writer, "output", store, 0)


def _kernels(writer: _Writer, graph: KernelGraph) -> None:
    writer.line(0, f"kernels {graph.name}")
    _params(writer, graph.params)
    _fixed(writer, graph.fixed)
    for name in graph.outputs:
        writer.line(0, f"output {name}")
    for index, block in enumerate(graph.kernels):
        _block(writer, block, f"kernel {index}")


def _params(writer: _Writer, params: tuple[Input | Scalar, ...]) -> None:
    for param in params:
        writer.line(0, f"param {_leaf(param)}")


def _fixed(writer: _Writer, sizes: tuple[tuple[str, int], ...]) -> None:
    for axis, size in sizes:
        writer.line(0, f"fixed {axis} = {size}")


def _store(writer: _Writer, word: str, store: Store, depth: int) -> None:
    value = writer.expression(store.value, depth)
    writer.line(depth, f"{word} {tensor(store.name, store.order, store.dtype)} = {value}")


def _block(writer: _Writer, block: BlockGraph, title: str) -> None:
    writer.share(block.roots())
    writer.line(0, title)
    for axis, place in block.places:
        writer.line(1, f"place {axis} {_place(place)}")
    if block.order:
        turns = [f"reverse({t.axis})" if t.reverse else t.axis for t in block.order]
        writer.line(1, f"order {' '.join(turns)}")
    for walk in block.walks:
        _walk(writer, walk, 1)
    for store in block.stores:
        _store(writer, "store", store, 1)


def _place(place: Place) -> str:
    match place:
        case Grid(tiled=tiled):
            return "Grid" if tiled else "Grid untiled"
        case Loop(tiled=tiled):
            return "Loop" if tiled else "Loop untiled"
        case Split():
            return "Split"
        case Whole():
            return "Whole"
        case Pack(into=into):
            return f"Pack {into}"


def _walk(writer: _Writer, walk: Walk, depth: int) -> None:
    """A walk; what is in it (``inner`` ones first) stands one level deeper."""
    words = [f"walk {walk.axis}"]
    for word, bounds in (("from", walk.start), ("to", walk.stop)):
        if bounds:
            words.append(f"{word} {', '.join(_bound(writer, b, depth) for b in bounds)}")
    writer.line(depth, " ".join([*words, *(["backwards"] if walk.reverse else [])]))
    if walk.clear is not None:
        _clear(writer, walk.clear, depth + 1)
    for inner in walk.inner:
        _walk(writer, inner, depth + 1)
    for carry in walk.carries:
        _carry(writer, carry, depth + 1)
    for store in walk.stores:
        _store(writer, "store", store, depth + 1)


def _clear(writer: _Writer, clear: Clear, depth: int) -> None:
    words = ["clear"]
    for word, bounds in (("from", clear.start), ("to", clear.stop)):
        if bounds:
            words.append(f"{word} {', '.join(_bound(writer, b, depth - 1) for b in bounds)}")
    if clear.conditions:
        texts = [writer.expression(c, depth) for c in clear.conditions]
        words.append(f"of {', '.join(texts)}")
    writer.line(depth, " ".join(words))


def _bound(writer: _Writer, bound: Bound, depth: int) -> str:
    parts = [_term(axis, coefficient) for axis, coefficient in bound.terms]
    return " + ".join([*parts, writer.expression(bound.offset, depth)])


def _term(axis: str, coefficient: int) -> str:
    return axis if coefficient == 1 else f"{coefficient}*{axis}"


def _carry(writer: _Writer, carry: Carry, depth: int) -> None:
    term = writer.expression(carry.term, depth)
    factors = [writer.expression(m.factor, depth) for m in carry.moves]
    over = " ".join(["over", *carry.over])
    moved = carry.moves or carry.action is not Fn.MUL
    how = f"by {carry.fold.symbol}" + (f" moved by {carry.action.symbol}" if moved else "")
    if carry.listed is not None:
        listed = carry.listed
        kept = "taken" if listed.taken else "places" if listed.at else "listed"
        how += f" {kept}[{' '.join(listed.axes)}] with {listed.other}"
    how += " stepwise" if carry.stepwise else ""
    writer.line(depth, f"carry {carry.name} {over} {how} of {term}")
    for move, factor in zip(carry.moves, factors, strict=True):
        writer.line(depth + 1, f"move {move.source} with {factor}")


def _config(config: Config) -> str:
    tiles = " ".join(f"{axis}={tile}" for axis, tile in config.tiles)
    numbers = f"parts={config.parts} warps={config.warps} stages={config.stages}"
    how = "descriptors" if config.descriptors else ""
    group = f"group={config.group}" if config.group != 1 else ""
    after = "dependent" if config.dependent else ""
    roles = f"consumers={config.consumers}" if config.consumers else ""
    flags = [word for word in ("ring", "joined") if getattr(config, word)]
    more = f"persistent={config.persistent}" if config.persistent else ""
    more += f" each={config.each}" if config.each else ""
    more += " pingpong" if config.pingpong else ""
    when = f"schedule={config.schedule}" if config.schedule else ""
    words = ["config", tiles, "|", numbers, how, group, after, roles, *flags, more, when]
    return " ".join(filter(None, words))
