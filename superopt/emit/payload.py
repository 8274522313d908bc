"""What goes with a list of the best as text: payloads in the order of the list's lanes.

A lane of a list that holds another key than before took it from one lane of the tile in hand. So
payloads need no order and no comparison of their own: each new one is read from that lane. They
are a tile of three dimensions: rows (all other dimensions of the list), its lanes, and elements
(the dimensions that the list has not).
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.emit.ranking import Lists
from superopt.emit.ranking import turned
from superopt.emit.scopes import Scopes
from superopt.emit.value import Value
from superopt.emit.writer import Writer
from superopt.ugraph.node import Best
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Kind

HELPERS: dict[str, str] = {
    "_origin": '''@triton.jit
def _origin(new, old, keys):
    """The lanes of a tile of keys that are new in a list came from; -1 where none is new."""
    last: tl.constexpr = len(keys.shape) - 1
    same = tl.expand_dims(keys, last) == tl.expand_dims(new, last + 1)
    lanes = tl.max(tl.where(same, tl.arange(0, keys.shape[last]), -1), last + 1)
    return tl.where(new == old, -1, lanes)
''',
    "_follow": '''@triton.jit
def _follow(payloads, origin, values):
    """Payloads (rows, ranks, elements) of a list, the new ones from lanes of values (rows or one
    for all, lanes, elements)."""
    rows: tl.constexpr = payloads.shape[0]
    ranks: tl.constexpr = payloads.shape[1]
    width: tl.constexpr = payloads.shape[2]
    lanes: tl.constexpr = values.shape[1]
    if tl.max(origin) >= 0:
        came = tl.reshape(origin, [rows, ranks, 1])
        if values.shape[0] == rows:
            for rank in range(ranks):
                here = (tl.arange(0, ranks) == rank)[None, :, None] & (came >= 0)
                lane = tl.max(tl.where(here, came, -1), 1, keep_dims=True)
                lane = lane == tl.arange(0, lanes)[None, :, None]
                found = tl.sum(tl.where(lane, values, 0), 1, keep_dims=True)
                payloads = tl.where(here, found, payloads)
        elif width >= 32 and lanes * width >= 1024:
            lane = tl.reshape(tl.maximum(came, 0), [rows * ranks, 1])
            lane = tl.broadcast_to(lane, [rows * ranks, width])
            found = tl.gather(tl.reshape(values, [lanes, width]), lane, 0)
            payloads = tl.where(came >= 0, tl.reshape(found, [rows, ranks, width]), payloads)
        else:
            lane = tl.reshape(origin, [rows * ranks, 1, 1])
            lane = lane == tl.arange(0, lanes)[None, :, None]
            found = tl.reshape(tl.sum(tl.where(lane, values, 0), 1), [rows, ranks, width])
            payloads = tl.where(came >= 0, found, payloads)
    return payloads
''',
    "_goes": '''@triton.jit
def _goes(payloads, kept, lanes, count):
    """Payloads (rows, ranks, elements) in the order of their list; 0 where there is no candidate,
    and beside a NaN."""
    last: tl.constexpr = len(kept.shape) - 1
    rows: tl.constexpr = payloads.shape[0]
    ranks: tl.constexpr = payloads.shape[1]
    least: tl.constexpr = -0x7FFFFFFFFFFFFFFF - 1
    left = tl.where(lanes < count, kept, least)
    lost = tl.max((left >> 32).to(tl.int32), last, keep_dims=True) == 0x7FFFFFFF
    ranked = tl.where(tl.reshape(lost, [rows, 1, 1]), 0, payloads)
    for rank in range(count if ranks > 1 else 0):
        best = tl.max(left, last, keep_dims=True)
        here = tl.reshape((left == best) & (left > least), [rows, ranks, 1])
        found = tl.sum(tl.where(here, payloads, 0), 1, keep_dims=True)
        found = tl.where(tl.reshape(lost, [rows, 1, 1]), 0, found)
        ranked = tl.where((tl.arange(0, ranks) == rank)[None, :, None], found, ranked)
        left = tl.where(left == best, least, left)
    return ranked
''',
}


class Payloads:
    """Prints payloads into the lines of ``values``."""

    def __init__(self, values: Scopes) -> None:
        self.values, self.frame, self.lists = values, values.frame, Lists(values)

    def nothing(self, node: Best) -> str:
        """Those of a list without candidates."""
        rows, elements = self._around(node)
        shape = self._shape((rows, (node.into,), elements))
        return f"tl.zeros({shape}, {_dtype(node)})"

    def follow(
        self, node: Best, kept: str, origins: Sequence[str], lines: Writer, wish: str
    ) -> str:
        """The payloads ``kept`` with those of ``node`` that are new, from the lanes ``origins``:
        a name that a line of ``lines`` gives."""
        self.frame.helpers["_follow"] = None
        for number, origin in enumerate(origins):
            text = f"_follow({kept}, {origin}, {self._tile(node, number)})"
            lines.line(f"{wish} = {text}")
            kept = wish
        return kept

    def ranked(self, node: Best, payloads: str, kept: str, lines: Writer, wish: str) -> Value:
        """Payloads in the order of the list ``kept``, which a new line of ``lines`` names."""
        self.frame.helpers["_goes"] = None
        rows, elements = self._around(node)
        lanes, count = self.lists.lanes(node.list_of()), self.frame.size(node.into)
        lines.line(f"{wish} = _goes({payloads}, {kept}, {lanes}, {count})")
        have, want = (*rows, node.into, *elements), self.frame.dims(node.axes)
        text = f"tl.reshape({wish}, {self._shape([(d,) for d in have])})"
        return Value(text if have == want else turned(text, have, want), want, node.kind)

    def _around(self, node: Best) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The dimensions of the list but for its lanes, and those that only payloads have."""
        *rows, _ = self.lists.dims(node.list_of())
        rest = (d for d in self.frame.dims(node.axes) if d not in rows and d != node.into)
        return tuple(rows), tuple(rest)

    def _shape(self, dims: Sequence[Sequence[str]]) -> str:
        each = (" * ".join(self.frame.tile(d) for d in some) or "1" for some in dims)
        return f"[{', '.join(each)}]"

    def _tile(self, node: Best, number: int) -> str:
        """What goes with the candidates of one pair: (rows or one for all, lanes, elements)."""
        frame, payload = self.frame, node.payloads[number]
        pair = node.pairs[2 * number : 2 * number + 2]
        rows, elements = self._around(node)
        value = self._value(payload, node.kind)
        along = self.lists.along(node, *pair)
        common = not any(d in value.dims for d in rows)
        wanted = (*(() if common else rows), *along, *elements)
        here = tuple(d for d in frame.order if d in wanted)
        text = value.along(here)
        if set(here) != set(value.dims):
            text = f"{text} + tl.zeros({self.values.shape(here)}, {_dtype(node)})"
        if here != wanted:
            text = turned(text, here, wanted)
        return f"tl.reshape({text}, {self._shape((() if common else rows, along, elements))})"

    def _value(self, payload: Node, kind: Kind) -> Value:
        if kind is Kind.REAL:
            return self.values.real(payload)
        value = self.values.value(payload)
        return Value(f"{value.operand}.to(tl.int64)", value.dims, Kind.INT)


def _dtype(node: Best) -> str:
    return "tl.float32" if node.kind is Kind.REAL else "tl.int64"
