"""A consumer: one warpgroup that multiplies, computes and stores the rows that it has, of every
tile or of those whose turn is its own."""

from __future__ import annotations

from dataclasses import dataclass

from superopt.emit.scalar import integer_unit
from superopt.emit.scalar import numeral
from superopt.emit.struct.frames import CONSUMERS
from superopt.emit.struct.frames import Role
from superopt.emit.struct.frames import Stretch
from superopt.emit.struct.frames import plus
from superopt.emit.struct.loops import TURN
from superopt.emit.struct.loops import Loop
from superopt.emit.struct.names import Shared
from superopt.emit.struct.names import part_of
from superopt.emit.struct.names import parts_of
from superopt.emit.struct.producer import corner
from superopt.emit.struct.values import Values
from superopt.emit.value import Value
from superopt.emit.writer import Writer
from superopt.errors import NotEmittable
from superopt.threads.body import Products
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.masks import without
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Kind
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import ThreadGraph
from superopt.ugraph.walk import topo

STORED = "tma.store_wait(pendings=0)"


@dataclass(frozen=True)
class Result:
    """A store that goes through shared memory."""

    store: Store
    described: str


class Consumer:
    """Prints the consumer into the lines of its role."""

    expressions: type[Values] = Values
    loops: type[Loop] = Loop

    def __init__(self, role: Role, graph: ThreadGraph, products: Products, shared: Shared) -> None:
        self.role, self.graph, self.shared, self.products = role, graph, shared, products
        (body,) = graph.bodies
        self.values = self.expressions(role, graph.by_tensor)
        self.loop = self.loops(role, self.values, body, products, shared)
        self.values.slot = self.loop.tile

    def arrive(self) -> None:
        """Prints the wait for what is copied once a tile of the grid."""
        shared, lines, waves = self.shared, self.role.lines, self.role.entry.waves
        if shared.walks and waves is not None:
            number = f"({waves.wave} // {CONSUMERS}) & 1"
            lines.line(f"mbarrier.wait({shared.walks}.index({self.role.which}), {number})")
        for pipe in (p for p in shared.pipes if not p.walk):
            parity = "0" if waves is None else shared.turn(pipe, waves.wave, lines)
            lines.line(f"mbarrier.wait({shared.full(pipe, shared.kept(pipe))}, {parity})")

    def leave(self, behind: bool) -> None:
        """Prints that what was copied once is read no more, if the program goes on to another tile.
        ``behind``: of what is read behind the walk, and else of all other."""
        if self.role.entry.waves is None:
            return
        read = {n for n in topo([s.value for s in self.graph.block.stores]) if isinstance(n, Input)}
        for pipe in (p for p in self.shared.pipes if not p.walk):
            if behind is not read.isdisjoint(pipe.tensors):
                self.shared.release(pipe, self.shared.kept(pipe), self.role.lines)

    def walk(self, walk: Walk, body: Body, stretches: list[Stretch]) -> None:
        """Prints a walk, loop by loop."""
        role = self.role
        for carry in walk.carries:
            name, dims = self.loop.names[body.by_carry[carry.name]], role.dims(carry.over)
            real = carry.state.kind is Kind.REAL
            unit = numeral(carry.fold.unit) if real else integer_unit(carry.fold)
            kind = "gl.float32" if real else "gl.int64"
            if not dims:
                role.lines.line(f"{name} = gl.cast({unit}, {kind})")
                continue
            shape, layout = self.values.shape(dims), role.layout(dims)
            role.lines.line(f"{name} = gl.full({shape}, {unit}, {kind}, layout={layout})")
        if self.shared.turns:
            (role.lines if role.entry.waves is None else role.before).line(f"{TURN} = 0")
        for stretch in stretches:
            clear = clear_values(walk, body) if stretch.clear or stretch.bound else {}
            self.loop.stretch(stretch, clear, bool(self.shared.walks) and stretch is stretches[-1])
        for carry in walk.carries:
            name, dims = self.loop.names[body.by_carry[carry.name]], role.dims(carry.over)
            self.values.define(carry.state, Value(name, dims, carry.state.kind))

    def store(self, store: Store, result: Result | None) -> None:
        """Prints a store, through shared memory where that is possible."""
        role, lines = self.role, self.role.lines
        value = self.values.value(store.value)
        if store.value.kind is Kind.REAL or store.dtype in (None, "fp32"):
            value = self.values.real(store.value)
        dims = role.dims(store.order)
        if lost := [d for d in value.dims if d not in dims]:
            raise NotEmittable(f"store {store.name!r} lacks axis {lost[0]!r} of its value")
        if result is not None and value.dims == dims:
            self._copied(result, value)
            return
        address = self.values.address(store.value, store.order, store.dtype, True, store.name)
        text = value.text if value.dims == dims else role.along(value, dims)
        mask = f", mask={inside}" if (inside := role.mask(dims)) else ""
        lines.line(f"gl.store({address}, {text}{mask})")

    def _copied(self, result: Result, value: Value) -> None:
        """Prints how a tile leaves through shared memory, as a whole or part by part."""
        role, lines, store = self.role, self.role.lines, result.store
        text = f"{value.operand}.to({result.described}.dtype)"
        buffer = self.shared.result(store.name, store.order)
        at = self.shared.place(store.order, role.which)
        tile = role.names.fresh(f"{store.name}_tile")
        lines.line(f"{tile} = {buffer}.index({at})")
        corners, shape = corner(role, store.order), [role.tile(d) for d in value.dims]
        parted = store.name in self.shared.parts
        if role.entry.waves is not None and not role.behind.lines:
            # The copy out of the tile before reads the buffer until then; so does the last one.
            if not parted:
                lines.line(STORED)
            role.behind.line(STORED)
        if not parted:
            self._left(result, tile, text, corners, shape, lines)
        else:
            columns, part = shape[-1], role.names.fresh("part")
            names = role.names.fresh(f"{store.name}_parts")
            count = self._halves(columns, names, text, shape)
            with lines.block(f"for {part} in gl.static_range({count}):"):
                lines.line(STORED)  # of the part before, which the copy engine reads
                shape[-1] = part_of(columns)
                corners[-1] = plus(corners[-1], f"{part} * ({shape[-1]})")
                self._left(result, tile, f"{names}[{part}]", corners, shape, lines)
        if role.entry.waves is None:
            lines.line(STORED)

    def _halves(self, columns: str, names: str, text: str, shape: list[str]) -> str:
        """Prints the parts of a tile in registers; how many there are. (Its columns lie with the
        halves in registers of their own, so nothing moves between threads.)"""
        role, lines = self.role, self.role.lines
        count = role.constant(f"{names.upper()}", parts_of(columns))
        whole = role.names.fresh(f"{names}_whole")
        lines.line(f"{whole} = {text}")
        with lines.block(f"if {count} == 1:"):
            lines.line(f"{names} = ({whole},)")
        with lines.block("else:"):
            wide = ", ".join([*shape[:-1], "2", f"{columns} // 2"])
            lines.line(f"{names} = gl.split({whole}.reshape([{wide}]).permute([0, 2, 1]))")
        return count

    def _left(
        self,
        result: Result,
        tile: str,
        text: str,
        corners: list[str],
        shape: list[str],
        lines: Writer,
    ) -> None:
        """Prints that ``text`` goes to ``tile`` in shared memory, and from there."""
        same = len(result.store.order) == len(shape)
        inner = tile if same else f"{tile}.reshape([{', '.join(shape)}])"
        lines.line(f"{inner}.store({text})")
        lines.line("fence_async_shared()")
        at = ", ".join(corners)
        lines.line(f"tma.async_copy_shared_to_global({result.described}, [{at}], {tile})")


def clear_values(walk: Walk, body: Body) -> dict[Node, Node]:
    """What the values of the instructions of ``body`` are on clear tiles of ``walk``."""
    conditions = walk.clear.conditions if walk.clear else ()
    new = without([i.value for i in body.instrs], conditions)
    found: dict[Node, Node] = {}
    for instr in body.instrs:
        node = new[instr.value]
        found[instr.value] = node if isinstance(node, Node) else instr.value
    return found
