"""The levels: what a spec means, which kernels compute it, and where each axis goes in one.

The same nodes live at every level. A ``Program`` is the algebra of a spec. A ``KernelGraph``
says which values are written to device memory, hence the list of kernels. A ``BlockGraph``
(one kernel) says where every axis goes and what is carried around its walks.

Meaning of a block graph: its sequential walk. For every program (a choice of a tile of each
``Grid`` axis) the walks run one after another. A walk takes its axis tile by tile, in order
(clear tiles before the others). For each tile its inner walks run, each from the start to the
end, with that tile's positions; then every carry is updated, in list order, by
``Carry.update``; then the walk's stores are written for that tile. After the last walk the
block's own stores are written.
A scan along the walked axis goes on, in each tile, from the old state of the carry that folds
its term (``scans.py``), and so does a recurrence from that of the carry whose term it is.
(Tiles of ``Grid`` axes never change a value, except through limits of walks.)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256

from superopt.ugraph.carry import Carry
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Fn


@dataclass(frozen=True)
class Grid:
    """One program per tile of the axis; ``tiled=False``: one program per position, and the
    axis has no tile dimension in the program."""

    tiled: bool = True


@dataclass(frozen=True)
class Loop:
    """Walked in order, tile by tile, by every program; ``tiled=False``: position by position, and
    the axis has no tile dimension in the program."""

    tiled: bool = True


@dataclass(frozen=True)
class Split:
    """Cut into contiguous parts that different programs walk; the states of the parts are
    combined in ascending order by a second kernel (``split.launches``)."""


@dataclass(frozen=True)
class Whole:
    """Kept entirely in the tile."""


@dataclass(frozen=True)
class Pack:
    """Shares the tile dimension of the tiled grid axis ``into``, whose tile then counts joint
    positions: those of this axis lie inside each one of ``into`` (``pack.py``).

    It changes no value; a small axis beside another one fills the rows of a matrix instruction.
    """

    into: str


Place = Grid | Loop | Split | Whole | Pack


@dataclass(frozen=True)
class Store:
    """A value written to device memory as tensor ``name`` with memory order ``order``.

    ``dtype`` None means the dtype of the case. A later kernel reads it as
    ``Input(name, order, dtype)``.
    """

    name: str
    order: tuple[str, ...]
    dtype: str | None
    value: Node

    def as_input(self) -> Input:
        """What a later kernel reads."""
        return Input(self.name, self.order, self.dtype)


@dataclass(frozen=True)
class Program:
    """The algebra of a spec: parameters in signature order, outputs in result order.

    ``fixed``: axes that no parameter has, with the size that the spec gives them. The algebra
    holds for any size; a launcher knows no other.
    """

    name: str
    params: tuple[Input | Scalar, ...]
    outputs: tuple[Store, ...]
    fixed: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Bound:
    """A limit of a walk: ``sum(coefficient * position of axis) + offset``.

    ``offset`` is an integer node over grid axes and whole axes (a length for each ``b``). For a
    program, the widest value over its tile counts: as a ``stop`` (exclusive) the largest, as a
    ``start`` the smallest.
    """

    terms: tuple[tuple[str, int], ...]
    offset: Node

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes on whose positions the limit depends."""
        return tuple(dict.fromkeys([*(a for a, _ in self.terms), *self.offset.axes]))

    @property
    def value(self) -> Node:
        """The limit as a node."""
        found = self.offset
        for axis, coefficient in reversed(self.terms):
            position: Node = Index(axis)
            if coefficient != 1:
                position = Map(Fn.MUL, (Const(Fraction(coefficient)), position))
            found = Map(Fn.ADD, (position, found))
        return found


@dataclass(frozen=True)
class Clear:
    """Where masks of a walk hide nothing: ``conditions`` are true there at every position.

    Of a tile that lies, entirely, within the range of its walk (and part) and within these
    limits, the conditions are not asked: terms and stores have ``true`` in their place
    (``masks.unmasked``), and all of the tile's lanes exist. Over a program's tile the narrowest
    value of a limit counts: as a ``stop`` the smallest, as a ``start`` the largest.
    """

    conditions: tuple[Node, ...] = ()
    start: tuple[Bound, ...] = ()
    stop: tuple[Bound, ...] = ()


@dataclass(frozen=True)
class Walk:
    """One pass over an axis: ``max(0, start...) <= position < min(size, stop...)``.

    Positions outside the bounds contribute the unit to every carry and are in no store of
    the walk (``ranges.py`` proves this). ``clear`` None: every tile is treated alike,
    else the clear tiles come before the others. ``reverse``: the last of all tiles comes first.
    ``inner``: walks of other axes that begin anew for every tile. Their carries are kept over
    ``axis``, too, and final once they have run, so that what this walk makes of them reads
    values of its tile like any other.
    """

    axis: str
    carries: tuple[Carry, ...]
    stores: tuple[Store, ...] = ()
    start: tuple[Bound, ...] = ()
    stop: tuple[Bound, ...] = ()
    reverse: bool = False
    clear: Clear | None = None
    inner: tuple[Walk, ...] = ()

    @property
    def limits(self) -> tuple[Bound, ...]:
        """All limits: of the range, and of where masks hide nothing."""
        clear = () if self.clear is None else (*self.clear.start, *self.clear.stop)
        return (*self.start, *self.stop, *clear)

    @property
    def components(self) -> dict[str, Carry]:
        """The carries by name."""
        return {c.name: c for c in self.carries}

    @property
    def nest(self) -> tuple[Walk, ...]:
        """All walks in here, this one last."""
        return (*(w for one in self.inner for w in one.nest), self)

    def roots(self) -> list[Node]:
        """Every expression of the walk, in the order in which it is evaluated."""
        found = [b.offset for b in self.limits]
        found += self.clear.conditions if self.clear else ()
        for walk in self.inner:
            found += walk.roots()
        for carry in self.carries:
            found.append(carry.term)
            found += [m.factor for m in carry.moves]
        return found + [s.value for s in self.stores]


