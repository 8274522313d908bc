"""The loop of a walk in a consumer: passes of the software pipeline, in the order of a schedule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from superopt.emit.program import Body as Place
from superopt.emit.struct.frames import CONSUMERS
from superopt.emit.struct.frames import Role
from superopt.emit.struct.frames import Stretch
from superopt.emit.struct.names import Shared
from superopt.emit.struct.values import Values
from superopt.emit.value import Value
from superopt.emit.writer import INDENT
from superopt.emit.writer import Writer
from superopt.threads.body import Products
from superopt.threads.default import in_turn
from superopt.threads.flight import Event
from superopt.threads.flight import Pass
from superopt.threads.flight import age
from superopt.threads.flight import chained
from superopt.threads.flight import events
from superopt.threads.flight import issuing
from superopt.threads.flight import kept
from superopt.threads.flight import last_taken
from superopt.threads.flight import outstanding
from superopt.threads.flight import passes
from superopt.threads.flight import reading
from superopt.threads.flight import ready
from superopt.ugraph.contraction import MatrixProduct
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import Use
from superopt.ugraph.threads import operands_of

TURN = "turn"  # the variable that counts the turns of a consumer


@dataclass
class _Iteration:
    """One iteration within one pass: its number in the stretch and in the walk, as text, what is
    known of its tile, and the variables of its slots by capacity."""

    text: str
    number: str
    place: Place
    slots: dict[str, str] = field(default_factory=dict)


class Loop:
    """Prints the loops of one body into the lines of a consumer. ``names``: the variables of its
    instructions, if they have some already."""

    def __init__(
        self,
        role: Role,
        values: Values,
        body: Body,
        products: Products,
        shared: Shared,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.role, self.values, self.body = role, values, body
        self.products, self.shared = products, shared
        self.events, self.kept = events(body), kept(body)
        self.outstanding = outstanding(body)
        moving = [p for p in shared.pipes if p.walk == body.axis]
        self.pipes, self.reading = {p.name: p for p in moving}, reading(body, moving)
        self.names = names or {i.name: role.names.fresh(i.name) for i in body.instrs}
        self.defined: Counter[str] = Counter()  # values that each instruction has given so far
        self.iterations: dict[int, _Iteration] = {}
        self.now: _Iteration | None = None
        self.lines = Writer()
        self.through, self.passes_on = last_taken(body, moving), False
        self.without: Mapping[Node, Node] = {}  # values of instructions where masks hide nothing
        self.clear: Mapping[Node, Node] = {}  # the same, on clear tiles

    def stretch(
        self, stretch: Stretch, clear: Mapping[Node, Node], passes_on: bool = False
    ) -> None:
        """Prints one stretch of the walk. ``clear``: what the values of instructions are there.
        ``passes_on``: it is the last one, behind which the next consumer's walk may begin; that is
        said once on every way through it, however few iterations there are."""
        stages, lines = self.body.schedule.stages, Writer(1)
        self.passes_on = passes_on
        with lines.block(f"if not {stretch.unless}:") if stretch.unless else nullcontext():
            if stages == 1:
                self._passes(stretch, clear, lines)
            else:
                with lines.block(f"if {stretch.count} >= {stages - 1}:"):
                    self._passes(stretch, clear, lines)
            if stages > 2:  # too few iterations to fill the pipeline, if there are any
                with lines.block("else:"):
                    self._in_turn()._passes(stretch, clear, lines)
            elif stages > 1 and passes_on:
                with lines.block("else:"):
                    self._pass_on(lines)
        if stretch.unless and passes_on:
            with lines.block("else:"):
                self._pass_on(lines)
        self.now = None
        self.role.stand(None)
        self.values.anew(None)
        self.role.lines.lines += lines.lines

    def _in_turn(self) -> Loop:
        """The same body without any overlap."""
        schedule = in_turn(self.body.axis, self.body.instrs, self.shared.pipes)
        body = replace(self.body, schedule=schedule)
        new = type(self)(self.role, self.values, body, self.products, self.shared, self.names)
        new.passes_on = self.passes_on
        return new

    def _passes(self, stretch: Stretch, clear: Mapping[Node, Node], lines: Writer) -> None:
        self.values.slot, self.without = self.tile, clear
        self.clear = {} if stretch.bound else clear
        self.defined = Counter(i.name for i in self.body.instrs if i.carry)
        stages = self.body.schedule.stages
        for one in passes(stages):
            if one.kind != "loop":
                self._pass(stretch, one, "", lines)
                continue
            step = self.role.names.fresh("step")
            with lines.block(f"for {step} in range({stages - 1}, {stretch.count}):"):
                self._pass(stretch, one, step, lines)
            if self.passes_on and self.through[0] == "loop":
                self._pass_on(lines)

    def _pass(self, stretch: Stretch, one: Pass, step: str, lines: Writer) -> None:
        self.lines, self.iterations = lines, {}
        issues = issuing(self.body, (e for e in self.events if e.place.stage in one.stages))
        done = 0  # up to which event all is printed
        for at, event in enumerate(self.events):
            if at < done:
                continue
            if stretch.bound and (run := self._run(at, one)):
                self._either(stretch, one, step, run)
                done = at + len(run)
                continue
            instr, active = self.body.by_name[event.name], event.place.stage in one.stages
            if active:
                self._stand(stretch, one.iteration(event.place.stage, step, stretch.count), event)
                self._acquire(event)
            if not event.wait or not chained(self.body, instr):
                self._shift(instr, event, one)
            if event.wait:
                self._await(instr, self.outstanding.get((one.kind, one.number, at)), one)
            elif active and instr.op is Op.PRODUCT:
                self._turn(event, issues, instr)
            elif active:
                self._compute(instr, stretch)
            if active:
                self._release(event)
            if self.passes_on and self.through == (one.kind, one.number, at) and not step:
                self._pass_on(lines)

    def _run(self, at: int, one: Pass) -> list[Event]:
        """The events from number ``at`` on that only compute, for one iteration."""
        found: list[Event] = []
        ends = {event for pair in self.reading.values() for event in pair}
        for event in self.events[at:]:
            computes = not event.wait and self.body.by_name[event.name].op is not Op.PRODUCT
            same = not found or event.place.stage == found[0].place.stage
            if not computes or event in ends or not same or event.place.stage not in one.stages:
                break
            found.append(event)
        return found

    def _either(self, stretch: Stretch, one: Pass, step: str, run: list[Event]) -> None:
        """Prints events twice, for clear tiles and for others, if that makes a difference."""
        lines = self.lines
        self._stand(stretch, one.iteration(run[0].place.stage, step, stretch.count), run[0])
        now, defined, texts = self.now, self.defined, []
        assert now is not None
        for is_clear in (True, False):
            self.lines = Writer(lines.depth)
            place = Place(self.body.axis, self.lines, is_clear)
            self.now, self.defined = replace(now, place=place), Counter(defined)
            self.clear = self.without if is_clear else {}
            for event in run:
                self.role.stand(place, stretch, now.text)
                self.values.anew(stretch.walk)
                self._shift(self.body.by_name[event.name], event, one)
                self._compute(self.body.by_name[event.name], stretch)
            texts.append(self.lines.lines)
        self.lines, self.clear, self.now = lines, {}, now
        if texts[0] == texts[1]:
            lines.lines += texts[0]
            return
        for head, text in zip((f"if {stretch.is_clear(now.text)}:", "else:"), texts, strict=True):
            with lines.block(head):
                lines.lines += [INDENT + line for line in text]

    def _stand(self, stretch: Stretch, text: str, event: Event) -> None:
        """Goes to the iteration that ``event`` belongs to."""
        stage = event.place.stage
        if stage not in self.iterations:
            place = Place(self.body.axis, self.lines, stretch.clear)
            self.iterations[stage] = _Iteration(text, stretch.number(text), place)
        self.now = self.iterations[stage]
        self.role.stand(self.now.place, stretch, text)
        self.values.anew(stretch.walk)

    def _turn(self, event: Event, issues: list[Event], instr: Instr) -> None:
        """Issues a product. All those of a step are issued in one turn, if there are turns."""
        turns, which = self.shared.turns, self.role.which
        if turns and event == issues[0]:
            self.lines.line(f"mbarrier.wait({turns}.index({which}), {TURN} & 1)")
        self._issue(instr)
        if turns and event == issues[-1]:
            self.lines.line(f"mbarrier.arrive({turns}.index(({which} + 1) % {CONSUMERS}))")
            self.lines.line(f"{TURN} += 1")

    def _pass_on(self, lines: Writer) -> None:
        """Prints that the walk of the next consumer may begin. It must not earlier: a barrier tells
        only two fillings of a slot apart, the last one and the one before."""
        next_ = f"({self.role.which} + 1) % {CONSUMERS}"
        lines.line(f"mbarrier.arrive({self.shared.walks}.index({next_}))")

    # Pipes.

    def _acquire(self, event: Event) -> None:
        """Waits for the tiles that ``event`` is the first to read."""
        for name, (first, _) in self.reading.items():
            if first == event:
                pipe = self.pipes[name]
                slot, round_ = self._slot(pipe), self._counted()
                if pipe.capacity > 1 and round_ != "0":
                    round_ = f"({round_} // {self.shared.capacity(pipe)})"
                phase = round_ if round_ == "0" else f"{round_} & 1"
                self.lines.line(f"mbarrier.wait({self.shared.full(pipe, slot)}, {phase})")

    def _release(self, event: Event) -> None:
        """Gives back the slots that ``event`` was the last to read."""
        for name, (_, last) in self.reading.items():
            if last == event:
                pipe = self.pipes[name]
                self.shared.release(pipe, self._slot(pipe), self.lines)

    def _counted(self) -> str:
        """A variable (or numeral) with the number of the iteration in hand, in its walk."""
        assert self.now is not None
        if not self.now.number.isalnum() and not self.now.number.isidentifier():
            name = self.role.names.fresh(f"{self.role.stem(self.body.axis)}_number")
            self.lines.line(f"{name} = {self.now.number}")
            self.now.number = name
        return self.now.number

    def _slot(self, pipe: Pipe) -> str:
        """The slot of ``pipe`` that the iteration in hand has."""
        assert self.now is not None
        count = self.shared.capacity(pipe)
        number = self._counted() if pipe.capacity > 1 else "0"
        if number != "0" and count not in self.now.slots:
            name = self.role.names.fresh(f"{pipe.name}_slot")
            self.lines.line(f"{name} = {number} % {count}")
            self.now.slots[count] = name
        return self.now.slots.get(count, "0")

    def tile(self, tensor: Input) -> str:
        """The tile of ``tensor`` in shared memory that the iteration in hand reads."""
        pipe = self.shared.by_tensor[tensor]
        slot = self._slot(pipe) if pipe.walk else self.shared.kept(pipe)
        return self.shared.tile(tensor, slot, self.role.which)

    # Instructions.

    def _name(self, instr: Instr, old: int) -> str:
        """The variable that holds the value of ``instr``, or one that is so many values older."""
        name = self.names[instr.name]
        return f"{name}_old{old if old > 1 else ''}" if old else name

    def _read(self, reader: Instr, use: Use) -> str:
        """What a result is called where ``reader`` reads it."""
        return self._name(self.body.by_name[use.name], max(age(self.body, reader, use), 0))

    def _shift(self, instr: Instr, event: Event, one: Pass) -> None:
        """Keeps older values that are still read, before a new one would come."""
        if event.place != ready(self.body, instr):
            return
        if one.kind == "last" and not set(self._readers(instr)) & set(one.stages):
            return
        # In the loop, as many have been given as are kept: there is an iteration for each stage.
        there = self.kept[instr.name] if one.kind != "first" else self.defined[instr.name]
        for old in range(min(self.kept[instr.name], there), 0, -1):
            self.lines.line(f"{self._name(instr, old)} = {self._name(instr, old - 1)}")

    def _readers(self, instr: Instr) -> list[int]:
        """The stages of what reads ``instr``."""
        places = self.body.schedule.place
        return [
            places[i.name].stage
            for i in self.body.instrs
            if any(u.name == instr.name for u in self.body.uses(i))
        ]

    def _compute(self, instr: Instr, stretch: Stretch) -> None:
        """An expression in registers."""
        self._tell(instr, stretch)
        node = self.clear.get(instr.value, instr.value)
        self.values.count([node])
        text = self._left(instr, node) if instr.op is Op.OPERAND else self.values.text(node)
        self.lines.line(f"{self.names[instr.name]} = {text}")
        self.defined[instr.name] += 1

    def _tell(self, instr: Instr, stretch: Stretch) -> None:
        """Says what the results that ``instr`` reads are called."""
        carries = stretch.walk.components
        for use in self.body.uses(instr):
            source = self.body.by_name[use.name]
            known = Value(
                self._read(instr, use), self.products.dims(source.value), source.value.kind
            )
            if use.back:
                self.values.define(carries[source.carry].old, known)
                continue
            self.values.define(self.clear.get(source.value, source.value), known)
            if source.carry:
                self.values.define(carries[source.carry].state, known)

    def _left(self, instr: Instr, node: Node) -> str:
        """A left operand that is computed in the walk."""
        for user in self.body.instrs:
            if user.op is Op.PRODUCT and operands_of(user)[0] is instr.value:
                product = self._product(user)
                assert isinstance(user.value, Reduce)
                return self.values.left(replace(product, left=node), user.value.axis)
        raise AssertionError(f"no product takes {instr.name!r}")

    def _product(self, instr: Instr) -> MatrixProduct:
        product = self.products.of(instr.value)
        assert product is not None
        return product

    def _issue(self, instr: Instr) -> None:
        """Begins a product; its result is in flight until it is awaited."""
        product = self._product(instr)
        assert isinstance(instr.value, Reduce)
        axis, dims = instr.value.axis, (product.row, product.column)
        onto, also = self._onto(instr, dims)
        left = product.left
        if isinstance(left, Input):
            first = self.values.shared(left, (product.row, axis))
        elif left in self.body.operands:
            first = self._read(instr, Use(self.body.operands[left]))
        else:
            first = self.values.outside(
                ("operand", left), self.values.left(product, axis), "operand"
            )
        assert isinstance(product.right, Input)
        second = self.values.shared(product.right, (axis, product.column))
        self.lines.line(
            f"{self._flight(instr)} = warpgroup_mma({first}, {second}, {onto}{also}, is_async=True)"
        )

    def _onto(self, instr: Instr, dims: tuple[str, str]) -> tuple[str, str]:
        """What a product adds to, and further arguments that say so."""
        if instr.onto is not None:
            return self._read(instr, instr.onto), ""
        layout = self.role.layout(dims)
        text = f"gl.full({self.values.shape(dims)}, 0.0, gl.float32, layout={layout})"
        return self.values.outside(("zeros", dims), text, "zeros"), ", use_acc=False"

    def _flight(self, instr: Instr) -> str:
        """The variable of a result in flight; a chain of products is one result all along."""
        name = self.names[instr.name]
        return name if chained(self.body, instr) else f"{name}_flight"

    def _await(self, instr: Instr, allowed: int | None, one: Pass) -> None:
        """Waits for a product. ``allowed``: how many later ones may be in flight; None: it is not
        awaited in this pass."""
        schedule = self.body.schedule
        stage = schedule.place[instr.name].stage
        if allowed is None and chained(self.body, instr) and stage in one.stages:
            # A loop keeps one type for the result, so what is in flight has to be a tile again.
            allowed = schedule.stages * len(schedule.waits)
        if allowed is not None:
            self.lines.line(f"{self.names[instr.name]} = {self._landed(instr, allowed)}")
            self.defined[instr.name] += 1

    def _landed(self, instr: Instr, allowed: int) -> str:
        """The result of a product, once no more than ``allowed`` are under way."""
        return f"warpgroup_mma_wait(num_outstanding={allowed}, deps=[{self._flight(instr)}])"
