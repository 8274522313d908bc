"""Where the roles of a kernel stand: the entry, which finds out what the program has to do, and
the roles, which are told.

The entry numbers programs and measures walks in numbers, as plain kernels do. Roles take those
numbers as arguments. A tile of the axis that consumers split is that of one consumer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from superopt.emit.program import Body
from superopt.emit.program import Frame
from superopt.emit.struct.waves import Waves
from superopt.emit.value import Value
from superopt.emit.writer import Writer
from superopt.errors import NotEmittable
from superopt.threads.layouts import Layouts
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Walk
from superopt.ugraph.numbering import neighbours
from superopt.ugraph.scalar import Kind

CONSUMERS = "CONSUMERS"  # the number of consumers, a constexpr
CONSUMER = "CONSUMER"  # which of them this is
LANES = "gl.BlockedLayout([1], [32], [4], [0])"  # of a vector in the entry, and in a consumer
WARP_LANES = "gl.BlockedLayout([1], [32], [1], [0])"  # and in the producer


@dataclass(frozen=True)
class Stretch:
    """One loop of a walk, as the entry has measured it: names of numbers.

    ``begin``: its first position. ``count``: its tiles. ``before``: how many tiles the walk has
    had before. ``clear``: all lanes exist and masks hide nothing. ``unless``: a constexpr under
    which it has no tile. ``jump``: from which position on its tiles are how much further.
    ``bound``: of a stretch that has tiles of both kinds, the numbers of the first clear one and of
    the first behind it.
    """

    walk: Walk
    begin: str
    count: str
    before: str
    clear: bool
    unless: str
    jump: tuple[str, str] | None
    bound: tuple[str, str] | None = None

    def is_clear(self, iteration: str) -> str:
        """Whether the tile of ``iteration`` is clear, of a stretch of both kinds."""
        assert self.bound is not None
        (first, end), tile = self.bound, self.step(iteration)
        if first == "0":
            return f"{tile} < {end}"
        return f"({tile} >= {first}) & ({tile} < {end})"

    def step(self, iteration: str) -> str:
        """The number of the tile, among those of the stretch, that comes in ``iteration``."""
        if not self.walk.reverse:
            return iteration
        if iteration == "0":
            return f"{self.count} - 1"
        return f"{self.count} - 1 - {f'({iteration})' if ' ' in iteration else iteration}"

    def number(self, iteration: str) -> str:
        """The number of ``iteration`` in the walk."""
        return iteration if self.before == "0" else plus(self.before, iteration)


class Entry(Frame):
    """The frame of the entry. ``rows``: the axis that ``consumers`` split. ``persistent``: what is
    printed here decides about one of several tiles of a program, and stands in every role;
    ``each``: how many at most (0: as many as there are for it)."""

    def __init__(
        self,
        block: BlockGraph,
        described: Collection[str],
        rows: str,
        consumers: int,
        persistent: bool = False,
        each: int = 0,
    ) -> None:
        super().__init__(block, described)
        self.rows, self.consumers = rows, consumers
        self.names.fresh(CONSUMERS)
        self.names.fresh(CONSUMER)
        self.names.fresh("turn")
        self.waves = Waves.named(self.names, turned=not each) if persistent else None
        if each:
            self.grouped = neighbours(block) or ()

    def program(self) -> str:
        """The number of the tile in hand, in the order of the grid."""
        return super().program() if self.waves is None else self.waves.tile

    def count(self) -> str:
        """How many tiles the grid has."""
        tiled = {a for a, p in self.places.items() if p == Grid()}
        axes = [turn.axis for turn in self.block.order]
        return " * ".join(
            f"tl.cdiv({self.extent(a)}, {self.tile(a)})" if a in tiled else self.size(a)
            for a in axes
        )

    def tile(self, axis: str) -> str:
        """Positions that the program has of ``axis`` at a time."""
        return f"({self.one(axis)} * {CONSUMERS})" if axis == self.rows else self.one(axis)

    def lane(self, axis: str) -> str:
        """0 and more: a power of two of lanes, those beyond the tile of the program included.
        (The entry has lanes only where a walk's limits depend on data.)"""
        count = self.one(axis)
        if axis == self.rows:
            count += f" * {1 << (self.consumers - 1).bit_length()}"
        return self._make(axis, "lane", f"gl.arange(0, {count}, layout={LANES})", invariant=True)

    def inside(self, axis: str) -> Value:
        """Which lanes are positions of this program."""
        if axis != self.rows or self.consumers & (self.consumers - 1) == 0:
            return super().inside(axis)
        at = self._lanes(axis, "at").text
        text = f"({at} < {self.extent(axis)}) & ({self.lane(axis)} < {self.tile(axis)})"
        return Value(self._make(axis, "in", text), (axis,), Kind.BOOL)

    def along(self, value: Value, dims: tuple[str, ...]) -> str:
        """``value`` as it is: the entry has no tiles of two axes."""
        if len(dims) > 1:
            raise NotEmittable(f"a limit of a walk varies along {' and '.join(map(repr, dims))}")
        return super().along(value, dims)

    def one(self, axis: str) -> str:
        """Positions that one consumer has of ``axis`` at a time."""
        return super().tile(axis)


class Role(Frame):
    """The frame of a role of the kernel whose entry is ``entry``. ``which``: text of the consumer
    whose rows are meant."""

    def __init__(self, entry: Entry, layouts: Layouts, which: str) -> None:
        super().__init__(entry.block)
        self.entry, self.layouts, self.which = entry, layouts, which
        lanes = {("at", axis) for axis in entry.order}  # of which a role has its own
        # What the kernel takes, and the names of it all, is one for all roles.
        self.names, self._described, self.helpers = entry.names, entry._described, entry.helpers
        self._stems, self._sizes, self._scalars = entry._stems, entry._sizes, entry._scalars
        self._tensors, self._tiles = entry._tensors, entry._tiles
        numbers = [k for k in entry._known if k[1] in ("tile", "at") and (k[1], k[0]) not in lanes]
        self._known = {k: entry._known[k] for k in numbers}
        self.constants = Writer(1)  # the lines that define layouts, before all others
        self.before, self.behind = Writer(1), Writer(1)  # all tiles of a persistent program
        self.layout_names: dict[str, str] = {}
        self.stretch: Stretch | None = None
        self.iteration = ""

    # Positions.

    def first(self, axis: str) -> str | None:
        """The first position of the tile in hand."""
        if axis == self.entry.rows:
            tile = self._known[axis, "tile"]
            text = f"({tile} * {CONSUMERS} + {self.which}) * {self.tile(axis)}"
            return self._make(axis, "first", text) if self.which == CONSUMER else text
        if self.bodies and axis == self.bodies[-1].axis:
            return self._walked(axis)
        return super().first(axis)

    def _walked(self, axis: str) -> str:
        """The first position of the tile of the walk in hand, printed when first asked for."""
        body, stretch = self.bodies[-1], self.stretch
        assert stretch is not None
        if (axis, "first") not in body.names:
            step, tile, begin = stretch.step(self.iteration), self.tile(axis), stretch.begin
            text = plus(begin, times(step, tile))
            if text == "0" and stretch.jump is None:
                return "0"
            name = self.names.fresh(f"{self.stem(axis)}_first")
            if stretch.jump is not None:
                at, by = stretch.jump
                start = self.names.fresh(f"{self.stem(axis)}_from")
                body.lines.line(f"{start} = {text}")
                text = f"gl.where({start} < {at}, {start}, {start} + {by})"
            body.lines.line(f"{name} = {text}")
            body.names[axis, "first"] = name
        return body.names[axis, "first"]

    def lane(self, axis: str) -> str:
        """0 .. tile - 1 of a tiled axis, as part of the tile that decides how it lies."""
        layout = self.layout((axis,))
        text = f"gl.arange(0, {self.tile(axis)}, layout={layout})"
        return self._make(axis, "lane", text, invariant=True)

    def _make(self, axis: str, what: str, text: str, invariant: bool = False) -> str:
        depth = 0 if invariant else self.depth(axis)
        if not depth:
            return super()._make(axis, what, text, invariant)
        # Several iterations are in hand in one step, so each has names of its own.
        body = self.bodies[depth - 1]
        if (axis, what) not in body.names:
            body.names[axis, what] = self.names.fresh(f"{self.stem(axis)}_{what}")
            body.lines.line(f"{body.names[axis, what]} = {text}")
        return body.names[axis, what]

    def stand(self, body: Body | None, stretch: Stretch | None = None, iteration: str = "") -> None:
        """Goes into an iteration of a stretch (None: outside of walks). One may come back to it."""
        self.bodies = [] if body is None else [body]
        self.stretch, self.iteration = stretch, iteration

    # Layouts.

    def layout(self, dims: tuple[str, ...]) -> str:
        """The constexpr that says how a value with ``dims`` lies."""
        if len(dims) == 1 and not self.layouts.has(dims[0]):
            return self.constant(f"LAYOUT_{self.stem(dims[0]).upper()}", LANES)
        parent = self.layouts.parent(dims)
        if dims == parent:
            return self._tile_layout(parent)
        (axis,) = dims
        return self.part(axis, parent)

    def part(self, axis: str, parent: tuple[str, str]) -> str:
        """How one row or column of the tile ``parent`` lies, along ``axis``."""
        across = 1 - parent.index(axis)
        wish = "_".join(["LAYOUT", self.stem(axis).upper(), "OF", *self._stem_of(parent)])
        text = f"gl.SliceLayout({across}, {self._tile_layout(parent)})"
        return self.constant(wish, text)

    def operand(self, parent: tuple[str, str]) -> str:
        """How the left operand of a product with the result ``parent`` lies in registers."""
        text = (
            f"gl.DotOperandLayout(operand_index=0, parent={self._tile_layout(parent)}, k_width=2)"
        )
        return self.constant("_".join(["OPERAND", *self._stem_of(parent)]), text)

    def _tile_layout(self, parent: tuple[str, str]) -> str:
        text = (
            "gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], "
            f"instr_shape=[16, {self.tile(parent[1])}, 16])"
        )
        return self.constant("_".join(["LAYOUT", *self._stem_of(parent)]), text)

    def _stem_of(self, parent: tuple[str, str]) -> list[str]:
        return [self.stem(a).upper() for a in parent]

    def constant(self, wish: str, text: str) -> str:
        """A constexpr of the role with this value, printed once."""
        if wish not in self.layout_names:
            self.layout_names[wish] = self.names.fresh(wish)
            self.constants.line(f"{self.layout_names[wish]}: gl.constexpr = {text}")
        return self.layout_names[wish]

    def along(self, value: Value, dims: tuple[str, ...]) -> str:
        """``value`` as an operand beside values with ``dims``, lying as they do."""
        if not value.dims or value.dims == dims:
            return value.operand
        (axis,) = value.dims
        where = ", ".join(":" if d == axis else "None" for d in dims)
        return f"{self.turned(value, self.layouts.parent(dims))}[{where}]"

    def turned(self, value: Value, parent: tuple[str, str]) -> str:
        """A value along one axis, lying as a slice of ``parent``."""
        (axis,) = value.dims
        if self.layouts.slice_of(axis, parent):
            return value.operand
        free = ", assert_trivial=True" if self.layouts.free(axis, parent) else ""
        return f"gl.convert_layout({value.text}, {self.part(axis, parent)}{free})"


def plus(a: str, b: str) -> str:
    """The sum of two texts."""
    if "0" in (a, b):
        return b if a == "0" else a
    return f"{a} + {b}"


def times(a: str, b: str) -> str:
    """The product of two texts."""
    if "0" in (a, b):
        return "0"
    if a == "1":
        return b
    return f"({a}) * {b}" if " " in a else f"{a} * {b}"
