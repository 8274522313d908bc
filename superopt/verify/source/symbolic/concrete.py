"""Faults at given sizes: a text's integers executed program by program, data left aside.

This confirms what the symbolic reading cannot prove: loops run trip by trip, every lane has its
number, and elements are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from superopt.verify.source.load import KernelText
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.evaluate import NotConcrete
from superopt.verify.source.symbolic.evaluate import Numbers
from superopt.verify.source.symbolic.evaluate import number_of
from superopt.verify.source.symbolic.evaluate import truth_of
from superopt.verify.source.symbolic.formula import polys
from superopt.verify.source.symbolic.launcher import HostReader
from superopt.verify.source.symbolic.launcher import PlanText
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.runner import Launch
from superopt.verify.source.symbolic.runner import Runner
from superopt.verify.source.symbolic.tle import reader
from superopt.verify.source.symbolic.value import Access
from superopt.verify.source.symbolic.value import Step
from superopt.verify.source.symbolic.value import Tensor
from superopt.verify.source.symbolic.vocabulary import MOST_LANES

MOST_LAUNCHED = 2**31 - 1  # programs of a launch; CUDA refuses more
MOST_PROGRAMS = 512  # that are executed at one choice of sizes
MOST_ACCESSES = 2**12  # that they make, all together: some seconds
LARGEST = 2**40  # number that arrays are computed with
MOST_ELEMENTS = 2**24  # of a tensor whose elements are counted
Counts = dict[str, npt.NDArray[np.int32]]


@dataclass(frozen=True)
class Fault:
    """A claim that does not hold, at ``at`` (name, value)."""

    claim: str
    what: str
    at: tuple[tuple[str, str], ...]


def faults(
    text: KernelText, function: str, plan: PlanText, sizes: Mapping[str, int], data: int
) -> list[Fault]:
    """What goes wrong at these sizes (by axis), if every whole number in memory is ``data``.

    All programs are executed if they are few and short, else the first and the last one, for what
    they compute and not for what they store together.

    Raises:
        OutsideVocabularyError: the text, or its launcher, has a construct that is not known.
    """
    atoms = Atoms(None)
    host = HostReader(text, atoms, sizes).read(function)
    runner = Runner(text, host, plan.launches, concrete=True).read(plan.graph)
    found: list[Fault] = []
    for launch in runner.launches:
        found += _Run(text, launch, atoms, sizes, data).faults()
    return found


class _Run:
    """One launch at given sizes."""

    def __init__(
        self,
        text: KernelText,
        launch: Launch,
        atoms: Atoms,
        sizes: Mapping[str, int],
        data: int,
    ) -> None:
        self.text, self.launch, self.atoms, self.data = text, launch, atoms, data
        self.sizes = tuple((f"size of {a}", str(n)) for a, n in sizes.items())
        self.name = launch.function
        self.programs = launch.programs.constant or 0
        if self.programs > MOST_LAUNCHED:
            raise NotConcrete(f"{self.programs} programs")
        self.all = self.programs <= MOST_PROGRAMS
        self.done = 0  # accesses
        self.counts: Counts = {}
        self.tensors: dict[str, Tensor] = {}
        self.found: dict[str, Fault] = {}
        self.whole = True  # whether all stores could be counted

    def faults(self) -> list[Fault]:
        """One fault for each claim that fails."""
        if bool(truth_of(self.launch.asked, {}, self.atoms)) != (self.programs > 0):
            what = f"{self.programs} programs, launched or left out"
            self._report("launched where there are programs", what)
        for pid in self._executed():
            kernel = reader(self.text, self.name)(
                self.text,
                self.text.kernels[self.name],
                self.launch.arguments,
                self.atoms,
                number(pid),
                data=self.data,
                programs=self.launch.programs,
            ).read()
            self.done += len(kernel.accesses)
            for use in kernel.uses:
                for step in use.steps:
                    self._step(step, pid)
            for access in kernel.accesses:
                try:
                    self._access(access, pid)
                except NotConcrete:
                    self.whole &= not access.stores
        if self.all and self.whole:
            self._missed()
        return list(self.found.values())

    def _executed(self) -> Iterator[int]:
        """All programs, if they are few and the first one says that all are soon done; else the
        first and the last one."""
        if self.programs:
            yield 0
            self.all &= self.programs * self.done <= MOST_ACCESSES
            yield from range(1 if self.all else max(1, self.programs - 1), self.programs)

    def _report(self, claim: str, what: str, *at: tuple[str, str]) -> None:
        claim = f"{self.name}: {claim}"
        self.found.setdefault(claim, Fault(claim, what, (*self.sizes, *at)))

    def _step(self, step: Step, pid: int) -> None:
        """Whether a number fits, at the first and the last lane of each tile."""
        names = list(self._lanes(step.poly.atoms))
        half = 2 ** (step.bits - 1)
        for ends in product(*((0, self._extent(n) - 1) for n in names)):
            try:
                value = number_of(step.poly, dict(zip(names, ends, strict=True)), self.atoms)
            except NotConcrete:
                return
            if not -half <= value < half:
                what = f"line {step.line}: {value} does not fit {step.bits} bits"
                self._report("numbers fit their width", what, ("program", str(pid)))

    def _lanes(self, names: tuple[str, ...]) -> Iterator[str]:
        """The lanes that atoms are made of."""
        seen: dict[str, None] = {}
        open_ = list(names)
        while open_:
            name = open_.pop()
            if name in seen:
                continue
            seen[name] = None
            one = self.atoms.definitions[name]
            open_ += [a for p in one.args for a in p.atoms]
            if not one.args and one.upper:
                yield name

    def _extent(self, lane: str) -> int:
        return self.atoms.definitions[lane].upper[0].constant or 1

    def _access(self, access: Access, pid: int) -> None:
        tensor = access.tensor
        at: dict[str, Numbers] = {}
        shape = [1 if d is None else self._extent(d) for d in access.dims]
        if any(abs(c) > LARGEST for p in (access.offset, *polys(access.mask)) for _, c in p.terms):
            raise NotConcrete("a number that is too large for arrays")
        if prod(shape) > MOST_LANES:
            raise NotConcrete(f"a tile of {prod(shape)} elements")
        for place, lane in enumerate(access.dims):
            if lane is not None:
                along = [1] * len(shape)
                along[place] = -1
                at[lane] = np.arange(self._extent(lane), dtype=np.int64).reshape(along)
        offsets = np.broadcast_to(number_of(access.offset, at, self.atoms), shape)
        mask = np.broadcast_to(truth_of(access.mask, at, self.atoms), shape)
        taken = np.asarray(offsets[mask])
        wrong = ~_elements(tensor, taken)
        if wrong.any():
            offset = ("offset", str(int(taken[wrong][0])))
            what = f"line {access.line}: {access.word} what is no element of {tensor.name}"
            claim = f"{access.word} of {tensor.name} in bounds"
            self._report(claim, what, ("program", str(pid)), offset)
        if access.stores and self.all and self.whole:
            self._count(tensor, taken[~wrong], access, pid)

    def _count(
        self, tensor: Tensor, offsets: npt.NDArray[np.int64], access: Access, pid: int
    ) -> None:
        span = 1 + sum(
            ((n.constant or 0) - 1) * (s.constant or 0)
            for n, s in zip(tensor.shape, tensor.strides, strict=True)
        )
        if span > MOST_ELEMENTS:
            self.whole = False
            return
        counts = self.counts.setdefault(tensor.name, np.zeros(max(span, 1), np.int32))
        self.tensors[tensor.name] = tensor
        np.add.at(counts, offsets, 1)
        twice = offsets[counts[offsets] > 1]
        if len(twice):
            what = f"line {access.line}: the element was stored before"
            at = (("program", str(pid)), ("offset", str(int(twice[0]))))
            self._report(f"no element of {tensor.name} is stored twice", what, *at)

    def _missed(self) -> None:
        for name, counts in self.counts.items():
            elements = _elements(self.tensors[name], np.arange(len(counts), dtype=np.int64))
            lost = np.flatnonzero(elements & (counts == 0))
            if len(lost):
                at = ("offset", str(int(lost[0])))
                claim = f"every element of {name} is stored"
                self._report(claim, "no program stores the element", at)


def _elements(tensor: Tensor, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which offsets are those of elements; strides are nested, the outermost is the largest."""
    rest = offsets
    good = offsets >= 0
    for size, stride in zip(tensor.shape, tensor.strides, strict=True):
        at = rest // (stride.constant or 1)
        good = good & (at < (size.constant or 0))
        rest = rest - at * (stride.constant or 1)
    return np.asarray(good & (rest == 0))