@dataclass(frozen=True)
class Turn:
    """How programs are numbered along one grid axis (``reverse``: last tile first)."""

    axis: str
    reverse: bool = False


@dataclass(frozen=True)
class BlockGraph:
    """One kernel.

    ``places``: every axis of every node, each once; the order is the order of tile
    dimensions in the printed text. ``order``: the grid axes, slowest first. At most one axis
    is ``Split``, and then it has exactly one walk and no store inside it.
    """

    places: tuple[tuple[str, Place], ...]
    walks: tuple[Walk, ...]
    stores: tuple[Store, ...]
    order: tuple[Turn, ...] = ()

    @property
    def place(self) -> dict[str, Place]:
        """Placement by axis."""
        return dict(self.places)

    @property
    def nest(self) -> tuple[Walk, ...]:
        """Every walk of the kernel, inner ones before those that they are in."""
        return tuple(w for one in self.walks for w in one.nest)

    @property
    def all_stores(self) -> tuple[Store, ...]:
        """Every store of the kernel, those of walks first."""
        return (*(s for w in self.nest for s in w.stores), *self.stores)

    def roots(self) -> list[Node]:
        """Every expression of the kernel, in the order in which it is evaluated."""
        found = [root for walk in self.walks for root in walk.roots()]
        return found + [s.value for s in self.stores]


@dataclass(frozen=True)
class KernelGraph:
    """Kernels in launch order. ``outputs`` names the stores that the caller receives; the
    other stores are intermediates, read by later kernels as ``Input``. ``fixed``: the program's."""

    name: str
    params: tuple[Input | Scalar, ...]
    outputs: tuple[str, ...]
    kernels: tuple[BlockGraph, ...]
    fixed: tuple[tuple[str, int], ...] = ()


PERSISTENT = "persistent"  # in a kind, before the number
PINGPONG = "pingpong"  # in a kind


@dataclass(frozen=True)
class Config:
    """Numbers that bind one launch; outside a graph's digest, constexpr in printed text.

    ``tiles``: positions per tile (a power of two) of every axis that is a tile dimension:
    tiled ``Grid`` (joint positions, where others are packed into it) or ``Loop``, ``Split``,
    ``Whole``. ``parts``: programs along a ``Split`` axis.
    ``descriptors``: tiles of matrix operands come through tensor descriptors, not pointers, where
    there are such tiles (``described.py``). ``group``: programs of two tiled grid axes that are
    neighbours in the order are numbered in groups of so many tiles of the slower one by all of the
    faster one, so that those that run at once share operands in the L2; 1 is plain order.
    ``dependent``: the launch may begin before the one before it in its graph has ended, and waits
    for that end itself (programmatic dependent launch); never of a graph's first launch.
    ``consumers``: warpgroups that split the rows of a program's products, beside one warp that
    copies (``threads.ThreadGraph``); the tile of those rows is one consumer's, and ``stages`` are
    the slots of each ring. 0: the compiler decides what each thread does. ``ring``, ``joined``: of
    the ``ThreadGraph``; ``schedule``: its schedule (``threads.written``) if one was searched.
    ``persistent``: each program takes several tiles of the grid, one after the other, with so many
    slots for what is copied once a tile; 0: a program for each tile. ``each``: so many tiles at
    most, and the device deals the programs out; 0: at most a program for each multiprocessor.
    ``pingpong``: consumers take the tiles of a persistent program in turn, and none splits one.
    """

    tiles: tuple[tuple[str, int], ...]
    parts: int = 1
    warps: int = 4
    stages: int = 2
    descriptors: bool = False
    group: int = 1
    dependent: bool = False
    consumers: int = 0
    ring: bool = False
    joined: bool = False
    schedule: str = ""
    persistent: int = 0
    each: int = 0
    pingpong: bool = False

    @property
    def kind(self) -> str:
        """What tells kernels with roles of as many consumers apart, as part of a name."""
        when = f"s{sha256(self.schedule.encode()).hexdigest()[:6]}" * bool(self.schedule)
        more = f"{PERSISTENT}{self.persistent}" * bool(self.persistent)
        more += f"_each{self.each}" * bool(self.each) + f"_{PINGPONG}" * self.pingpong
        return "_".join(filter(None, ["ring" * self.ring, "joined" * self.joined, more, when]))

    @property
    def tile(self) -> dict[str, int]:
        """Tile by axis."""
        return dict(self.tiles)

    @property
    def sharers(self) -> int:
        """How many consumers split the rows of one tile of the grid (1 without roles)."""
        return 1 if self.pingpong else max(1, self.consumers)


def pingpong_of(kind: str) -> bool:
    """``Config.pingpong`` of the Configs of this ``kind``."""
    return PINGPONG in kind.split("_")


def persistent_of(kind: str) -> int:
    """``Config.persistent`` of the Configs of this ``kind``."""
    words = (w for w in kind.split("_") if w.startswith(PERSISTENT))
    return int(next(words, PERSISTENT + "0").removeprefix(PERSISTENT))
