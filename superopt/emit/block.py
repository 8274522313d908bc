"""A block graph as the text of one ``@triton.jit`` function."""

from __future__ import annotations

from collections.abc import Sequence

from superopt.emit.expression import Expressions
from superopt.emit.expression import integer_unit
from superopt.emit.kernel import Kernel
from superopt.emit.program import Frame
from superopt.emit.scalar import numeral
from superopt.emit.value import Value
from superopt.emit.writer import Writer
from superopt.emit.writer import fill
from superopt.errors import NotEmittable
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Carry
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.split import part_axis
from superopt.ugraph.walk import topo


def print_block(block: BlockGraph, name: str) -> Kernel:
    """Prints one launch (one of ``split.launches``) as function ``name``.

    Raises:
        NotEmittable: something in the graph has no text; the message says what.
    """
    return _Block(block).kernel(name)


class _Block:
    def __init__(self, block: BlockGraph) -> None:
        self.block = block
        self.frame = Frame(block)
        # The pieces of an update are printed one by one, so they are the roots, not the update.
        roots: list[Node] = []
        for walk in block.walks:
            roots += [b.offset for b in (*walk.start, *walk.stop)]
            for carry in walk.carries:
                roots += [carry.kept(walk.components), Reduce(carry.fold, walk.axis, carry.term)]
            roots += [s.value for s in walk.stores]
        self.values = Expressions(self.frame, [*roots, *(s.value for s in block.stores)])

    def kernel(self, name: str) -> Kernel:
        frame = self.frame
        frame.programs()
        for walk in self.block.walks:
            self._walk(walk)
        for store in self.block.stores:
            self._store(store, frame.lines)
        arguments = [t.pointer for t in frame.tensors]
        arguments += [f"{s}: tl.int64" for t in frame.tensors for _, s in t.strides]
        arguments += [p for _, p in frame.sizes]
        arguments += [s.parameter for s in frame.scalars]
        arguments += [f"{t.tile}: tl.constexpr" for t in frame.tiles]
        arguments += [f"{t.even}: tl.constexpr" for t in frame.tiles]
        arguments += ["PRECISION: tl.constexpr"] if frame.precise else []
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
        )

    # Walks.

    def _walk(self, walk: Walk) -> None:
        frame, values, axis = self.frame, self.values, walk.axis
        stem, tile = frame.stem(axis), frame.tile(axis)
        if walk.stores and (walk.start or walk.stop):
            raise NotEmittable(f"a walk of {axis!r} with limits has a store")
        begin, end = self._range(walk)
        low = self._low(walk)
        states = {c.name: frame.names.fresh(c.name) for c in walk.carries}
        dims = {c.name: tuple(a for a in frame.order if a in c.over) for c in walk.carries}
        for carry in walk.carries:
            real = carry.state.kind is Kind.REAL
            unit = numeral(carry.fold.unit) if real else integer_unit(carry.fold)
            kind = "tl.float32" if real else "tl.int64"
            full = f"{values.shape(dims[carry.name])}, {unit}, {kind}"
            frame.lines.line(f"{states[carry.name]} = tl.full({full})")
        first = frame.names.fresh(f"{stem}_first")
        frame.begin(axis, first)
        if low or any(not b.terms for b in walk.stop):
            # What every row masks has no lane: a weight of 0 would not hide NaN in padding.
            frame.narrow(low, end)
        values.enter(walk)
        body = frame.inner
        assert body is not None
        if walk.reverse:
            count, step = frame.names.fresh(f"{stem}_count"), frame.names.fresh(f"{stem}_step")
            frame.lines.line(f"{count} = tl.cdiv({end} - {begin}, {tile})")
            head = f"for {step} in range(0, {count}):"
            body.line(f"{first} = {begin} + ({count} - 1 - {step}) * {tile}")
        else:
            head = f"for {first} in range({begin}, {end}, {tile}):"
        late: list[str] = []
        for carry in walk.carries:
            values.define(carry.old, Value(states[carry.name], dims[carry.name], carry.old.kind))
        for carry in walk.carries:
            late += self._update(walk, carry, states[carry.name], dims[carry.name])
        for store in walk.stores:
            self._store(store, body)
        for line in late:
            body.line(line)
        frame.end()
        values.leave()
        frame.lines.line(head)
        frame.lines.lines += body.lines
        for carry in walk.carries:
            final = Value(states[carry.name], dims[carry.name], carry.state.kind)
            values.define(carry.state, final)

    def _update(self, walk: Walk, carry: Carry, state: str, dims: tuple[str, ...]) -> list[str]:
        """Prints the new value of a carry; returns what must wait for the end of the body."""
        values = self.values
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
        body = self.frame.inner
        assert body is not None
        if not self._old_is_read_later(walk, carry):
            body.line(f"{state} = {new.text}")
            values.define(carry.state, Value(state, dims, carry.state.kind))
            return []
        name = self.frame.names.fresh(f"{carry.name}_new")
        body.line(f"{name} = {new.text}")
        values.define(carry.state, Value(name, dims, carry.state.kind))
        return [f"{state} = {name}"]

    def _old_is_read_later(self, walk: Walk, carry: Carry) -> bool:
        """Whether anything after the carry's own update reads its old value."""
        later = walk.carries[walk.carries.index(carry) + 1 :]
        roots = [c.term for c in later] + [c.kept(walk.components) for c in later]
        roots += [s.value for s in walk.stores]
        return any(node is carry.old for node in topo(roots))

    def _range(self, walk: Walk) -> tuple[str, str]:
        """Prints the range of a walk: its first position, a multiple of the tile, and its end."""
        frame, axis = self.frame, walk.axis
        stem, tile, size = frame.stem(axis), frame.tile(axis), frame.size(axis)
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
            frame.lines.line(f"{end} = tl.minimum({begin} + {length}, {size})")
        if walk.start:
            aligned = f"{self._latest(walk.start)} // {tile} * {tile}"
            text = aligned if begin == "0" else f"tl.maximum({begin}, {aligned})"
            begin = frame.names.fresh(f"{stem}_start")
            frame.lines.line(f"{begin} = {text}")
        if walk.stop:
            text = end
            for bound in walk.stop:
                text = f"tl.minimum({text}, {self._limit(bound, largest=True)})"
            end = frame.names.fresh(f"{stem}_stop")
            frame.lines.line(f"{end} = {text}")
        return begin, end

    def _low(self, walk: Walk) -> str:
        """Prints the first position that some row does not mask, if all rows have the same."""
        fixed = [b for b in walk.start if not b.terms]
        if not fixed:
            return ""
        low = self.frame.names.fresh(f"{self.frame.stem(walk.axis)}_low")
        self.frame.lines.line(f"{low} = {self._latest(fixed)}")
        return low

    def _latest(self, starts: Sequence[Bound]) -> str:
        """The first position that is after all of ``starts``, and no less than 0."""
        text = "0"
        for bound in starts:
            text = f"tl.maximum({text}, {self._limit(bound, largest=False)})"
        return text

    def _limit(self, bound: Bound, largest: bool) -> str:
        """The widest value of a limit over the tile of this program."""
        terms = []
        for axis, coefficient in bound.terms:
            at = self._last(axis) if (coefficient > 0) == largest else self._first(axis)
            terms.append(at if coefficient == 1 else f"{coefficient} * {at}")
        offset = self.values.value(bound.offset)
        return " + ".join([*terms, offset.operand])

    def _first(self, axis: str) -> str:
        if axis not in self.frame.order:
            return self.frame.at(axis).text
        return self.frame.first(axis) or "0"

    def _last(self, axis: str) -> str:
        frame = self.frame
        match frame.places[axis]:
            case Grid(tiled=True):
                after = f"{frame.first(axis)} + {frame.tile(axis)}"
                return f"(tl.minimum({after}, {frame.size(axis)}) - 1)"
            case Grid():
                return frame.at(axis).text
            case Whole():
                return f"({frame.size(axis)} - 1)"
            case _:
                raise NotEmittable(f"a limit of a walk depends on the looped axis {axis!r}")

    # Stores.

    def _store(self, store: Store, lines: Writer) -> None:
        frame = self.frame
        tensor = frame.tensor(store.name, store.order, store.dtype, written=True)
        dims = tuple(a for a in frame.order if a in store.order)
        value = self.values.value(store.value)
        if store.value.kind is Kind.REAL or tensor.dtype is None or tensor.dtype == "fp32":
            value = self.values.real(store.value)
        if lost := [d for d in value.dims if d not in dims]:
            raise NotEmittable(f"store {store.name!r} lacks axis {lost[0]!r} of its value")
        if missing := [t.axis for t in self.block.order if t.axis not in store.order]:
            raise NotEmittable(f"store {store.name!r} lacks the grid axis {missing[0]!r}")
        address = self.values.address(store.value, store.order, store.dtype, True, store.name)
        text = value.text if value.dims == dims else value.along(dims)
        mask = f", mask={frame.mask(dims)}" if dims else ""
        lines.line(f"tl.store({address}, {text}{mask})")


FOLD_TEXT = {
    Fn.ADD: "{0} + {1}",
    Fn.MUL: "{0} * {1}",
    Fn.MAX: "tl.maximum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)",
    Fn.MIN: "tl.minimum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)",
}
