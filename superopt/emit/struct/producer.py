"""The producer: one warp that copies tiles into slots of pipes, in the order of the schedule."""

from __future__ import annotations

from contextlib import nullcontext

from superopt.emit.program import Body as Place
from superopt.emit.struct.frames import CONSUMERS
from superopt.emit.struct.frames import Role
from superopt.emit.struct.frames import Stretch
from superopt.emit.struct.frames import plus
from superopt.emit.struct.names import Shared
from superopt.emit.writer import Writer
from superopt.ugraph.node import Input
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Pipe

WHICH = "consumer"  # the variable of loops over consumers


class Producer:
    """Prints the producer into the lines of its role."""

    def __init__(self, role: Role, shared: Shared) -> None:
        self.role, self.shared = role, shared

    def once(self) -> None:
        """Prints the copies that are made once a tile of the grid."""
        shared, lines, waves = self.shared, self.role.lines, self.role.entry.waves
        for pipe in (p for p in shared.pipes if not p.walk):
            if waves is not None:
                parity = shared.turn(pipe, waves.wave, lines)
                empty = shared.empty(pipe, shared.kept(pipe))
                lines.line(f"mbarrier.wait({empty}, {of_empty(parity)})")
            self._fill(pipe, shared.kept(pipe), lines)

    def stretch(self, body: Body, stretch: Stretch) -> None:
        """Prints the copies of one stretch of a walk."""
        role, lines = self.role, Writer(1)
        pipes = {p.name: p for p in self.shared.pipes}
        loads = sorted(body.schedule.loads, key=lambda load: load[1].order)
        last = max((place.stage for _, place in loads), default=0)
        step = role.names.fresh("step")
        guard = lines.block(f"if not {stretch.unless}:") if stretch.unless else nullcontext()
        head = f"for {step} in range(0, {plus(stretch.count, str(last))}):"
        with guard, lines.block(head):
            if not last:
                self._fills(stretch, step, [pipes[name] for name, _ in loads], lines)
            for name, place in loads if last else ():
                stage = place.stage
                asked = [f"({step} >= {stage})"] if stage else []
                asked += [f"({step} < {plus(stretch.count, str(stage))})"] * (stage < last)
                with lines.block(f"if {' & '.join(asked)}:"):
                    iteration = f"{step} - {stage}" if stage else step
                    self._fills(stretch, iteration, [pipes[name]], lines)
        role.lines.lines += lines.lines

    def _fills(self, stretch: Stretch, iteration: str, pipes: list[Pipe], lines: Writer) -> None:
        """Prints the copies of one iteration into some pipes."""
        role, inner = self.role, Writer(lines.depth)
        role.stand(Place(stretch.walk.axis, inner, True), stretch, iteration)
        number = stretch.number(iteration)
        if not number.isidentifier() and any(p.capacity > 1 for p in pipes):
            counted = role.names.fresh(f"{role.stem(stretch.walk.axis)}_number")
            inner.line(f"{counted} = {number}")
            number = counted
        slots: dict[str, str] = {}
        for pipe in pipes:
            self._next(pipe, number, slots, inner)
        role.stand(None)
        lines.lines += inner.lines

    def _next(self, pipe: Pipe, number: str, slots: dict[str, str], lines: Writer) -> None:
        """Waits for the slot of the tile with this number, and fills it."""
        count = self.shared.capacity(pipe)
        slot, round_ = "0", f"({number})" if " " in number else number
        if pipe.capacity > 1:
            if count not in slots:
                slots[count] = self.role.names.fresh(f"{pipe.name}_slot")
                lines.line(f"{slots[count]} = {number} % {count}")
            slot, round_ = slots[count], f"({number} // {count})"
        lines.line(f"mbarrier.wait({self.shared.empty(pipe, slot)}, {of_empty(f'{round_} & 1')})")
        self._fill(pipe, slot, lines)

    def _fill(self, pipe: Pipe, slot: str, lines: Writer) -> None:
        shared = self.shared
        full = shared.full(pipe, slot)
        sizes = [self._bytes(t) for t in pipe.tensors]
        lines.line(f"mbarrier.expect({full}, {' + '.join(sizes)})")
        for tensor in pipe.tensors:
            described = shared.descriptor(tensor)
            if not shared.split(tensor.order):
                at = ", ".join(self.at(tensor.order))
                tile = shared.tile(tensor, slot, "0")
                lines.line(f"tma.async_copy_global_to_shared({described}, [{at}], {full}, {tile})")
                continue
            at = ", ".join(self.at(tensor.order))
            with lines.block(f"for {WHICH} in gl.static_range({CONSUMERS}):"):
                tile = shared.tile(tensor, slot, WHICH)
                lines.line(f"tma.async_copy_global_to_shared({described}, [{at}], {full}, {tile})")

    def _bytes(self, tensor: Input) -> str:
        text = f"{self.shared.descriptor(tensor)}.block_type.nbytes"
        return f"{CONSUMERS} * {text}" if self.shared.split(tensor.order) else text

    def at(self, order: tuple[str, ...]) -> list[str]:
        """Where a copy begins, along each axis."""
        return corner(self.role, order)


def of_empty(parity: str) -> str:
    """What a wait for a slot asks for, before the filling with this parity: the one before."""
    return f"({parity}) ^ 1"


def corner(role: Role, order: tuple[str, ...]) -> list[str]:
    """The first position of a tile of a tensor, along each axis."""
    tiled = role.dims(order)
    return [role.first(a) or "0" if a in tiled else role.at(a).text for a in order]
