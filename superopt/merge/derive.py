"""How finished results of parts of an axis are joined, derived from the repaired split of a spec.

A split kernel computes a state ``K`` for each part, folds the states by their combination ``C``
and finishes: ``f(C(K, K', ...))``. Where only the outputs ``f(K)``, ``f(K')`` of the parts are at
hand, a *section* (``recover.py``) gives a state for each, and the joined outputs are
``f(C(s(f(K)), s(f(K')), ...))``. That is algebra over the outputs of parts: a program like any
other, which can be searched, proved and printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace

from superopt.errors import NoFusion
from superopt.errors import NoRepair
from superopt.merge.invariants import invariants
from superopt.merge.recover import Section
from superopt.merge.recover import sections
from superopt.merge.tidy import along
from superopt.merge.tidy import tidy
from superopt.repair.apply import repair
from superopt.repair.guard import Point
from superopt.repair.guard import Regions
from superopt.repair.record import Repair
from superopt.repair.record import words
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.names import free_name
from superopt.ugraph.names import rename
from superopt.ugraph.node import ONE
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.order import by_order
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.ugraph.split import launches
from superopt.ugraph.split import part_axis
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo


@dataclass(frozen=True)
class Merging:
    """A way to join the finished results of parts of ``axis``.

    ``parts``: the kernel that computes them, one result for each position on ``part_axis(axis)``;
    ``joining``: the kernel that joins them. ``section``: what it takes for the parts' states.
    ``program``: the same algebra as a program, whose parameters are the results of the parts (in
    the order of the spec's outputs), then the number of positions of each part if that is needed,
    then what else the spec's outputs read. ``along``: the name of the axis of parts in it;
    ``length``: the name of that number.
    """

    axis: str
    parts: BlockGraph
    joining: BlockGraph
    section: Section
    program: Program
    along: str
    length: str


@dataclass(frozen=True)
class Splitting:
    """A spec in one kernel whose ``axis`` is split.

    ``block``: repaired; its stores have the length of a part where the spec has that of the
    axis. ``count``: the carry that counts the positions of a part, if some output reads that.
    ``told``: carries whose states are known beside the outputs.
    """

    program: Program
    axis: str
    block: BlockGraph
    repairs: tuple[Repair, ...]
    count: Carry | None
    told: tuple[str, ...] = ()

    @property
    def carries(self) -> tuple[Carry, ...]:
        """What a part keeps."""
        return self.block.walks[0].carries

    @property
    def part(self) -> str:
        """The axis of parts."""
        return part_axis(self.axis)

    def results(self) -> tuple[Store, ...]:
        """The outputs of every part, then the states that are told."""
        by = {c.name: c for c in self.carries}
        return (
            *(
                Store(
                    self._free(s.name.replace("out", "part")),
                    (self.part, *s.order),
                    s.dtype,
                    s.value,
                )
                for s in self.block.stores
            ),
            *(
                Store(self._free(name), (self.part, *by[name].over), "fp32", by[name].state)
                for name in self.told
            ),
        )

    def length(self) -> Input:
        """The number of positions of every part."""
        return Input(self._free(f"{self.axis}_count"), (self.part,), "int32")

    def _positions(self) -> Node:
        """The same, so that no root of a negative number is taken whatever a caller passes."""
        return Map(Fn.MAX, (self.length(), ZERO))

    def _free(self, name: str) -> str:
        taken = {p.name for p in self.program.params} | {s.name for s in self.program.outputs}
        return free_name(name, taken)

    def mergings(self) -> Iterator[Merging]:
        """The ways to join results that are worth judging, the likeliest first."""
        return map(self._merging, self._sections())

    def _sections(self) -> Iterator[Section]:
        """States for the results, guarded at the points of the producers."""
        regions = Regions(self.carries)
        equations: list[tuple[Node, Node]] = [(r.value, r.as_input()) for r in self.results()]
        equations += invariants(self.program, self._launches()[0], self.carries)
        given: dict[State, Node] = {self.count.state: self._positions()} if self.count else {}
        for section in sections(self.carries, equations, given, regions.regular):
            values = {c.state: self._guarded(c, section.values, regions) for c in self.carries}
            yield replace(section, values=values)

    def _guarded(self, carry: Carry, values: Mapping[State, Node], regions: Regions) -> Node:
        """The state of a section, or the only one that there is while a producer is at a point."""
        value = values[carry.state]
        for point in reversed(regions.points):
            at = values[point.producer.state]
            there = self._at(carry, point, regions)
            if point.producer is not carry and there is not None and not isinstance(at, Const):
                here = Map(Fn.EQ, (at, Const(point.value)))
                value = Map(Fn.WHERE, (here, Const(there), value))
        return tidy(value)

    def _at(self, carry: Carry, point: Point, regions: Regions) -> Number | None:
        """What ``carry`` is in a part without positions (of which outputs may have no value), or
        at a point from which it moves."""
        moves = topo([m.factor for m in carry.moves])
        if point.producer is not self.count and point.producer.old not in moves:
            return None
        guards = {g.condition for r in self.repairs for g in r.guards if g.component == carry.name}
        known = regions.at_point(point, False, True).get(carry.state)
        if known is not None and known.point is not None:
            return known.point
        guarded = point.condition([carry.term], old=True) in guards
        return carry.fold.unit if point.empty or guarded else None

    def _launches(self) -> tuple[BlockGraph, BlockGraph]:
        """The kernel that stores the states of parts, and the one that joins them."""
        outputs = tuple(s.name for s in self.program.outputs)
        graph = KernelGraph(self.program.name, self.program.params, outputs, (self.block,))
        parts, joining = launches(graph)
        return parts, joining

    def _merging(self, section: Section) -> Merging:
        """Parts are joined as their states of ``section`` would be."""
        parts, joining = self._launches()
        by: dict[Node, Node] = {
            kept.as_input(): along(section.values[c.state], kept.order)
            for kept, c in zip(parts.stores, self.carries, strict=True)
        }
        total: dict[Node, Node] = {Size(self.axis): Reduce(Fn.ADD, self.part, self._positions())}
        stores = tuple(
            replace(s, value=tidy(substitute(s.value, {**by, **total}))) for s in joining.stores
        )
        results, length = self.results(), self.length()
        if self.count is not None:
            results += (Store(length.name, length.order, length.dtype, self.count.state),)
        read = set(topo(s.value for s in stores))
        params = (*(r.as_input() for r in results), *self.program.params)
        used = tuple(p for p in params if p in read)
        taken = {a for n in read for a in n.axes} | {p.name for p in used}
        name = "p" if "p" not in taken else free_name(f"{self.axis}_part", taken)
        merged = Program(f"merge_{self.program.name}", used, stores)
        return Merging(
            self.axis,
            replace(parts, stores=results),
            replace(joining, stores=stores),
            section,
            rename(merged, {self.part: name}, {}),
            name,
            length.name,
        )


def splitting(program: Program, axis: str) -> Splitting:
    """``program`` with ``axis`` split in one kernel.

    Raises:
        NoRepair: there is none, or what a position adds depends on the length of the axis; the
            message names the term.
    """
    block, repairs = _split(program, axis)
    (walk,) = block.walks
    if any(isinstance(n, Best) for n in topo(s.value for s in program.outputs)):
        raise NoRepair("an output reads a list of the best, which no term takes apart")
    for carry in walk.carries:
        if Size(axis) in topo([carry.term]):
            raise NoRepair(f"{words(carry.term)} depends on the length of the whole axis")
    if not any(Size(axis) in topo([n]) for n in _behind(block)):
        return Splitting(program, axis, block, repairs, None)
    term = Map(Fn.WHERE, (Map(Fn.LE, (ZERO, Index(axis))), ONE, ZERO))
    counts = [c for c in walk.carries if c.fold is Fn.ADD and c.term is term and not c.moves]
    if not counts:
        counts = [Carry("count", (), Fn.ADD, term)]
        walk = replace(walk, carries=(*walk.carries, *counts))
    length: dict[Node, Node] = {Size(axis): counts[0].state}
    stores = tuple(replace(s, value=substitute(s.value, length)) for s in block.stores)
    block = replace(block, walks=(walk,), stores=stores)
    return Splitting(program, axis, block, repairs, counts[0])


def _behind(block: BlockGraph) -> list[Node]:
    """What parts are moved by and what is done with them at the end."""
    moves = [m.factor for w in block.walks for c in w.carries for m in c.moves]
    return [*moves, *(s.value for s in block.stores)]


def _split(program: Program, axis: str) -> tuple[BlockGraph, tuple[Repair, ...]]:
    """All folds over ``axis`` in one walk, which is split; other folded axes are whole."""
    program = by_order(program)
    nodes = topo(s.value for s in program.outputs)
    folded = {n.axis for n in nodes if isinstance(n, Reduce | Scan | Best | Recur)}
    whole = folded | {a for a, _ in program.fixed}
    if axis not in folded:
        raise NoRepair(f"nothing is folded over {axis!r}")
    if kept := [s.name for s in program.outputs if axis in s.order]:
        raise NoRepair(f"{kept[0]} has a value at every position of {axis!r}, so it is not joined")
    axes = dict.fromkeys(a for n in nodes for a in n.axes)
    places: tuple[tuple[str, Place], ...] = tuple(
        (a, Split() if a == axis else Whole() if a in whole else Grid()) for a in axes
    )
    order = tuple(Turn(a) for a, place in places if isinstance(place, Grid))
    try:
        return repair(fuse(program.outputs, places, order, groupings(program.outputs, [axis])[0]))
    except NoFusion as error:
        raise NoRepair(str(error)) from error
