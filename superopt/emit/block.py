"""A block graph as the text of one ``@triton.jit`` function."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import nullcontext

from superopt.emit.dependent import ALONE
from superopt.emit.dependent import Neighbours
from superopt.emit.dialect import Dialect
from superopt.emit.expression import Expressions
from superopt.emit.kernel import Kernel
from superopt.emit.payload import Payloads
from superopt.emit.program import Frame
from superopt.emit.ranking import Lists
from superopt.emit.scalar import integer_unit
from superopt.emit.scalar import numeral
from superopt.emit.segments import Ranges
from superopt.emit.segments import Segment
from superopt.emit.value import Value
from superopt.emit.writer import Writer
from superopt.emit.writer import fill
from superopt.errors import NotEmittable
from superopt.ugraph.carry import Carry
from superopt.ugraph.lanes import lanes
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.masks import unmasked
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Best
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.recurrence import step
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.scans import running
from superopt.ugraph.unseen import joint
from superopt.ugraph.unseen import unseen
from superopt.ugraph.walk import topo


def print_block(
    block: BlockGraph,
    name: str,
    described: Collection[str] = (),
    neighbours: Neighbours = ALONE,
    dialect: Dialect = Dialect.TRITON,
) -> Kernel:
    """Prints one launch (one of ``split.launches``) as function ``name``.

    ``described``: tensors whose tiles come through descriptors. ``neighbours``: of the launch
    in its graph.

    Raises:
        NotEmittable: something in the graph has no text; the message says what.
    """
    return _Block(block, described, dialect).kernel(name, neighbours)


class _Block:
    def __init__(self, block: BlockGraph, described: Collection[str], dialect: Dialect) -> None:
        self.block = block
        self.frame = Frame(block, described, dialect)
        self.values = Expressions(self.frame, self._roots())
        self.ranges = Ranges(self.frame, self.values)
        self.lists, self.payloads = Lists(self.values), Payloads(self.values)
        self.origins: dict[str, list[str]] = {}  # of what is new in a list, by its carry

    def _roots(self, walk: Walk | None = None, running: Walk | None = None) -> list[Node]:
        """What is printed, with ``running`` in the place of ``walk``.

        The pieces of an update are printed one by one, so they are the roots, not the update.
        """
        roots: list[Node] = []
        for one in self.block.walks:
            roots += _walk_roots(running if running is not None and one is walk else one)
        return [*roots, *(s.value for s in self.block.stores)]

    def kernel(self, name: str, neighbours: Neighbours) -> Kernel:
        frame = self.frame
        neighbours.lines(frame.lines)
        frame.programs()
        for found in lanes(self.block):
            frame.narrow(found.axis, *self.ranges.lanes(found))
        self.values.unseen = unseen(self.block)
        for walk in self.block.walks:
            self._walk(walk)
        for store in self.block.stores:
            self._store(store, frame.lines)
        arguments = [t.pointer for t in frame.tensors]
        arguments += [f"{s}: tl.int64" for t in frame.tensors for _, s in t.strides]
        # What positions are divided by is known to the compiler.
        arguments += [f"{p}: tl.constexpr" if a in frame.host else p for a, p in frame.sizes]
        arguments += [s.parameter for s in frame.scalars]
        arguments += [f"{t.tile}: tl.constexpr" for t in frame.tiles]
        arguments += [f"{t.even}: tl.constexpr" for t in frame.tiles]
        arguments += ["GROUP: tl.constexpr"] if frame.grouped else []
        arguments += ["PRECISION: tl.constexpr"] if frame.precise else []
        arguments += [f"{c}: tl.constexpr" for c in neighbours.constants]
        head = Writer()
        head.line(fill(f"@triton.jit\ndef {name}", arguments, ":"))
        return Kernel(
            name,
            head.text() + frame.lines.text(),
            self.block,
            frame.tensors,
            frame.sizes,
            frame.scalars,
            frame.tiles,
            frame.precise,
            tuple(frame.helpers),
            bool(frame.grouped),
            neighbours,
        )

    # Walks.

    def _walk(self, walk: Walk) -> None:
        frame, values, axis = self.frame, self.values, walk.axis
        if walk.stores and (walk.start or walk.stop):
            raise NotEmittable(f"a walk of {axis!r} with limits has a store")
        nested = bool(frame.bodies)
        span = self.ranges.span(walk)
        states = {c.name: values.local(c.name) for c in walk.carries}
        dims = {c.name: frame.dims(c.over) for c in walk.carries}
        for carry in walk.carries:
            if carry.listed is not None:
                if carry.listed.taken:
                    nothing = self.payloads.nothing(listing(walk, carry))
                    frame.here.line(f"{states[carry.name]} = {nothing}")
                elif not carry.listed.at:
                    empty = self.lists.empty(listing(walk, carry))
                    frame.here.line(f"{states[carry.name]} = {empty}")
                continue
            text = self._begun(carry, dims[carry.name])
            frame.here.line(f"{states[carry.name]} = {text}")
        final = {c.name: Value(states[c.name], dims[c.name], c.state.kind) for c in walk.carries}
        first = values.local(f"{frame.stem(axis)}_first")
        segments = span.segments[::-1] if walk.reverse else span.segments
        for number, segment in enumerate(segments):
            if number:
                values.forget()
            self._loop(walk, segment, first, span.lanes, final)
        if walk.clear is not None and not nested:
            values.count(self._roots())
        for carry in walk.carries:
            if carry.listed is None:
                values.define(carry.state, final[carry.name])
            elif not carry.listed.at:
                self._finished(walk, carry, states)

    def _finished(self, walk: Walk, carry: Carry, states: dict[str, str]) -> None:
        """Ranks a list once its walk is over."""
        assert carry.listed is not None
        kept = states[carry.name]
        if carry.listed.taken:
            name = self.values.local(f"{carry.name}_best")
            node, of = listing(walk, carry), states[carry.listed.other]
            self.values.define(
                carry.state, self.payloads.ranked(node, kept, of, self.frame.here, name)
            )
            return
        names = (self.values.local(f"{carry.name}_value"), self.values.local(f"{carry.name}_place"))
        halves = self.lists.ranked(listing(walk, carry), kept, self.frame.here, names)
        for half, value in zip(carry.pair(walk.components), halves, strict=True):
            self.values.define(half.state, value)

    def _loop(
        self,
        walk: Walk,
        segment: Segment,
        first: str,
        lanes: tuple[str, str] | None,
        states: dict[str, Value],
    ) -> None:
        """Prints the loop over one segment of a walk."""
        frame, values = self.frame, self.values
        taken = unmasked(walk) if segment.clear else walk
        if walk.clear is not None and not frame.bodies:
            values.count(self._roots(walk, taken))
        frame.begin(walk.axis, first, segment.clear, 2 if segment.unless else 1)
        if lanes is not None and not segment.clear:
            frame.narrow(walk.axis, *lanes)
        values.enter(taken)
        outside = values.unseen
        values.unseen = joint(outside, unseen(self.block, taken))
        body = frame.here
        head = self._head(walk, segment, first, body)
        for inner in taken.inner:
            self._walk(inner)
        late: list[str] = []
        for carry in taken.carries:
            if carry.listed is None:
                old = states[carry.name]
                values.define(carry.old, Value(old.text, old.dims, carry.old.kind))
        for carry in taken.carries:
            old = states[carry.name]
            late += self._update(taken, carry, old.text, old.dims)
        for store in taken.stores:
            self._store(store, body)
        for line in late:
            body.line(line)
        frame.end()
        values.leave()
        values.unseen = outside
        lines = frame.here
        with lines.block(f"if not {segment.unless}:") if segment.unless else nullcontext():
            lines.line(head)
        lines.lines += body.lines

    def _head(self, walk: Walk, segment: Segment, first: str, body: Writer) -> str:
        """The line that begins a loop."""
        frame, values = self.frame, self.values
        begin, end, stem = segment.begin, segment.end, frame.stem(walk.axis)
        at = first if segment.jump is None else values.local(f"{stem}_from")
        if walk.axis not in frame.order:
            return f"for {at} in range({begin}, {end}):"
        tile = frame.tile(walk.axis)
        head = f"for {at} in range({begin}, {end}, {tile}):"
        if walk.reverse:
            count, step = frame.names.fresh(f"{stem}_count"), frame.names.fresh(f"{stem}_step")
            around = frame.at_depth(len(frame.bodies) - 1)
            length, offset = (end, "") if begin == "0" else (f"{end} - {begin}", f"{begin} + ")
            around.line(f"{count} = tl.cdiv({length}, {tile})")
            body.line(f"{at} = {offset}({count} - 1 - {step}) * {tile}")
            head = f"for {step} in range(0, {count}):"
        if segment.jump is not None:
            here, by = segment.jump
            body.line(f"{first} = tl.where({at} < {here}, {at}, {at} + {by})")
        return head

    def _update(self, walk: Walk, carry: Carry, state: str, dims: tuple[str, ...]) -> list[str]:
        """Prints the new value of a carry; returns what must wait for the end of the body."""
        values = self.values
        if carry.listed is not None:
            self._list(walk, carry, state)
            return []
        if carry.stepwise:
            return self._stepped(carry, state, dims)
        kept = values.value(carry.kept(walk.components))
        fold = Reduce(carry.fold, walk.axis, carry.term)
        new = values.product(fold, kept)
        if new is None:
            part = values.value(fold)
            both = [kept, part]
            text = FOLD_TEXT[carry.fold].format(
                kept.along(values.union(both)), part.along(values.union(both))
            )
            new = Value(text, values.union(both), fold.kind, closed=False)
        if new.dims != dims:
            raise NotEmittable(f"carry {carry.name!r} varies over {new.dims}, not over {dims}")
        body = self.frame.here
        if not self._old_is_read_later(walk, carry):
            body.line(f"{state} = {new.text}")
            values.define(carry.state, Value(state, dims, carry.state.kind))
            return []
        name = self.values.local(f"{carry.name}_new")
        body.line(f"{name} = {new.text}")
        values.define(carry.state, Value(name, dims, carry.state.kind))
        return [f"{state} = {name}"]

    def _begun(self, carry: Carry, dims: tuple[str, ...]) -> str:
        """A carry before the first tile, over ``dims``."""
        shape = self.values.shape(dims)
        first = carry.recurrence(last=False).first if carry.stepwise else ZERO
        if first is not ZERO:
            value = self.values.real(first)
            wide = f"{value.along(dims)} + tl.zeros({shape}, tl.float32)"
            return value.text if value.dims == dims and not value.is_literal else wide
        real = carry.state.kind is Kind.REAL
        unit = numeral(carry.fold.unit) if real else integer_unit(carry.fold)
        return f"tl.full({shape}, {unit}, {'tl.float32' if real else 'tl.int64'})"

    def _stepped(self, carry: Carry, state: str, dims: tuple[str, ...]) -> list[str]:
        """Prints one step of a recurrence, whose states are those of its carry from here on."""
        recurrence = carry.recurrence(last=False)
        new = self.values.stepped(recurrence)
        text = new.text
        if new.dims != dims:  # the old state is dropped, and what takes its place has fewer axes
            text = f"{new.along(dims)} + tl.zeros({self.values.shape(dims)}, tl.float32)"
        self.frame.here.line(f"{state} = {text}")
        for node in (recurrence, carry.state):
            self.values.define(node, Value(state, dims, Kind.REAL))
        return []

    def _list(self, walk: Walk, carry: Carry, state: str) -> None:
        """Prints what a tile adds to a list, or which payloads it adds to those of one."""
        assert carry.listed is not None
        node, lines = listing(walk, carry), self.frame.here
        if carry.listed.taken:
            origins = self.origins[carry.listed.other]
            self.payloads.follow(node, state, origins, lines, state)
        elif any(c.goes_with(carry) for c in walk.carries):
            more, self.origins[carry.name] = self.lists.traced(node, state, lines)
            lines.line(f"{state} = {more}")
        elif not carry.listed.at:
            lines.line(f"{state} = {self.lists.among(node, state, node.pairs, lines)}")

    def _old_is_read_later(self, walk: Walk, carry: Carry) -> bool:
        """Whether anything after the carry's own update reads its old value."""
        later = walk.carries[walk.carries.index(carry) + 1 :]
        roots = [c.term for c in later] + [c.kept(walk.components) for c in later]
        roots += [s.value for s in walk.stores]
        scans = running(walk)
        return any(n is carry.old or scans.get(n) is carry for n in topo(roots))

    # Stores.

    def _store(self, store: Store, lines: Writer) -> None:
        frame = self.frame
        tensor = frame.tensor(store.name, store.order, store.dtype, written=True)
        dims = frame.dims(store.order)
        value = self.values.value(store.value)
        if store.value.kind is Kind.REAL or tensor.dtype is None or tensor.dtype == "fp32":
            value = self.values.real(store.value)
        if lost := [d for d in value.dims if d not in dims]:
            raise NotEmittable(f"store {store.name!r} lacks axis {lost[0]!r} of its value")
        grid = [*(t.axis for t in self.block.order), *frame.host]
        if missing := [a for a in grid if a not in store.order]:
            raise NotEmittable(f"store {store.name!r} lacks the grid axis {missing[0]!r}")
        address = self.values.address(store.value, store.order, store.dtype, True, store.name)
        text = value.text if value.dims == dims else value.along(dims)
        mask = f", mask={inside}" if (inside := frame.mask(dims)) else ""
        lines.line(f"tl.store({address}, {text}{mask})")


def listing(walk: Walk, carry: Carry) -> Best:
    """What a tile adds to a list, or to what goes with one."""
    return carry.listing(walk.axis, walk.components)


def _walk_roots(walk: Walk) -> list[Node]:
    roots = [b.offset for b in walk.limits]
    for inner in walk.inner:
        roots += _walk_roots(inner)
    for carry in walk.carries:
        if carry.listed is not None:
            roots += [] if carry.listed.at else [carry.term]
            continue
        if carry.stepwise:
            recurrence = carry.recurrence(last=False)
            roots += [recurrence.first, step(recurrence, carry.old)]
            continue
        roots += [carry.kept(walk.components), Reduce(carry.fold, walk.axis, carry.term)]
    return roots + [s.value for s in walk.stores]


FOLD_TEXT = {
    Fn.ADD: "{0} + {1}",
    Fn.MUL: "{0} * {1}",
    Fn.MAX: "tl.maximum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)",
    Fn.MIN: "tl.minimum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)",
}
