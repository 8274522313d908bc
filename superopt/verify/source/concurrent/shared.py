"""Shared memory of one program: values, and which agents may meet at an element."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from superopt.verify.source.cells import Plain
from superopt.verify.source.cells import broadcast
from superopt.verify.source.cells import undefined
from superopt.verify.source.concurrent.clocks import Agent
from superopt.verify.source.concurrent.clocks import Moment
from superopt.verify.source.concurrent.run import Landing
from superopt.verify.source.concurrent.run import Run
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.memory import Buffer
from superopt.verify.source.tiles import DType
from superopt.verify.source.tiles import Tile


@dataclass(frozen=True)
class Access:
    """One use of elements. ``plain``: by the warps themselves, not by the copy engine or a matrix
    product; what they write, those see behind a fence only, and what they read, those may
    overwrite behind a fence only (PTX ISA, "async proxy")."""

    moment: Moment
    who: str
    places: Plain
    writes: bool
    plain: bool


class Allocation:
    """Tiles of one dtype; ``name`` is the variable that they were given to, where it is known."""

    def __init__(self, run: Run, name: str, dtype: DType, shape: tuple[int, ...]) -> None:
        self.run = run
        self.places = np.arange(int(np.prod(shape))).reshape(shape)
        self.buffer = Buffer(name, run.cells, dtype, self.places, run.clock)
        self.accesses: list[Access] = []

    def meet(self, agent: Agent, places: Plain, writes: bool, plain: bool) -> Moment:
        """``agent`` uses elements: a fault unless it knows of every use that it could disturb."""
        at = np.unique(places)
        word = "writes" if writes else "reads"
        kept = []
        for other in self.accesses:
            meets = (writes or other.writes) and _meet(at, other.places)
            if meets and not agent.knows(other.moment):
                verb = "write" if other.writes else "read"
                self.run.report(
                    f"{agent.name} {word} {self.said(at)} while {other.who} may still {verb} it"
                )
            if meets and other.plain and not plain:
                self._fenced(agent, other, at)
            if not writes or not np.isin(other.places, at).all():
                kept.append(other)
        access = Access(agent.step(), agent.name, at, writes, plain)
        self.accesses = [*kept, access]
        return access.moment

    def _fenced(self, agent: Agent, used: Access, at: Plain) -> None:
        """Whether a fence lies between what warps did themselves and the use by an engine."""
        for moment, knew in self.run.fences:
            behind = knew.get(used.moment.agent, 0) >= used.moment.time
            if behind and agent.knows(moment):
                return
        verb = "wrote" if used.writes else "read"
        self.run.report(
            f"{agent.name} uses {self.said(at)}, which {used.who} {verb}, without a fence"
        )

    def said(self, at: Plain) -> str:
        """Elements, by name."""
        first = int(at[0]) // max(1, self.places[0].size) if self.places.ndim else 0
        return f"{self.buffer.name}[{first}]"

    def lose(self, places: Plain) -> None:
        """What lies there is nothing until it is written again."""
        self.buffer.origin[places.ravel()] = -1


def _meet(a: Plain, b: Plain) -> bool:
    if a[0] > b[-1] or b[0] > a[-1]:
        return False
    return bool(np.isin(a, b, assume_unique=True).any())


@dataclass(frozen=True, eq=False)
class View:
    """Some elements of an allocation (``shared_memory_descriptor``), in a shape."""

    allocation: Allocation
    places: Plain

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return self.places.shape

    @property
    def dtype(self) -> DType:
        """That of the elements."""
        return self.allocation.buffer.dtype

    def index(self, at: Any) -> View:
        """One position of the first dimension."""
        number = int(at)
        if not 0 <= number < self.places.shape[0]:
            name = self.allocation.buffer.name
            raise FaultError(f"{name} has {self.places.shape[0]} tiles and none is number {number}")
        return View(self.allocation, self.places[number])

    def slice(self, start: Any, length: Any, dim: Any = 0) -> View:
        """Some positions of a dimension."""
        first, count, axis = int(start), int(length), int(dim)
        if not 0 <= first <= first + count <= self.places.shape[axis]:
            raise FaultError(f"a slice of {count} from {first} of a tile of shape {self.shape}")
        return View(self.allocation, self.places.take(range(first, first + count), axis))

    def permute(self, order: Any) -> View:
        """Permuted dimensions."""
        return View(self.allocation, self.places.transpose(tuple(map(int, order))))

    def reshape(self, shape: Any) -> View:
        """The same elements in row-major order."""
        wanted = tuple(map(int, shape))
        if int(np.prod(wanted)) != self.places.size:
            raise FaultError(f"a tile of shape {self.shape} cannot have shape {wanted}")
        return View(self.allocation, self.places.reshape(wanted))

    def load(self, layout: Any = None) -> Tile:
        """Read by the role that runs."""
        return self.read(self.allocation.run.role, plain=True)

    def store(self, value: Any) -> None:
        """Written by the role that runs."""
        if not isinstance(value, Tile) or value.shape != self.shape:
            raise FaultError(f"a tile of shape {self.shape} gets another one")
        if value.dtype is not self.dtype:
            raise FaultError(f"a tile of {self.dtype} gets {value.dtype}")
        self.write(self.allocation.run.role, value, plain=True)

    def read(self, agent: Agent, plain: bool) -> Tile:
        """What ``agent`` finds there."""
        home = self.allocation
        home.meet(agent, self.places, writes=False, plain=plain)
        if (home.buffer.origin[self.places] < 0).any():
            said = home.said(self.places.ravel())
            home.run.report(f"{agent.name} reads {said} before anything is there")
            cells = home.run.cells
            return Tile(cells, self.dtype, None, broadcast(cells, undefined(cells), self.shape))
        return home.buffer.load(self.places, None, None)

    def write(self, agent: Agent, value: Tile, plain: bool) -> None:
        """``agent`` puts a tile there."""
        self.allocation.meet(agent, self.places, writes=True, plain=plain)
        self.allocation.buffer.store(self.places, value, None)

    def copy_in(self, barrier: int, count: int, value: Tile) -> None:
        """The role that runs has ``count`` bytes copied here, which ``barrier`` counts."""
        home = self.allocation
        agent = home.run.issued(f"a copy to {home.buffer.name}")
        begun = home.meet(agent, self.places, writes=True, plain=False)
        home.lose(self.places)
        home.run.copy(Landing(agent, barrier, count, partial(self.landed, value)), begun)

    def landed(self, value: Tile) -> None:
        """A copy has put a tile here."""
        self.allocation.buffer.store(self.places, value, None)

    def __getattr__(self, name: str) -> Any:
        raise OutsideVocabularyError(f"{name} of a tile in shared memory")
