"""Where a printed program stands: names, parameters, program ids, lanes and masks.

A tiled axis ``m`` has, as far as they are used: ``m_first`` (its tile's first position),
``m_lane`` (0 .. tile - 1), ``m_at`` (the positions) and ``m_in`` (which of them exist). An
axis without tile has its position ``m_at`` alone. Names are made on first use.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from dataclasses import field

from superopt.emit.dialect import Dialect
from superopt.emit.kernel import ScalarArgument
from superopt.emit.kernel import TensorArgument
from superopt.emit.kernel import TileArgument
from superopt.emit.names import Namer
from superopt.emit.value import Value
from superopt.emit.writer import Writer
from superopt.errors import NotEmittable
from superopt.ugraph.contraction import LEAST
from superopt.ugraph.contraction import matrix_axes
from superopt.ugraph.contraction import tile_axes
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Node
from superopt.ugraph.numbering import grouped
from superopt.ugraph.pack import dimensions_of
from superopt.ugraph.pack import guests
from superopt.ugraph.pack import hosts
from superopt.ugraph.scalar import Kind


@dataclass
class Body:
    """The body of a loop: the axis that it walks, its lines, whether all its lanes exist, and the
    names of what it has of its tile."""

    axis: str
    lines: Writer
    clear: bool
    names: dict[tuple[str, str], str] = field(default_factory=dict)


class Frame:
    """The surroundings of one kernel's expressions; ``lines`` is the code outside of walks.

    ``described``: tensors that are passed as tensor descriptors.
    """

    def __init__(
        self,
        block: BlockGraph,
        described: Collection[str] = (),
        dialect: Dialect = Dialect.TRITON,
    ) -> None:
        self.block = block
        self.dialect = dialect
        self._described = frozenset(described)
        self.places: dict[str, Place] = block.place
        self.order = tile_axes(block)
        self.walks = frozenset(w.axis for w in block.nest)  # the axes that are walked
        self.names = Namer()
        self.lines = Writer(1)
        self.bodies: list[Body] = []  # of the walks in hand, the innermost last
        self.helpers: dict[str, None] = {}
        self.precise = False
        self.grouped = grouped(block) or ()
        self.host = hosts(block.places)
        self.guests = {a: guests(a, block.places) for a in self.order}
        self._stems: dict[str, str] = {}
        self._known: dict[tuple[str, str], str] = {}
        self._limits: dict[str, tuple[str, str]] = {}  # by axis: first position that is, and end
        self._names_of: dict[tuple[str, str], str] = {}
        self._sizes: dict[str, str] = {}
        self._scalars: dict[tuple[Node, str], ScalarArgument] = {}
        self._tensors: dict[str, TensorArgument] = {}
        self._tiles: dict[str, TileArgument] = {}
        matrix = matrix_axes(block)
        for axis in self.order:
            stem = self.stem(axis)
            self._tiles[axis] = TileArgument(
                axis,
                self.names.fresh(f"TILE_{stem.upper()}"),
                self.names.fresh(f"EVEN_{stem.upper()}"),
                LEAST if axis in matrix else 1,
                isinstance(self.places[axis], Whole),
                self.guests[axis],
            )

    @property
    def here(self) -> Writer:
        """The lines in which the program stands: of the innermost body, or outside of walks."""
        return self.at_depth(len(self.bodies))

    @property
    def walked(self) -> str | None:
        """The axis of the innermost walk in hand."""
        return self.bodies[-1].axis if self.bodies else None

    def at_depth(self, depth: int) -> Writer:
        """The lines inside so many walks."""
        return self.bodies[depth - 1].lines if depth else self.lines

    def depth(self, axis: str) -> int:
        """Inside how many walks ``axis`` has its tile: 0 if none of those in hand is of it."""
        return next((i for i, b in enumerate(self.bodies, 1) if b.axis == axis), 0)

    # Parameters, in the order in which the kernel takes them.

    @property
    def tensors(self) -> tuple[TensorArgument, ...]:
        """Those that are read, then those that are written, each by first use."""
        reads = [t for t in self._tensors.values() if not t.written]
        return (*reads, *(t for t in self._tensors.values() if t.written))

    @property
    def sizes(self) -> tuple[tuple[str, str], ...]:
        """(axis, parameter) in the order of places, then axes that have no place here."""
        placed = [a for a in self.places if a in self._sizes]
        other = [a for a in self._sizes if a not in self.places]
        return tuple((a, self._sizes[a]) for a in (*placed, *other))

    @property
    def scalars(self) -> tuple[ScalarArgument, ...]:
        """By first use."""
        return tuple(self._scalars.values())

    @property
    def tiles(self) -> tuple[TileArgument, ...]:
        """In the order of tile dimensions."""
        return tuple(self._tiles.values())

    def stem(self, axis: str) -> str:
        """The part of an identifier that stands for ``axis``."""
        if axis not in self._stems:
            base = "".join(c if c.isalnum() else "_" for c in axis)
            taken = {s.upper() for s in self._stems.values()}
            while base.upper() in taken:
                base += "_"
            self._stems[axis] = base
        return self._stems[axis]

    def size(self, axis: str) -> str:
        """The parameter that holds the number of positions on ``axis``."""
        if axis not in self._sizes:
            self._sizes[axis] = self.names.fresh(f"{self.stem(axis)}_size")
        return self._sizes[axis]

    def extent(self, axis: str) -> str:
        """The number of positions that tiles of ``axis`` are cut from: joint ones."""
        return " * ".join(self.size(a) for a in (axis, *self.guests.get(axis, ())))

    def scalar(self, node: Node, type_: str, wish: str) -> str:
        """The parameter that holds ``node``, which the launcher computes."""
        if (node, type_) not in self._scalars:
            self._scalars[node, type_] = ScalarArgument(self.names.fresh(wish), type_, node)
        return self._scalars[node, type_].parameter

    def tensor(
        self, name: str, order: tuple[str, ...], dtype: str | None, written: bool
    ) -> TensorArgument:
        """The parameters of a tensor. Raises NotEmittable if it is both read and written."""
        if name in self._tensors:
            if self._tensors[name].written != written:
                raise NotEmittable(f"one kernel reads and writes tensor {name!r}")
            return self._tensors[name]
        if name in self._described:
            described = self.names.fresh(f"{name}_desc")
            self._tensors[name] = TensorArgument(name, described, order, dtype, (), written, True)
            return self._tensors[name]
        pointer = self.names.fresh(f"{name}_ptr")
        strides = tuple((a, self.names.fresh(f"{name}_stride_{self.stem(a)}")) for a in order[:-1])
        self._tensors[name] = TensorArgument(name, pointer, order, dtype, strides, written)
        return self._tensors[name]

    def case_dtype(self) -> str:
        """Text of the dtype of the case, as some tensor of this kernel has it."""
        for tensor in self.tensors:
            if tensor.dtype is None:
                return f"{tensor.pointer}.dtype" + ("" if tensor.described else ".element_ty")
        return "tl.float32"

    def tile(self, axis: str) -> str:
        """The constexpr that holds the tile of ``axis``."""
        return self._tiles[axis].tile

    # Positions.

    def programs(self) -> None:
        """Prints which tile of each grid axis this program has; the last in order is fastest."""
        turns = self.block.order
        grid = [a for a, p in self.places.items() if isinstance(p, Grid)]
        if sorted(t.axis for t in turns) != sorted(grid):
            raise NotEmittable("the order of programs does not name every grid axis once")
        if turns:
            self.lines.line(f"pid = {self.program()}")
        named: dict[str, tuple[str, str]] = {}  # number of the program, and of all of them
        for count, turn in enumerate(reversed(turns)):
            axis, last = turn.axis, count == len(turns) - 1
            tiled, paired = self.places[axis] == Grid(), axis in self.grouped
            name = self.names.fresh(f"{self.stem(axis)}_{'tile' if tiled else 'at'}")
            self._known[axis, "tile" if tiled else "at"] = name
            number = self.size(axis)
            if tiled and (paired or turn.reverse or not last):
                number = self.names.fresh(f"{self.stem(axis)}_tiles")
                self.lines.line(f"{number} = tl.cdiv({self.extent(axis)}, {self.tile(axis)})")
            named[axis] = name, number
            text = "pid" if last else f"pid % {number}"
            turned = turn.reverse and not paired
            self.lines.line(f"{name} = {number} - 1 - {text}" if turned else f"{name} = {text}")
            if not last:
                self.lines.line(f"pid = pid // {number}")
            if self.grouped and axis == self.grouped[0]:
                self._group(named)

    def program(self) -> str:
        """The number of the program, or of what takes its place, in the order of the grid."""
        return "tl.program_id(0)"

    def _group(self, named: dict[str, tuple[str, str]]) -> None:
        """Prints how the tiles of two grid axes trade places within groups."""
        (row, rows), (column, columns) = (named[a] for a in self.grouped)
        numbers = f"{row}, {column}, {rows}, {columns}"
        self.lines.line(f"{row}, {column} = tl.swizzle2d({numbers}, GROUP)")
        for turn in self.block.order:
            if turn.reverse and turn.axis in self.grouped:
                name, number = named[turn.axis]
                self.lines.line(f"{name} = {number} - 1 - {name}")

    def dims(self, axes: Collection[str]) -> tuple[str, ...]:
        """The tile dimensions of a value that varies over ``axes``."""
        return dimensions_of(axes, self.order, self.host)

    def first(self, axis: str) -> str | None:
        """The first position of the tile in hand (a joint one); None is 0."""
        match self.places.get(axis):
            case Grid(tiled=True):
                return self._make(axis, "first", f"{self._known[axis, 'tile']} * {self.tile(axis)}")
            case Whole():
                return None
            case Loop() | Split() if depth := self.depth(axis):
                return self.bodies[depth - 1].names[axis, "first"]
            case _:
                raise NotEmittable(f"axis {axis!r} has no tile outside of its own walk")

    def begin(self, axis: str, first: str, clear: bool = False, deeper: int = 1) -> None:
        """Enters a loop of a walk; ``first`` is its variable. ``clear``: all lanes exist.
        ``deeper``: by how many levels its body is indented."""
        lines = Writer(self.here.depth + deeper)
        self.bodies.append(Body(axis, lines, clear, {(axis, "first"): first}))

    def end(self) -> Writer:
        """Leaves the innermost body, which is returned."""
        body = self.bodies.pop()
        self._limits.pop(body.axis, None)
        return body.lines

    def narrow(self, axis: str, low: str, end: str) -> None:
        """Only positions from ``low`` (empty: 0) and before ``end`` exist on ``axis``: of the walk
        in hand, or whole."""
        self._limits[axis] = low, end

    def limited(self, axis: str) -> bool:
        """Whether fewer positions of ``axis`` exist here than the tensors have."""
        return axis in self._limits

    def lane(self, axis: str) -> str:
        """0 .. tile - 1 of a tiled axis."""
        return self._make(axis, "lane", f"tl.arange(0, {self.tile(axis)})", invariant=True)

    def real_lane(self, axis: str) -> Value:
        """The lanes of a tiled axis as floats."""
        text = f"{self.lane(axis)}.to(tl.float32)"
        name = self._make(axis, "lane_real", text, invariant=True)
        return Value(name, (axis,), Kind.REAL)

    def at(self, axis: str) -> Value:
        """The positions of the tile in hand, or the one position of an axis without tile."""
        if axis not in self.places:
            raise NotEmittable(f"axis {axis!r} has no place in the kernel")
        if axis in self.host or self.guests.get(axis):
            return self._unpacked(axis)
        if axis not in self.order:
            if not isinstance(self.places[axis], Loop):
                return Value(self._known[axis, "at"], (), Kind.INT)
            # The interpreter counts in Python's numbers, which have none of a tensor's methods.
            text = f"tl.cast({self.first(axis)}, tl.int32)"
            return Value(self._make(axis, "at", text), (), Kind.INT)
        return self._lanes(axis, "at")

    def _lanes(self, axis: str, what: str) -> Value:
        """The positions of the tile in hand, joint ones where axes are packed into ``axis``."""
        first, lane = self.first(axis), self.lane(axis)
        text = lane if first is None else self._make(axis, what, f"{first} + {lane}")
        return Value(text, (axis,), Kind.INT)

    def _unpacked(self, axis: str) -> Value:
        """The positions of one of the axes that share a tile dimension."""
        into = self.host.get(axis, axis)
        inside = self.guests[into]
        joint = self._lanes(into, "joint").text
        if axis == into:
            return Value(self._make(axis, "at", self.alone(axis, joint)), (into,), Kind.INT)
        behind = inside[inside.index(axis) + 1 :]
        text = "".join([joint, *(f" // {self.size(a)}" for a in behind), f" % {self.size(axis)}"])
        return Value(self._make(axis, "at", text), (into,), Kind.INT)

    def alone(self, axis: str, joint: str) -> str:
        """The position of ``axis`` that is part of a joint one."""
        return "".join([joint, *(f" // {self.size(a)}" for a in self.guests[axis])])

    def inside(self, axis: str) -> Value:
        """Which lanes of a tiled axis are positions."""
        at = self._lanes(axis, "joint" if self.guests[axis] else "at").text
        text = f"({at} < {self.extent(axis)}) | {self._tiles[axis].even}"
        if axis in self._limits:
            low, end = self._limits[axis]
            text = f"({at} >= {low}) & ({at} < {end})" if low else f"{at} < {end}"
        return Value(self._make(axis, "in", text), (axis,), Kind.BOOL)

    def mask(self, dims: tuple[str, ...]) -> str:
        """Which elements of a tile with ``dims`` exist; empty if all of them do."""
        return " & ".join(self.along(self.inside(a), dims) for a in dims if not self.full(a))

    def full(self, axis: str) -> bool:
        """Whether all lanes of the tile in hand are positions, whatever its size."""
        return axis not in self.order or any(b.clear for b in self.bodies if b.axis == axis)

    def along(self, value: Value, dims: tuple[str, ...]) -> str:
        """``value`` as an operand beside values with ``dims``."""
        return value.along(dims)

    def even(self, axis: str) -> str:
        """The constexpr that says whether the tile of ``axis`` divides its size."""
        return self._tiles[axis].even

    def offset(self, tensor: TensorArgument, walked: bool) -> list[str]:
        """The terms of an address, in elements: those of the walk in hand, or all others.

        Strides are 64-bit parameters, so each product is widened before it is taken.
        """
        dims = self.dims(tensor.order)
        strides = dict(tensor.strides)
        starts: list[str] = []
        lanes: list[str] = []
        for axis in tensor.order:
            by = f" * {strides[axis]}" if axis in strides else ""
            if axis in self.host or self.guests.get(axis):
                if not walked:
                    lanes.append(self.along(self.at(axis), dims) + by)
                continue
            if axis not in dims:
                if (axis == self.walked) == walked:
                    at = self.first(axis) if self.depth(axis) else self.at(axis).text
                    starts.append(f"{at}{by}")
                continue
            if (axis == self.walked) == walked and (first := self.first(axis)) is not None:
                starts.append(first + by)
            if not walked:
                lanes.append(self.along(Value(self.lane(axis), (axis,), Kind.INT), dims) + by)
        return starts + lanes

    def _make(self, axis: str, what: str, text: str, invariant: bool = False) -> str:
        depth = 0 if invariant else self.depth(axis)
        known = self.bodies[depth - 1].names if depth else self._known
        lines = self.at_depth(depth)
        if (axis, what) not in known:
            # A second walk of the axis takes the names of the first again.
            if (axis, what) not in self._names_of:
                self._names_of[axis, what] = self.names.fresh(f"{self.stem(axis)}_{what}")
            known[axis, what] = self._names_of[axis, what]
            lines.line(f"{known[axis, what]} = {text}")
        return known[axis, what]