def small_sizes(axes: tuple[str, ...], plan: PlanText) -> Iterator[dict[str, int]]:
    """Sizes to try, by axis: around the tiles of a plan."""
    tiles = {a: t for launch in plan.launches for a, t in launch.tiles}
    small = (2, 3, 5, 4, 6, 7)
    yield {a: tiles.get(a, small[i % 6]) + (a in tiles) for i, a in enumerate(axes)}
    yield {a: 2 * tiles[a] if a in tiles else small[i % 6] for i, a in enumerate(axes)}
    yield {a: max(tiles.get(a, 2) - 1, 1) for a in axes}
    yield {a: tiles.get(a, 1) * (1 + i % 3) + 1 for i, a in enumerate(axes)}
    yield {a: tiles.get(a, 1) * (3 - i % 3) + 2 for i, a in enumerate(axes)}
    yield dict.fromkeys(axes, 1)


def large_sizes(axes: tuple[str, ...], limit: int) -> Iterator[dict[str, int]]:
    """Sizes to try where 32 bits may be too few; ``limit``: what the launcher lets through."""
    for size in (2**8, 2**12, 2**16):
        yield dict.fromkeys(axes, min(size, limit - 1))
    for large in axes:
        yield {a: limit - 1 if a == large else 1 for a in axes}
