"""The range of a walk as text, and the loops that it becomes.

A walk with a clear part (``levels.Clear``) is two loops with the same carries, of which only the
second one masks::

    n_stop = tl.minimum(n_size, m_last + 1)
    n_clear = tl.minimum(n_stop, m_first + 1) // TILE_N * TILE_N
    for n_first in range(0, n_clear, TILE_N): ...  # nothing is masked
    for n_first in range(n_clear, n_stop, TILE_N): ...

With masked tiles at both ends the second loop takes all of them, and jumps over the clear ones:
each loop has to fill its pipeline anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace

from superopt.emit.expression import Expressions
from superopt.emit.program import Frame
from superopt.emit.room import LINEAR
from superopt.emit.room import wide
from superopt.emit.scalar import TRITON
from superopt.emit.value import Value
from superopt.errors import NotEmittable
from superopt.ugraph.lanes import Lanes
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Kind
from superopt.ugraph.split import part_axis
from superopt.ugraph.walk import topo


@dataclass(frozen=True)
class Segment:
    """One loop: it begins at a multiple of the tile and ends before ``end``.

    ``clear``: its tiles are. ``unless``: a constexpr under which it has no tile. ``jump``: from
    which position on its steps are how much further.
    """

    begin: str
    end: str
    clear: bool = False
    unless: str = ""
    jump: tuple[str, str] | None = None


@dataclass(frozen=True)
class Span:
    """A walk's loops in order. ``lanes``: the first and the end of what some
    row does not mask, if all rows have the same (else empty)."""

    segments: tuple[Segment, ...]
    lanes: tuple[str, str] | None


def _reads(node: Node) -> bool:
    """Whether ``node`` depends on data."""
    return any(isinstance(n, Input) for n in topo([node]))


class Ranges:
    """Prints ranges of walks into the lines of a ``Frame``."""

    def __init__(self, frame: Frame, values: Expressions) -> None:
        self.frame, self.values = frame, values
        self._known: dict[tuple[Bound, bool, str], str] = {}  # limits from memory
        self._spans: dict[Walk, Span] = {}  # a walk inside two loops is printed in both

    def span(self, walk: Walk) -> Span:
        """Prints the range of a walk, and where it is clear, once."""
        if walk not in self._spans:
            self._spans[walk] = self._span(walk)
        return self._spans[walk]

    def _span(self, walk: Walk) -> Span:
        begin, end = self._range(walk)
        low = self._low(walk)
        # What every row masks has no lane: a weight of 0 would not hide NaN in padding.
        lanes = (low, end) if low or any(not b.terms for b in walk.stop) else None
        if walk.clear is None:
            return Span((Segment(begin, end),), lanes)
        return Span(self._segments(walk, begin, end), lanes)

    def lanes(self, found: Lanes) -> tuple[str, str]:
        """Prints the first lane of a whole axis that some row does not mask (empty: 0), and the
        end of such lanes."""
        limits = Walk(found.axis, (), (), found.start, found.stop)
        return self._low(limits), self._stop(limits, self.frame.size(found.axis))

    def _segments(self, walk: Walk, begin: str, end: str) -> tuple[Segment, ...]:
        """The loops of a walk with a clear part."""
        frame, stem, tile = self.frame, self.frame.stem(walk.axis), self.frame.tile(walk.axis)
        assert walk.clear is not None
        clear, first = walk.clear, begin
        # A limit of both kinds is no tighter as one of the range.
        wide = [b for b in walk.start if b not in clear.start]
        if clear.start or wide:
            latest = "0"
            for bound, largest in [*((b, False) for b in wide), *((b, True) for b in clear.start)]:
                latest = f"tl.maximum({latest}, {self._limit(bound, largest, walk.axis)})"
            first = frame.names.fresh(f"{stem}_clear_first")
            frame.lines.line(f"{first} = tl.maximum({begin}, tl.cdiv({latest}, {tile}) * {tile})")
        text = end
        for bound in clear.stop:
            text = f"tl.minimum({text}, {self._limit(bound, False, walk.axis)})"
        stop = frame.names.fresh(f"{stem}_clear")
        text = f"{text} // {tile} * {tile}"
        certain = first == "0" and end == frame.size(walk.axis) and not clear.stop
        frame.lines.line(f"{stop} = {text if certain else f'tl.maximum({first}, {text})'}")
        if first == begin:
            ragged = "" if clear.stop or walk.stop else frame.even(walk.axis)
            return Segment(begin, stop, clear=True), Segment(stop, end, unless=ragged)
        skipped = frame.names.fresh(f"{stem}_skipped")
        frame.lines.line(f"{skipped} = {stop} - {first}")
        masked = Segment(begin, f"{end} - {skipped}", jump=(first, skipped))
        return Segment(first, stop, clear=True), masked

    def _range(self, walk: Walk) -> tuple[str, str]:
        """Prints the range of a walk: its first position, a multiple of the tile, and its end."""
        frame, axis = self.frame, walk.axis
        stem, size = frame.stem(axis), frame.size(axis)
        tile = frame.tile(axis) if axis in frame.order else "1"
        begin, end = "0", size
        if isinstance(frame.places[axis], Split):
            part = part_axis(axis)
            if part not in frame.places:
                raise NotEmittable(f"axis {axis!r} is split: print the graphs of split.launches")
            length = frame.names.fresh(f"{stem}_length")
            each = f"tl.cdiv(tl.cdiv({size}, {frame.size(part)}), {tile}) * {tile}"
            begin, end = frame.names.fresh(f"{stem}_begin"), frame.names.fresh(f"{stem}_end")
            frame.lines.line(f"{length} = {each}")
            frame.lines.line(f"{begin} = {frame.at(part).text} * {length}")
            # The tiles of all parts together may be more than 32 bits count; what is left is not.
            frame.lines.line(f"{end} = {begin} + tl.minimum({length}, {size} - {begin})")
        if walk.start:
            aligned = f"{self._latest(walk)} // {tile} * {tile}"
            text = aligned if begin == "0" else f"tl.maximum({begin}, {aligned})"
            begin = frame.names.fresh(f"{stem}_start")
            frame.lines.line(f"{begin} = {text}")
        return begin, self._stop(walk, end)

    def _stop(self, walk: Walk, end: str) -> str:
        """Prints the end of what some row does not mask, which is no later than ``end``."""
        if not walk.stop:
            return end
        text = end
        for bound in walk.stop:
            text = f"tl.minimum({text}, {self._limit(bound, True, walk.axis)})"
        stop = self.frame.names.fresh(f"{self.frame.stem(walk.axis)}_stop")
        self.frame.lines.line(f"{stop} = {text}")
        return stop

    def _low(self, walk: Walk) -> str:
        """Prints the first position that some row does not mask, if all rows have the same."""
        fixed = tuple(b for b in walk.start if not b.terms)
        if not fixed:
            return ""
        low = self.frame.names.fresh(f"{self.frame.stem(walk.axis)}_low")
        self.frame.lines.line(f"{low} = {self._latest(replace(walk, start=fixed))}")
        return low

    def _latest(self, walk: Walk) -> str:
        """The first position that is after all starts, and no less than 0."""
        text = "0"
        for bound in walk.start:
            text = f"tl.maximum({text}, {self._limit(bound, False, walk.axis)})"
        return text

    def _limit(self, bound: Bound, largest: bool, walked: str) -> str:
        """The largest value of a limit over the tile of this program, or the smallest."""
        if _reads(bound.offset) or wide(bound.offset):
            return self._from_memory(bound, largest, walked)
        terms = []
        for axis, coefficient in bound.terms:
            at = self._last(axis) if (coefficient > 0) == largest else self._first(axis)
            terms.append(at if coefficient == 1 else f"{coefficient} * {at}")
        offset = self.values.value(bound.offset)
        return " + ".join([*terms, offset.operand])

    def _from_memory(self, bound: Bound, largest: bool, walked: str) -> str:
        """Prints a limit that can be any number (of data): cut to 0 .. size, in 64 bits."""
        if (bound, largest, walked) in self._known:
            return self._known[bound, largest, walked]
        frame, size = self.frame, self.frame.size(walked)
        wide = self._wide(bound.value)
        text = f"tl.minimum(tl.maximum({wide.text}, 0), {size}).to(tl.int32)"
        if wide.dims:
            inside = " & ".join(frame.inside(a).along(wide.dims) for a in wide.dims)
            text = f"tl.where({inside}, {text}, {'0' if largest else size})"
            for dim in reversed(range(len(wide.dims))):
                text = f"tl.{'max' if largest else 'min'}({text}, axis={dim})"
        end = "last" if largest else "least"
        name = frame.names.fresh(f"{frame.stem(walked)}_{end}")
        frame.lines.line(f"{name} = {text}")
        self._known[bound, largest, walked] = name
        return name

    def _wide(self, node: Node) -> Value:
        """An integer in 64 bits wherever it depends on data, so that no sum overflows."""
        if not _reads(node):
            return self.values.value(node)
        if isinstance(node, Input):
            value = self.values.value(node)
            return Value(f"{value.operand}.to(tl.int64)", value.dims, Kind.INT)
        if not isinstance(node, Map) or node.fn not in LINEAR:
            raise NotEmittable(f"a limit of a walk contains {node!r}")
        parts = [self._wide(a) for a in node.args]
        dims = self.values.union(parts)
        text = TRITON[node.fn].format(*(p.along(dims) for p in parts))
        return Value(text, dims, Kind.INT, closed=False)

    def _first(self, axis: str) -> str:
        if axis not in self.frame.order:
            return self.frame.at(axis).text
        first = self.frame.first(axis) or "0"
        return f"({self.frame.alone(axis, first)})" if self.frame.guests[axis] else first

    def _last(self, axis: str) -> str:
        frame = self.frame
        match frame.places[axis]:
            case Grid(tiled=True):
                after = f"{frame.first(axis)} + {frame.tile(axis)}"
                last = f"(tl.minimum({after}, {frame.extent(axis)}) - 1)"
                return f"({frame.alone(axis, last)})" if frame.guests[axis] else last
            case Grid():
                return frame.at(axis).text
            case Whole():
                return f"({frame.size(axis)} - 1)"
            case _:
                raise NotEmittable(f"a limit of a walk depends on the looped axis {axis!r}")
