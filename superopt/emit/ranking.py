"""Lists of the best as text: pairs of a value and a position as one whole number each.

The order of these *keys* is that of the pairs (larger values first, of equal ones the lower
position first, NaN before all), so the best are the largest keys, and none occurs twice. A list
is a tile of keys, its lanes last and in no order until it is read.
"""

from __future__ import annotations

from superopt.emit.scopes import Scopes
from superopt.emit.value import Value
from superopt.emit.writer import Writer
from superopt.errors import NotEmittable
from superopt.ugraph.node import Best
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Kind

HELPERS: dict[str, str] = {
    "_keys": '''@triton.jit
def _keys(values, places):
    """Whole numbers in the order of pairs: larger values first, then lower places; NaN leads."""
    bits = tl.where(values == 0.0, 0.0, values).to(tl.int32, bitcast=True)
    bits = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    bits = tl.where(values == values, bits, 0x7FFFFFFF)
    return (bits.to(tl.int64) << 32) | (0x7FFFFFFF - places).to(tl.int64)
''',
    "_nobody": '''@triton.jit
def _nobody(lanes, count):
    """A list without candidates: keys below all others; lanes beyond the count are never taken."""
    lanes = lanes.to(tl.int64)
    return tl.where(lanes < count, lanes - 0x7FFFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF)
''',
    "_among": '''@triton.jit
def _among(kept, keys, count):
    """The list with the keys that are among the best of both. As many rounds as a row needs at
    most: each brings its largest key in for the least one kept, if that is less."""
    last: tl.constexpr = len(keys.shape) - 1
    better = keys > tl.min(kept, last, keep_dims=True)
    better = tl.sum(better.to(tl.int32), last, keep_dims=True)
    for _ in range(tl.minimum(tl.max(better), count)):
        best, least = tl.max(keys, last, keep_dims=True), tl.min(kept, last, keep_dims=True)
        kept = tl.where((kept == least) & (best > least), best, kept)
        keys = tl.where(keys == best, -0x7FFFFFFFFFFFFFFF - 1, keys)
    return kept
''',
    "_ranked": '''@triton.jit
def _ranked(kept, lanes, count, end):
    """Values and places of a list, the best first. Where there is no candidate, -inf at the end;
    beside a NaN, NaN at the end."""
    last: tl.constexpr = len(kept.shape) - 1
    left = tl.where(lanes < count, kept, -0x7FFFFFFFFFFFFFFF - 1)
    ranked = left
    for rank in range(count):
        best = tl.max(left, last, keep_dims=True)
        ranked = tl.where(lanes == rank, best, ranked)
        left = tl.where(left == best, -0x7FFFFFFFFFFFFFFF - 1, left)
    bits = (ranked >> 32).to(tl.int32)
    lost = tl.max(bits, last, keep_dims=True) == 0x7FFFFFFF
    none = bits < -0x7F800001  # that is -inf
    values = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(tl.float32, bitcast=True)
    values = tl.where(lost, float("nan"), tl.where(none, float("-inf"), values))
    places = 0x7FFFFFFF - (ranked & 0x7FFFFFFF).to(tl.int32)
    return values, tl.where(lost | none, end, places)
''',
}


