"""Memory of a reading: tensors in buffers, and who read and wrote each element.

Bounds, reads of what was never written, and programs of one launch that meet are faults.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from typing import Any

import numpy as np

from superopt.ugraph.domain import Domain
from superopt.verify.source.cells import Plain
from superopt.verify.source.cells import lifted
from superopt.verify.source.cells import taken
from superopt.verify.source.cells import undefined
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.tiles import BOOL
from superopt.verify.source.tiles import DType
from superopt.verify.source.tiles import Tile
from superopt.verify.source.tiles import as_tile
from superopt.verify.source.tiles import shapes_together

NOBODY, SEVERAL = -1, -2
UNKNOWN = object()  # what a masked load without `other` gives


@dataclass
class Clock:
    """Which launch and which of its programs is being executed (-1: the caller).

    ``early``: whether the launch may begin before the one before it ends (programmatic dependent
    launch); ``running``: launches that may then still be at work, until the program waits;
    ``behind``: those that may be even after that, because the one before did not wait.
    ``capable``: whether the device has such launches.
    """

    launch: int = -1
    program: int = -1
    kernel: str = ""
    running: frozenset[int] = frozenset()
    behind: frozenset[int] = frozenset()
    early: frozenset[int] = frozenset()
    all_waited: bool = True
    capable: bool = True

    def begin(self, kernel: str, early: bool) -> None:
        """The next launch; ``early``: with programmatic dependent launch."""
        if early:
            self._needs(f"{kernel} may begin early")
        before = frozenset({self.launch})
        self.behind = frozenset() if self.all_waited or not early else self.early
        self.early = before | self.behind if early else frozenset()
        self.launch += 1
        self.kernel, self.all_waited = kernel, True

    def enter(self, program: int) -> None:
        """The next program of the launch."""
        self.program, self.running = program, self.early

    def wait(self) -> None:
        """``gdc_wait``: the launch before has ended, and its memory can be seen."""
        self._needs("gdc_wait")
        self.running = self.behind

    def lead(self) -> None:
        """``gdc_launch_dependents``: that later launches may begin says nothing about this one."""
        self._needs("gdc_launch_dependents")

    def leave(self) -> None:
        """The program ends."""
        self.all_waited &= self.running == self.behind
        self.program = -1

    def _needs(self, what: str) -> None:
        if not self.capable:
            raise FaultError(f"{what} on a device that has no dependent launches")


@dataclass(eq=False)
class Buffer:
    """The elements of one tensor, and the gaps between its rows.

    ``places``: the offset of every element from the first one, in elements. ``origin``: by
    offset, which of the values stored so far lies there (-1: none).
    """

    name: str
    cells: Domain[Any]
    dtype: DType
    places: Plain
    clock: Clock
    pieces: list[Tile] = field(default_factory=list)
    _joined: dict[object, Tile] = field(default_factory=dict)
    _count: int = 0

    def __post_init__(self) -> None:
        length = int(self.places.max(initial=-1)) + 1
        self.exists = np.zeros(length, np.bool_)
        self.exists[self.places.ravel()] = True
        self.origin = np.full(length, -1, np.int64)
        self.writer = np.full((2, length), NOBODY, np.int64)  # launch, program
        self.reader = np.full((2, length), NOBODY, np.int64)

    def fill(self, value: Tile) -> None:
        """Gives every element a value, as the caller does."""
        self.origin[self.places.ravel()] = np.arange(self.places.size)
        self._add(value.reshape((self.places.size,)))

    def whole(self) -> Tile:
        """All elements in the order of the axes. Raises FaultError if one was never written."""
        lost = self.origin[self.places] < 0
        if lost.any():
            where = [int(i) for i in np.argwhere(lost)[0]]
            raise FaultError(f"{self.name}{where} is never written")
        if not self.places.size:
            one: Plain = np.zeros(1, np.bool_ if self.dtype is BOOL else np.int64)
            nothing = taken(self.cells, lifted(self.cells, one), self.places)
            return Tile(self.cells, self.dtype, None, nothing)
        return self._gathered(self.origin[self.places], None)

    def load(self, offsets: Plain, mask: Plain | None, other: Any) -> Tile:
        """What a masked load gives."""
        active = np.ones(offsets.shape, np.bool_) if mask is None else mask
        at = offsets[active]
        self._bounds(at, "read")
        clock = self.clock
        if (self.origin[at] < 0).any():
            raise self._fault("reads {} before anything was written there", at, self.origin[at] < 0)
        self._awaited("reads", at, self.writer)
        launch, program = self.writer[:, at]
        if (meets := (launch == clock.launch) & (program != clock.program)).any():
            raise self._fault("reads {}, which another program of the launch writes", at, meets)
        launch, program = self.reader[:, at]
        other_one = (launch == clock.launch) & (program != clock.program)
        self.reader[0, at] = clock.launch
        self.reader[1, at] = np.where(other_one, SEVERAL, clock.program)
        places = np.full(offsets.shape, -1)
        places[active] = self.origin[at]
        if active.all():
            return self._gathered(places, None)
        return self._gathered(places, UNKNOWN if other is None else other)

    def store(self, offsets: Plain, value: Tile, mask: Plain | None) -> None:
        """A masked store."""
        active = np.ones(offsets.shape, np.bool_) if mask is None else mask
        at = offsets[active]
        if not at.size:
            return
        self._bounds(at, "write")
        if len(np.unique(at)) != at.size:
            ordered = np.sort(at)
            twice = ordered[1:][ordered[1:] == ordered[:-1]]
            raise self._fault("writes {} twice in one store", twice, twice >= 0)
        clock = self.clock
        for who, what in ((self.writer, "writes"), (self.reader, "reads")):
            self._awaited("writes", at, who)
            launch, program = who[:, at]
            if (meets := (launch == clock.launch) & (program != clock.program)).any():
                text = f"writes {{}}, which another program of the launch {what}"
                raise self._fault(text, at, meets)
        self.writer[:, at] = np.array([[clock.launch], [clock.program]])
        flat = value.reshape((offsets.size,))
        index = np.flatnonzero(active.ravel())
        if flat.plain is not None:
            flat = Tile(flat.cells, flat.dtype, flat.plain[index])
        else:
            flat = Tile(flat.cells, flat.dtype, None, taken(flat.cells, flat.data, index))
        self.origin[at] = self._count + np.arange(at.size)
        self._add(flat)

    def _add(self, flat: Tile) -> None:
        self.pieces.append(flat)
        self._count += flat.shape[0]
        self._joined.clear()

    def _gathered(self, places: Plain, other: Any) -> Tile:
        """Values by number; -1 stands for ``other``."""
        key = _key(other)
        if key not in self._joined:
            self._joined[key] = self._together(other)
        joined = self._joined[key]
        if joined.plain is not None:
            return Tile(self.cells, self.dtype, joined.plain[places])
        last = self._count
        index = np.where(places < 0, last, places)
        return Tile(self.cells, self.dtype, None, taken(self.cells, joined.data, index))

    def _together(self, other: Any) -> Tile:
        parts = list(self.pieces)
        if other is UNKNOWN:
            if not self.dtype.is_floating_point:
                raise OutsideVocabularyError("a masked load of whole numbers without `other`")
            data = self.cells.reshape(undefined(self.cells), (1,))
            parts.append(Tile(self.cells, self.dtype, None, data))
        elif other is not None:
            tile = as_tile(self.cells, other)
            if self.dtype is BOOL and tile.plain is not None:
                tile = Tile(self.cells, BOOL, tile.plain != 0)
            parts.append(tile.reshape((1,)))
        if all(p.plain is not None for p in parts) and not self.dtype.is_floating_point:
            plain = [p.plain for p in parts if p.plain is not None]
            return Tile(self.cells, self.dtype, np.concatenate(plain))
        whole = self.cells.join([p.lifted() for p in parts], 0)
        return Tile(self.cells, self.dtype, None, whole)

    def _bounds(self, at: Plain, what: str) -> None:
        bad = (at < 0) | (at >= self.exists.size)
        bad = bad | ~self.exists[np.where(bad, 0, at)] if self.exists.size else np.ones_like(bad)
        if bad.any():
            raise self._fault(f"{what}s {{}}, outside of the tensor", at, bad)

    def _awaited(self, what: str, at: Plain, who: Plain) -> None:
        """Whether launches that met these elements have ended."""
        if not self.clock.running:
            return
        met = np.isin(who[0, at], sorted(self.clock.running))
        if met.any():
            text = f"{what} {{}} before it waits for the launch that used it"
            raise self._fault(text, at, met)

    def _fault(self, text: str, at: Plain, wrong: Plain) -> FaultError:
        offset = int(at[wrong][0])
        where = np.argwhere(self.places == offset)
        element = f"{self.name}{[int(i) for i in where[0]]}" if where.size else ""
        said = text.format(element or f"{self.name} at offset {offset}")
        return FaultError(f"{self.clock.kernel} {said}")


def _key(other: Any) -> object:
    """What identifies the ``other`` of a load."""
    if other is None or other is UNKNOWN or isinstance(other, int):
        return other
    if not hasattr(other, "exact"):
        raise OutsideVocabularyError("an `other` that is no number of the text")
    return other.approximate, other.exact


@dataclass(frozen=True, eq=False)
class Pointer:
    """Addresses of elements of one buffer."""

    buffer: Buffer
    offsets: Plain

    @property
    def dtype(self) -> PointerType:
        """The type of a pointer, which knows that of its elements."""
        return PointerType(self.buffer.dtype)

    def __add__(self, other: Any) -> Pointer:
        tile = as_tile(self.buffer.cells, other)
        if tile.plain is None or tile.dtype is BOOL:
            raise OutsideVocabularyError("an address that depends on data of floats")
        shapes_together(self.offsets.shape, tile.shape)
        return Pointer(self.buffer, np.asarray(self.offsets + tile.plain))

    __radd__ = __add__


@dataclass(frozen=True)
class PointerType:
    """The type of addresses of elements."""

    element_ty: DType