class Lists:
    """Prints lists of the best into the lines of ``values``."""

    def __init__(self, values: Scopes) -> None:
        self.values, self.frame = values, values.frame

    def dims(self, node: Best) -> tuple[str, ...]:
        """The dimensions of the tile of keys: the lanes of the list come last."""
        rest = tuple(d for d in self.frame.dims(node.axes) if d != node.into)
        return (*rest, node.into)

    def empty(self, node: Best) -> str:
        """A list without candidates."""
        self.frame.helpers["_nobody"] = None
        lanes, dims = self.lanes(node), self.dims(node)
        if len(dims) > 1:
            lanes += f" + tl.zeros({self.values.shape(dims)}, tl.int32)"
        return f"_nobody({lanes}, {self.frame.size(node.into)})"

    def among(self, node: Best, kept: str, pairs: tuple[Node, ...], lines: Writer) -> str:
        """The list ``kept`` with the candidates of ``pairs``, whose keys get names in ``lines``."""
        for value, place in zip(pairs[::2], pairs[1::2], strict=True):
            kept = self._with(node, kept, self._named_keys(node, value, place, lines))
        return kept

    def traced(self, node: Best, kept: str, lines: Writer) -> tuple[str, list[str]]:
        """The list named ``kept`` with the candidates of ``node``, and for each of its pairs the
        lanes that what is new came from; all have names in ``lines``."""
        self.frame.helpers["_origin"] = None
        origins: list[str] = []
        stem = self.frame.stem(node.axis)
        for value, place in zip(node.pairs[::2], node.pairs[1::2], strict=True):
            keys = self._named_keys(node, value, place, lines)
            more, origin = self.values.local(f"{stem}_best"), self.values.local(f"{stem}_from")
            lines.line(f"{more} = {self._with(node, kept, keys)}")
            lines.line(f"{origin} = _origin({more}, {kept}, {keys})")
            origins.append(origin)
            kept = more
        return kept, origins

    def _named_keys(self, node: Best, value: Node, place: Node, lines: Writer) -> str:
        keys = self.values.local(f"{self.frame.stem(node.axis)}_keys")
        lines.line(f"{keys} = {self._keys(node, value, place)}")
        return keys

    def _with(self, node: Best, kept: str, keys: str) -> str:
        self.frame.helpers["_among"] = None
        return f"_among({kept}, {keys}, {self.frame.size(node.into)})"

    def ranked(self, node: Best, kept: str, lines: Writer, names: tuple[str, str]) -> list[Value]:
        """Both halves of a list, which a new line of ``lines`` names."""
        self.frame.helpers["_ranked"] = None
        count, end = self.frame.size(node.into), self.frame.size(node.of)
        have, want = self.dims(node), self.frame.dims(node.axes)
        lines.line(f"{', '.join(names)} = _ranked({kept}, {self.lanes(node)}, {count}, {end})")
        texts = (n if have == want else turned(n, have, want) for n in names)
        kinds = (Kind.REAL, Kind.INT)
        return [Value(t, want, kind) for t, kind in zip(texts, kinds, strict=True)]

    def along(self, node: Best, value: Node, place: Node) -> list[str]:
        """The dimensions of the candidates of one pair."""
        dims = self.frame.dims(value.axes) + self.frame.dims(place.axes)
        return [a for a in (node.axis, node.into) if a in dims]

    def lanes(self, node: Best) -> str:
        """The ranks along the last dimension."""
        rank = len(self.dims(node))
        lanes = self.frame.lane(node.into)
        return lanes if rank == 1 else f"{lanes}[{', '.join(['None'] * (rank - 1))}, :]"

    def _keys(self, node: Best, value: Node, place: Node) -> str:
        """The keys of one pair over (rest, candidates); lanes that do not exist are below all."""
        frame, values = self.frame, self.values
        frame.helpers["_keys"] = None
        pair = [values.real(value), values.value(place)]
        along = self.along(node, value, place)
        rest = [d for d in self.dims(node) if d != node.into]
        if lost := [a for a in along if a not in frame.order]:
            raise NotEmittable(f"the best along {lost[0]!r}, which is no tile dimension")
        here = tuple(d for d in frame.order if d in rest or d in along)
        text = f"_keys({pair[0].along(here)}, {pair[1].along(here)})"
        if set(here) != {*pair[0].dims, *pair[1].dims}:
            text = f"{text} + tl.zeros({values.shape(here)}, tl.int64)"
        for axis in along:
            if not frame.full(axis):
                inside = frame.inside(axis).along(here)
                text = f"tl.where({inside}, {text}, -0x7FFFFFFFFFFFFFFF - 1)"
        wanted = (*rest, *along)
        if here != wanted:
            text = turned(text, here, wanted)
        if len(along) > 1:
            tiles = [frame.tile(d) for d in rest]
            shape = ", ".join([*tiles, " * ".join(frame.tile(a) for a in along)])
            text = f"tl.reshape({text}, [{shape}])"
        return text


def turned(text: str, have: tuple[str, ...], want: tuple[str, ...]) -> str:
    """A tile with its dimensions in another order."""
    return f"tl.permute({text}, [{', '.join(str(have.index(d)) for d in want)}])"
